"""Lists, dicts and sets that a program assigns to an attribute of a module, and goes on filling."""

from __future__ import annotations

import collections
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from ..ir import Node
from .proxy import Proxy

__all__ = ["Assigned", "AssignedContainers"]

_SINGLE = (torch.Tensor, Proxy, str, bytes, int, float, bool, type(None))


@dataclass
class Assigned:
    """An assignment to an attribute.

    Attributes:
        module: Whose attribute.
        name: Its name.
        value: The container.
        depth: How many regions were being recorded.
        write: The node that assigns.
        content: What was in it then.
    """

    module: nn.Module
    name: str
    value: Any
    depth: int
    write: Node
    content: Any


class AssignedContainers:
    """Remembers what was in a container when it was assigned: that alone is what the assignment records."""

    def __init__(self) -> None:
        self._entries: dict[tuple[int, str], Assigned] = {}

    def note(self, module: nn.Module, name: str, value: Any, depth: int, write: Node) -> None:
        """Remember an assignment.

        Args:
            module: Whose attribute is assigned.
            name: Name of the attribute.
            value: What it becomes.
            depth: How many regions are being recorded.
            write: The node that assigns.
        """
        self._entries.pop((id(module), name), None)
        if not issubclass(type(value), _SINGLE):
            self._entries[id(module), name] = Assigned(module, name, value, depth, write, _content(value))

    def entries(self) -> list[Assigned]:
        """Return the last assignment of each attribute, the oldest first."""
        return list(self._entries.values())

    def changed(self, depth: int) -> list[tuple[nn.Module, str, Any]]:
        """Return what has other content than when it was assigned at this depth, or deeper, and still has."""
        found = []
        for entry in self._entries.values():
            if entry.depth >= depth and not _is_same(_content(entry.value), entry.content):
                found.append((entry.module, entry.name, entry.value))
        return found

    def is_deeper(self, module: nn.Module, name: str, depth: int) -> bool:
        """Tell whether an attribute was assigned in a region that is recorded already."""
        return self._entries[id(module), name].depth > depth


def _content(value: Any) -> Any:
    """Return what is in a container, with what is in the containers in it."""
    cls = type(value)
    if issubclass(cls, dict):
        return cls, [(key, _content(item)) for key, item in dict.items(value)]
    if issubclass(cls, list | tuple | collections.deque):
        return cls, [(None, _content(item)) for item in value]
    if issubclass(cls, set):
        return cls, [(None, item) for item in value]
    return value


def _is_same(one: Any, two: Any) -> bool:
    if not (type(one) is type(two) is tuple):
        return one is two
    return (
        one[0] is two[0]
        and len(one[1]) == len(two[1])
        and all(a[0] is b[0] and _is_same(a[1], b[1]) for a, b in zip(one[1], two[1], strict=True))
    )
