"""Lifts what decides inside expressions, and gives builtins that go through traced values to `flow`."""

# ruff: noqa: D102 - visitors are named by the nodes that they take

from __future__ import annotations

import ast
from types import CodeType
from typing import Any

from .scopes import contains, own_names, used_names
from .syntax import Transformer
from .trees import FLOW, at, flow_call, is_thunk, load, mangled, names_tuple, thunk

__all__ = ["Expressions", "may_be_traced"]

_BUILTINS = frozenset({"sum", "any", "all", "min", "max", "list", "tuple", "sorted", "int", "float", "bool"})
"""Builtins that `flow` calls on behalf of a lifted function."""

_ITERABLES = frozenset({"range", "zip", "enumerate", "reversed"})
"""Builtins that `flow` calls where a `for` goes through what they give."""


def may_be_traced(test: Any) -> bool:
    """Tell whether a test can give anything but a plain bool of Python's own."""
    if isinstance(test, ast.Constant):
        return False
    if isinstance(test, ast.Compare):
        sides = (test.left, *test.comparators)
        if any(isinstance(side, ast.Constant) and side.value is None for side in sides):
            return not all(isinstance(operator, ast.Is | ast.IsNot) for operator in test.ops)
        return True
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return may_be_traced(test.operand)
    if isinstance(test, ast.BoolOp):
        return any(may_be_traced(value) for value in test.values)
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Name):
        return test.func.id not in ("isinstance", "hasattr", "callable", "issubclass")
    return True


class Expressions(Transformer):
    """Lifts `and`, `or`, `not`, chains of comparisons, conditional expressions, and calls of builtins.

    Args:
        code: Code of the function.
        first: Its first parameter.
        own: Its variables, those of enclosing functions included.
    """

    def __init__(self, code: CodeType, first: str | None, own: frozenset[str]) -> None:
        self._code = code
        self._first = first
        self._own = own - {"__class__"}

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        own = own_names(node)
        if own is not None:
            before, self._own = self._own, self._own | own
            self.generic_visit(node)
            self._own = before
        return node  # else a function of its own

    def visit_Lambda(self, node: Any) -> Any:
        return self.generic_visit(node) if is_thunk(node) else node

    visit_ClassDef = visit_AsyncFunctionDef = visit_Lambda

    def _is_simple(self, *nodes: Any) -> bool:
        return not contains(nodes, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom))

    def _held(self, *nodes: Any) -> ast.Lambda:
        """Return a function that gives the variables that expressions read, and so may change what is in them."""
        found = used_names(nodes) & self._own
        return thunk(names_tuple(sorted(found)))

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        held = self._held(node.body, node.orelse)
        self.generic_visit(node)
        if not may_be_traced(node.test) or not self._is_simple(node.body, node.orelse):
            return node
        return at(flow_call("choose", node.test, thunk(node.body), thunk(node.orelse), held), node)

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        held = self._held(*node.values)
        self.generic_visit(node)
        if not any(map(may_be_traced, node.values)) or not self._is_simple(*node.values[1:]):
            return node
        method = "and_" if isinstance(node.op, ast.And) else "or_"
        return at(flow_call(method, held, node.values[0], *map(thunk, node.values[1:])), node)

    def visit_Compare(self, node: ast.Compare) -> Any:
        held = self._held(*node.comparators)
        self.generic_visit(node)
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn):
            found = at(flow_call("contains", node.left, node.comparators[0]), node)
            return found if isinstance(node.ops[0], ast.In) else at(flow_call("not_", found), node)
        if len(node.ops) == 1 or not self._is_simple(*node.comparators):
            return node
        pairs: list[Any] = []
        for operator, value in zip(node.ops, node.comparators, strict=True):
            pairs.extend((ast.Constant(type(operator).__name__), thunk(value)))
        return at(flow_call("compare", held, node.left, *pairs), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Not) or not may_be_traced(node.operand):
            return node
        return at(flow_call("not_", node.operand), node)

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        node.iter = _iterable(node.iter)
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        is_super = isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args
        if is_super and self._first is not None and "__class__" in self._code.co_freevars:
            node.args = [load("__class__"), load(self._first)]
        if isinstance(node.func, ast.Name) and node.func.id in _BUILTINS and node.args:
            call = ast.Attribute(load(FLOW), "call", ast.Load())
            return at(ast.Call(call, [node.func, *node.args], node.keywords), node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "sort":
            sort = ast.Attribute(load(FLOW), "sort", ast.Load())
            return at(ast.Call(sort, [node.func.value, *node.args], node.keywords), node)
        return at(node, node)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        self.generic_visit(node)
        node.attr = mangled(node.attr, self._code)
        return node


def _iterable(node: Any) -> Any:
    """Return what a `for` goes through, with the builtins in it left to `flow`."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _ITERABLES):
        return node
    args = [_iterable(arg) for arg in node.args]
    call = ast.Attribute(load(FLOW), "iterable", ast.Load())
    return at(ast.Call(call, [node.func, *args], node.keywords), node)
