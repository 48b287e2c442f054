"""Variables that several functions assign: those of `global` and `nonlocal`, and those of `:=` in comprehensions."""

from __future__ import annotations

import ast
from typing import Any

from .scopes import COMPREHENSIONS, Own, walk_scope
from .syntax import walk

__all__ = ["Shared", "walruses_in"]


class Shared:
    """The variables of a function that it has declared, and those of its own that functions inside of it assign.

    Blocks that become functions declare them, too, and have no parameters for them: whoever looks sees them change.

    Args:
        body: Statements of the function.

    Attributes:
        names: The variables.
    """

    def __init__(self, body: list[Any]) -> None:
        own = list(walk_scope(body))
        self._globals = _declared(own, ast.Global)
        self._outer = _declared(own, ast.Nonlocal)
        everything = [node for statement in body for node in walk(statement)]
        self._walruses = walruses_in([node for node in own if isinstance(node, COMPREHENSIONS)])
        inside = _declared(everything, ast.Nonlocal) | self._walruses
        self._assigned_inside = inside - self._outer - self._globals
        self.names = frozenset(self._globals | self._outer | self._assigned_inside)

    def without(self, body: list[Any]) -> list[Any]:
        """Return statements without the declarations of the function."""
        return [_Undeclared().visit(statement) for statement in body]

    def declarations(self, *, is_block: bool) -> list[Any]:
        """Return statements that declare the variables.

        Args:
            is_block: Whether for a block, which is inside of the function whose variables some are.
        """
        outer = self._outer | (self._assigned_inside if is_block else set())
        found: list[Any] = [ast.Global(sorted(self._globals))] if self._globals else []
        if outer:
            found.append(ast.Nonlocal(sorted(outer)))
        bound = sorted(self._walruses & self._assigned_inside)
        if bound and not is_block:  # never runs; it makes them variables of the function
            targets: Any = [ast.Name(name, ast.Store()) for name in bound]
            found.append(ast.If(ast.Constant(False), [ast.Assign(targets, ast.Constant(None))], []))
        return found


def walruses_in(nodes: list[Any]) -> set[str]:
    """Return the names that `:=` binds in expressions, those inside of comprehensions included."""
    inner = (one for node in nodes for one in walk(node) if isinstance(one, ast.NamedExpr))
    return {one.target.id for one in inner}


def _declared(nodes: list[Any], kind: Any) -> set[str]:
    return {name for node in nodes if isinstance(node, kind) for name in node.names}


class _Undeclared(Own):
    """Has nothing in place of declarations."""

    def visit_Global(self, node: Any) -> Any:
        return ast.copy_location(ast.Pass(), node)

    visit_Nonlocal = visit_Global
