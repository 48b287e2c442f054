"""Goes through syntax trees, copies and transforms them, without the names and operators that `ast` stops at."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ..hooks import original_isinstance

__all__ = ["Transformer", "children", "copied", "parts_of", "walk", "with_locations"]

_NO_TREES = frozenset({
    "arg", "asname", "attr", "conversion", "ctx", "id", "is_async", "kind", "kwd_attrs", "level", "lineno", "module",
    "names", "op", "ops", "rest", "simple", "str", "type_comment", "type_ignores",
})  # fmt: skip
"""Fields that hold names, settings and operators, nothing with a place in the text."""

_parts: dict[type, tuple[str, ...]] = {
    ast.Constant: (),
    ast.MatchSingleton: (),
}


def parts_of(cls: type[Any]) -> tuple[str, ...]:
    """Return the fields of a class of nodes that hold other nodes."""
    found = _parts.get(cls)
    if found is None:
        is_named = cls.__name__ != "TypeAlias"  # whose name is a node
        found = _parts[cls] = tuple([
            field for field in cls._fields if field not in _NO_TREES and not (field == "name" and is_named)
        ])  # fmt: skip
    return found


def children(node: Any) -> list[Any]:
    """Return the nodes right below one, without contexts and operators."""
    found: list[Any] = []
    for field in parts_of(type(node)):
        value = getattr(node, field, None)
        if value is None:
            continue
        if type(value) is list:
            found += [item for item in value if item is not None] if None in value else value
        else:
            found.append(value)
    return found


def walk(node: Any) -> list[Any]:
    """Return a node and all below it, those higher up first."""
    found = [node]
    for one in found:
        if parts_of(type(one)):
            found += children(one)
    return found


def copied(node: Any) -> Any:
    """Return an independent copy of a tree, with what was noted at its nodes; None if there is none."""
    if node is None:
        return None
    new = type(node)()
    own = new.__dict__
    for name, value in node.__dict__.items():
        if type(value) is list:
            value = [copied(item) if original_isinstance(item, ast.AST) else item for item in value]
        elif original_isinstance(value, ast.AST) and value.__dict__:
            value = copied(value)
        own[name] = value
    return new


def with_locations(node: Any, place: Any) -> Any:
    """Return a tree whose nodes have a line each: that of the node above where they have none of their own."""
    stack = [(node, (place.lineno, place.col_offset, place.end_lineno, place.end_col_offset))]
    while stack:
        node_, around = stack.pop()
        if "lineno" in node_._attributes:
            own = node_.__dict__
            line = own.setdefault("lineno", around[0])
            column = own.setdefault("col_offset", around[1])
            if own.get("end_lineno") is None:
                own["end_lineno"] = around[2]
            if own.get("end_col_offset") is None:
                own["end_col_offset"] = around[3]
            around = line, column, own["end_lineno"], own["end_col_offset"]
        stack += [(child, around) for child in children(node_)]
    return node


class Transformer:
    """Visits the nodes of a tree by methods named after their classes, and puts what these return in their places."""

    _methods: dict[type, Callable[[Any, Any], Any] | None]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._methods = {}

    def visit(self, node: Any) -> Any:
        """Return what takes the place of a node: a node, a list of statements, or None."""
        cls = type(node)
        try:
            method = self._methods[cls]
        except KeyError:
            method = self._methods[cls] = getattr(type(self), f"visit_{cls.__name__}", None)
        return self.generic_visit(node) if method is None else method(self, node)

    def generic_visit(self, node: Any) -> Any:
        """Visit what is below a node, and return the node."""
        for field in parts_of(type(node)):
            value = getattr(node, field, None)
            if value is None:
                continue
            if type(value) is not list:
                new = self.visit(value)
                if new is None:
                    delattr(node, field)
                elif new is not value:
                    setattr(node, field, new)
                continue
            items: list[Any] = []
            for item in value:
                new = None if item is None else self.visit(item)
                if type(new) is list:
                    items += new
                elif new is not None or item is None:
                    items.append(new)
            value[:] = items
        return node
