"""Which names statements bind, and what they contain, nested functions left aside."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

__all__ = ["always_leaves", "bound_names", "contains", "walk_scope"]

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def walk_scope(nodes: Iterable[Any]) -> Iterator[Any]:
    """Yield all nodes of the syntax tree that belong to the scope of the statements themselves."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, _SCOPES):
            stack.extend(ast.iter_child_nodes(node))


def contains(nodes: Iterable[Any], kinds: Any) -> bool:
    """Tell whether there is a node of some kind in statements or expressions."""
    return any(isinstance(node, kinds) for node in walk_scope(nodes))


def bound_names(nodes: Iterable[Any]) -> list[str]:
    """Return the names that statements bind, in alphabetical order."""
    found: set[str] = set()
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            found.add(node.id)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            found.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            found.add(node.rest)
        if isinstance(node, _COMPREHENSIONS):  # whose targets are their own
            stack.extend(generator.iter for generator in node.generators)
            continue
        stack.extend(ast.iter_child_nodes(node))
    return sorted(found)


def always_leaves(statements: list[Any]) -> bool:
    """Tell whether control never falls off the end of statements."""
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, ast.Return | ast.Raise | ast.Break | ast.Continue):
        return True
    if isinstance(last, ast.If):
        return always_leaves(last.body) and always_leaves(last.orelse)
    if isinstance(last, ast.With):
        return always_leaves(last.body)
    return False
