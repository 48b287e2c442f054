"""Metadata of nodes that take the place of others."""

from __future__ import annotations

from collections.abc import Iterable

from ..ir import Node, Origin

__all__ = ["inherit"]

_OF_VALUE = frozenset({"val", "tensor_meta", "type", "example_value", "unbacked_bindings"})
"""Metadata that describes the value of a node, and does not hold for another on the way to it."""


def inherit(new: Iterable[Node], replaced: Iterable[tuple[Node, Node]], source: Node, step: str) -> None:
    """Give new nodes the metadata of those that they take the place of.

    Args:
        new: All new nodes; they get what `source` says of its origin.
        replaced: Pairs of an old node and the new one that has its value; the new one gets all of its
            metadata.
        source: A node that is replaced.
        step: Name of the pass, for the history.
    """
    for old, node in replaced:
        for key, value in old.meta.items():
            node.meta.setdefault(key, value)
        if node.type is None and old.type is not None:
            node.type = old.type
        node.origin = _derived(old, step)
    for node in new:
        for key, value in source.meta.items():
            if key not in _OF_VALUE:
                node.meta.setdefault(key, value)
        if node.origin is None or step not in node.origin.history:
            node.origin = _derived(source, step)


def _derived(node: Node, step: str) -> Origin:
    origin = node.origin or Origin()
    return origin._replace(history=(*origin.history, step))
