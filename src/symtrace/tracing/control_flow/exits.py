"""Has `return`, `break` and `continue` leave a `with` or `try` at its end, where they can be lifted."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from .rewrites import leaves_loop
from .scopes import always_leaves, contains
from .trees import FLOW, at, flow_call, load, rewrite_blocks

__all__ = ["Exits"]

_RETURN, _BREAK, _CONTINUE = 1, 2, 3


class Exits:
    """Rewrites blocks so that nothing leaves a `with` or `try` from inside, but what is raised.

    A variable tells how it would have been left, and the statement is followed by one that does.

    Args:
        fresh: Gives a new variable of the function.
    """

    def __init__(self, fresh: Callable[[str], str]) -> None:
        self._fresh = fresh

    def block(self, statements: list[Any]) -> list[Any]:
        """Return the statements of a block, rewritten."""
        result: list[Any] = []
        for statement in statements:
            self._inside(statement)
            if _is_left_early(statement):
                result.extend(self._left_at_its_end(statement))
            else:
                result.append(statement)
        return result

    def _inside(self, statement: Any) -> None:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return
        rewrite_blocks(statement, self.block)

    def _left_at_its_end(self, statement: Any) -> list[Any]:
        way, value = self._fresh("way"), self._fresh("value")
        hole = ast.Attribute(load(FLOW), "HOLE", ast.Load())
        start = [ast.Assign([ast.Name(way, ast.Store())], ast.Constant(0))]
        always = always_leaves(statement.body)
        returns = contains([statement], ast.Return)
        if returns:
            start.append(ast.Assign([ast.Name(value, ast.Store())], hole))
        writer = _Writer(way, value)
        statement.body = writer.block(statement.body, is_loop=False)
        for handler in getattr(statement, "handlers", ()):
            handler.body = writer.block(handler.body, is_loop=False)
        after: list[Any] = []
        for kind in sorted(writer.kinds):
            result = flow_call("load", load(value), ast.Constant("the result"))
            leave: Any = {_RETURN: ast.Return(result), _BREAK: ast.Break(), _CONTINUE: ast.Continue()}[kind]
            if always and len(writer.kinds) == 1 and not getattr(statement, "handlers", None):
                after.append(leave)
            else:
                after.append(ast.If(_is_way(way, kind), [leave], []))
        return [*(at(one, statement) for one in start), statement, *(at(one, statement) for one in after)]


class _Writer:
    """Has blocks note how they would leave.

    Attributes:
        kinds: The ways that there are.
    """

    def __init__(self, way: str, value: str) -> None:
        self._way = way
        self._value = value
        self.kinds: set[int] = set()

    def block(self, statements: list[Any], *, is_loop: bool) -> list[Any]:
        """Return a block that ends where it would have left; what follows is skipped.

        Args:
            statements: Of the block.
            is_loop: Whether it is inside of a loop that is inside of the statement that is left.
        """
        result: list[Any] = []
        for index, statement in enumerate(statements):
            rest = statements[index + 1 :]
            if isinstance(statement, ast.Return):
                self.kinds.add(_RETURN)
                value = statement.value or ast.Constant(None)
                result.append(at(ast.Assign([ast.Name(self._value, ast.Store())], value), statement))
                result.append(self._note(_RETURN, statement))
                if is_loop:
                    result.append(at(ast.Break(), statement))
                return result
            if isinstance(statement, ast.Break | ast.Continue) and not is_loop:
                kind = _BREAK if isinstance(statement, ast.Break) else _CONTINUE
                self.kinds.add(kind)
                return [*result, self._note(kind, statement)]
            if not self._leaves(statement, is_loop=is_loop):
                result.append(statement)
                continue
            if isinstance(statement, ast.If):
                then_ends, else_ends = always_leaves(statement.body), always_leaves(statement.orelse)
                if then_ends and not else_ends and not is_loop:
                    statement.orelse, rest = [*statement.orelse, *rest], []
                elif else_ends and not then_ends and not is_loop:
                    statement.body, rest = [*statement.body, *rest], []
            self._inside(statement, is_loop=is_loop)
            result.append(statement)
            if is_loop and isinstance(statement, ast.For | ast.While):
                result.append(at(ast.If(_is_way(self._way, _RETURN), [ast.Break()], []), statement))
                continue
            if is_loop and isinstance(statement, ast.If):
                continue
            if rest:
                whole = self.block(rest, is_loop=is_loop)
                result.append(at(ast.If(_is_way(self._way, 0), whole, []), rest[0]))
            return result
        return result

    def _leaves(self, statement: Any, *, is_loop: bool) -> bool:
        if contains([statement], ast.Return):
            return True
        return not is_loop and leaves_loop([statement])

    def _inside(self, statement: Any, *, is_loop: bool) -> None:
        loops = isinstance(statement, ast.For | ast.While)
        for part in [statement, *getattr(statement, "handlers", ())]:
            for field in ("body", "orelse"):
                block = getattr(part, field, None)
                if isinstance(block, list) and block:
                    setattr(part, field, self.block(block, is_loop=is_loop or (loops and field == "body")))

    def _note(self, kind: int, place: Any) -> Any:
        return at(ast.Assign([ast.Name(self._way, ast.Store())], ast.Constant(kind)), place)


def _is_way(way: str, kind: int) -> Any:
    return ast.Compare(load(way), [ast.Eq()], [ast.Constant(kind)])


def _is_left_early(statement: Any) -> bool:
    """Tell whether a `with` or `try` is left from inside, in a way that can be put off to its end."""
    if not isinstance(statement, ast.With | ast.Try):
        return False
    if not (contains([statement], ast.Return) or leaves_loop([statement])):
        return False
    if contains([statement], ast.Match):
        return False
    return not (getattr(statement, "orelse", None) or _leaves(getattr(statement, "finalbody", None) or []))


def _leaves(block: list[Any]) -> bool:
    return contains(block, ast.Return) or leaves_loop(block)
