"""FX's spelling of `symtrace.partition.tags`, and access to attributes by dotted paths."""

from __future__ import annotations

from typing import Any

from torch import nn

from ..partition.tags import Component, split_by_tags

__all__ = ["Component", "getattr_recursive", "setattr_recursive", "split_by_tags"]


def getattr_recursive(obj: Any, name: str) -> Any:
    """Return the attribute at a dotted path.

    Args:
        obj: Where the path starts.
        name: The path.

    Returns:
        What is there; None if something on the way is missing.
    """
    for atom in name.split("."):
        if not hasattr(obj, atom):
            return None
        obj = getattr(obj, atom)
    return obj


def setattr_recursive(obj: Any, attr: str, value: Any) -> None:
    """Set the attribute at a dotted path, making empty modules on the way.

    Args:
        obj: Where the path starts.
        attr: The path.
        value: What to put there.
    """
    *parents, last = attr.split(".")
    for atom in parents:
        if not hasattr(obj, atom):
            setattr(obj, atom, nn.Module())
        obj = getattr(obj, atom)
    setattr(obj, last, value)
