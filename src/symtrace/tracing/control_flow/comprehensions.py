"""Turns comprehensions into functions with loops, made in front of the statement that they are in."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from .scopes import Own, bound_names, contains
from .shared import Shared, walruses_in
from .syntax import copied
from .trees import arguments, at, define, flow_call, listed, load, rewrite_blocks, thunk

__all__ = ["Comprehensions"]

_FOLDED = frozenset({"all", "any", "sum"})
"""Builtins that are done with each item of a generator before it makes the next one."""

_LISTED = frozenset({"dict", "frozenset", "list", "max", "min", "set", "sorted", "tuple"})
"""Builtins that may as well be given a list."""


class Comprehensions:
    """Rewrites blocks.

    Args:
        fresh: Gives a new variable of the function.
        own: Variables of the function, the builtins that they hide among them.
        shared: Those that functions inside of it assign.
    """

    def __init__(self, fresh: Callable[[str], str], own: frozenset[str], shared: Shared) -> None:
        self._fresh = fresh
        self._own = own
        self._shared = shared

    def block(self, statements: list[Any]) -> list[Any]:
        """Return the statements of a block, with those that make functions in front."""
        result: list[Any] = []
        for statement in statements:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                result.append(statement)
                continue
            rewrite_blocks(statement, self.block)
            if isinstance(statement, ast.While | ast.Match | ast.Try):
                result.append(statement)  # what they ask, they may ask again
                continue
            finder = _Finder(self._fresh, self._own, self._shared)
            for field, value in ast.iter_fields(statement):
                if field in ("body", "orelse", "finalbody") and not isinstance(value, ast.AST):
                    continue
                if isinstance(value, list):
                    setattr(statement, field, [item for one in value for item in listed(finder.visit(one))])
                elif isinstance(value, ast.AST):
                    setattr(statement, field, finder.visit(value))
            result += [*finder.made, statement]
        return result


class _Finder(Own):
    """Replaces the comprehensions of one statement by calls.

    Attributes:
        made: The functions that they call.
    """

    def __init__(self, fresh: Callable[[str], str], own: frozenset[str], shared: Shared) -> None:
        self._fresh = fresh
        self._own = own
        self._shared = shared
        self.made: list[Any] = []

    def visit_ListComp(self, node: ast.ListComp) -> Any:
        found = self._fresh("found")
        return self._called(node, found, ast.List([], ast.Load()), _method(found, "append", node.elt))

    def visit_SetComp(self, node: ast.SetComp) -> Any:
        found = self._fresh("found")
        return self._called(node, found, ast.Call(load("set"), [], []), _method(found, "add", node.elt))

    def visit_DictComp(self, node: ast.DictComp) -> Any:
        found = self._fresh("found")
        target = ast.Subscript(load(found), node.key, ast.Store())
        return self._called(node, found, ast.Dict([], []), ast.Assign([target], node.value))

    def visit_GeneratorExp(self, node: Any) -> Any:
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        generator = node.args[0] if node.args else None
        if not isinstance(generator, ast.GeneratorExp) or name in self._own or not _can_be_loop(generator):
            self.generic_visit(node)
            return node
        if name in _FOLDED and len(node.args) == 1 and not node.keywords:
            function = self._folded(name, copied(generator))
            return at(flow_call("consume", node.func, load(function), thunk(copied(node))), node)
        if name in _LISTED and len(node.args) == 1:
            items = self.visit_ListComp(
                at(
                    ast.ListComp(copied(generator.elt), [copied(one) for one in generator.generators]),
                    generator,
                )
            )
            given = at(ast.Call(node.func, [items], node.keywords), node)
            return at(flow_call("consume", node.func, thunk(given), thunk(copied(node))), node)
        self.generic_visit(node)
        return node

    def _folded(self, name: str, node: Any) -> str:
        """Make the function that goes through a generator as a builtin does, and return its name."""
        if name == "sum":
            total = self._fresh("total")
            add = ast.BinOp(load(total), ast.Add(), node.elt)
            step: Any = ast.Assign([ast.Name(total, ast.Store())], add)
            start: Any = ast.Assign([ast.Name(total, ast.Store())], ast.Constant(0))
            return self._function(node, [start], step, ast.Return(load(total)), {total})
        is_any = name == "any"
        test: Any = node.elt if is_any else ast.UnaryOp(ast.Not(), node.elt)
        step = ast.If(test, [ast.Return(ast.Constant(is_any))], [])
        return self._function(node, [], step, ast.Return(ast.Constant(not is_any)), set())

    def _called(self, node: Any, found: str, empty: Any, step: Any) -> Any:
        if not _can_be_loop(node):
            return node
        start = ast.Assign([ast.Name(found, ast.Store())], empty)
        function = self._function(node, [start], step, ast.Return(load(found)), {found})
        return at(ast.Call(load(function), [], []), node)

    def _function(self, node: Any, start: list[Any], step: Any, end: Any, own: set[str]) -> str:
        """Make a function that goes through the loops of a comprehension."""
        body: list[Any] = [at(step, node)]
        for generator in reversed(node.generators):
            for test in reversed(generator.ifs):
                body = [at(ast.If(test, body, []), test)]
            body = [at(ast.For(generator.target, generator.iter, body, []), generator.target)]
            own |= set(bound_names([generator.target]))
        name = self._fresh("through")
        whole = [*(at(one, node) for one in start), *body, at(end, node)]
        whole = Comprehensions(self._fresh, self._own | own, self._shared).block(whole)
        shared = walruses_in([node])
        function = at(define(name, arguments([]), [*self._shared.declarations(is_block=True), *whole]), node)
        function._own = frozenset(own | set(bound_names(whole))) - shared
        self.made.append(function)
        return name


def _method(owner: str, name: str, argument: Any) -> ast.Expr:
    return ast.Expr(ast.Call(ast.Attribute(load(owner), name, ast.Load()), [argument], []))


def _can_be_loop(node: Any) -> bool:
    """Tell whether a comprehension can be written as loops of a function of its own."""
    if contains([node], ast.Await):
        return False
    if any(generator.is_async for generator in node.generators):
        return False
    return not contains([node], ast.Lambda)  # which would see each item by the name of a variable
