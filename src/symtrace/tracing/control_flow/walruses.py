"""Has `:=` inside `and`, `or` and conditional expressions assign in statements, which can be lifted."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from .scopes import contains
from .trees import at, load, rewrite_blocks

__all__ = ["Walruses"]

_FIELDS = {ast.If: "test", ast.Assert: "test", ast.Assign: "value", ast.Return: "value", ast.Expr: "value"}
"""Where a statement has an expression that it evaluates first."""


class Walruses:
    """Rewrites blocks: an `and`, `or` or conditional expression with `:=` in it becomes `if` statements in front.

    That is so where the statement does nothing else first, so that all is evaluated in its order.

    Args:
        fresh: Gives a new variable of the function.
    """

    def __init__(self, fresh: Callable[[str], str]) -> None:
        self._fresh = fresh

    def block(self, statements: list[Any]) -> list[Any]:
        """Return the statements of a block, rewritten."""
        result: list[Any] = []
        for statement in statements:
            if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                rewrite_blocks(statement, self.block)
                field = _FIELDS.get(type(statement))
                value = getattr(statement, field, None) if field is not None else None
                if field is not None and value is not None:
                    before, value = self._taken_apart(value)
                    result.extend(before)
                    setattr(statement, field, value)
            result.append(statement)
        return result

    def _taken_apart(self, node: Any) -> tuple[list[Any], Any]:
        """Return statements that go before an expression, and the expression."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            before, node.operand = self._taken_apart(node.operand)
            return before, node
        if isinstance(node, ast.NamedExpr):
            before, node.value = self._taken_apart(node.value)
            return before, node
        if isinstance(node, ast.BoolOp) and contains([node], ast.NamedExpr):
            name = self._fresh("either")
            return self._either(node, list(node.values), name), at(load(name), node)
        if isinstance(node, ast.IfExp) and contains([node], ast.NamedExpr):
            name = self._fresh("either")
            before, test = self._taken_apart(node.test)
            ways = [self._assigned(way, name) for way in (node.body, node.orelse)]
            return [*before, at(ast.If(test, *ways), node)], at(load(name), node)
        return [], node

    def _assigned(self, value: Any, name: str) -> list[Any]:
        before, value = self._taken_apart(value)
        return [*before, at(ast.Assign([ast.Name(name, ast.Store())], value), value)]

    def _either(self, node: ast.BoolOp, values: list[Any], name: str) -> list[Any]:
        """Return statements that assign the value of `and` or `or`."""
        first, *rest = values
        result = self._assigned(first, name)
        if rest:
            more = self._either(node, rest, name)
            ways = (more, []) if isinstance(node.op, ast.And) else ([at(ast.Pass(), first)], more)
            result.append(at(ast.If(at(load(name), first), *ways), first))
        return result
