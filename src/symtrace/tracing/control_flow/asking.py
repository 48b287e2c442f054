"""Lets comparisons by `is`, and reads of `__class__`, be seen, which ask nothing of a value."""

# ruff: noqa: D102 - visitors are named by the nodes that they take

from __future__ import annotations

import ast
from types import CodeType
from typing import Any

from .syntax import Transformer, copied
from .trees import at, flow_call, is_load, mangled

__all__ = ["Identity", "NoneQuestions"]


class Identity(Transformer):
    """Rewrites comparisons by `is` of variables of functions, and `x.__class__`, those in inner functions included.

    Args:
        code: Code of the function.
    """

    def __init__(self, code: CodeType) -> None:
        self._code = code
        self._variables = _variables(code)

    def _is_variable(self, node: Any) -> bool:
        return is_load(node) or (isinstance(node, ast.Name) and node.id in self._variables)

    def visit_Compare(self, node: ast.Compare) -> Any:
        asks = any(isinstance(operator, ast.Is | ast.IsNot) for operator in node.ops)
        if asks and len(node.ops) > 1 and all(map(_is_repeatable, node.comparators[:-1])):
            return self.visit(_pairs(node))
        self.generic_visit(node)
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Is | ast.IsNot):
            return node
        sides = [node.left, node.comparators[0]]
        with_flag = [side for side in sides if not _is_flag(side)] if any(map(_is_flag, sides)) else []
        asked = [] if with_flag else [side for side in sides if self._is_variable(side) or _is_part(side)]
        if not (asked or with_flag):
            return node
        if not with_flag and not all(is_load(side) or _is_simple(side) or _is_part(side) for side in sides):
            return node
        if any(isinstance(side, ast.Constant) and side.value is None for side in sides):
            return node
        same = at(flow_call("is_", *sides, *asked), node)
        return same if isinstance(node.ops[0], ast.Is) else at(flow_call("not_", same), node)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        self.generic_visit(node)
        if node.attr == "__class__" and isinstance(node.ctx, ast.Load):
            return at(flow_call("class_of", node.value), node)
        node.attr = mangled(node.attr, self._code)
        return node


def _is_flag(node: Any) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is bool


def _is_part(node: Any) -> bool:
    """Tell whether an expression may give a part of something: no class, and no flag that is read when asked for."""
    if isinstance(node, ast.Attribute):
        return node.attr != "training"
    if isinstance(node, ast.Call):
        return not (isinstance(node.func, ast.Name) and node.func.id == "type")
    return isinstance(node, ast.Subscript)


def _pairs(node: ast.Compare) -> ast.BoolOp:
    """Return `a is b and b is c` for `a is b is c`."""
    sides = [node.left, *node.comparators]
    pairs: list[ast.expr] = []
    for left, operator, right in zip(sides[:-1], node.ops, sides[1:], strict=True):
        pair = ast.Compare(copied(left), [operator], [copied(right)])
        pairs.append(ast.copy_location(pair, node))
    return ast.copy_location(ast.BoolOp(ast.And(), pairs), node)


def _is_repeatable(node: Any) -> bool:
    """Tell whether an expression may be evaluated twice."""
    if isinstance(node, ast.Subscript):
        return _is_repeatable(node.value) and _is_repeatable(node.slice)
    return _is_simple(node) or is_load(node)


def _is_simple(node: Any) -> bool:
    return isinstance(node, ast.Name | ast.Constant)


class NoneQuestions(Transformer):
    """Rewrites comparisons of anything with None by `is`, those in inner functions included."""

    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Is | ast.IsNot):
            return node
        sides = [node.left, node.comparators[0]]
        asked = [side for side in sides if not (isinstance(side, ast.Constant) and side.value is None)]
        if len(asked) != 1:
            return node
        method = "is_none" if isinstance(node.ops[0], ast.Is) else "is_not_none"
        return at(flow_call(method, asked[0]), node)


def _variables(code: CodeType) -> frozenset[str]:
    own = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
    return frozenset(own).union(*[_variables(const) for const in code.co_consts if type(const) is CodeType])
