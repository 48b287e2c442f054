"""Lets comparisons by `is`, and reads of `__class__`, be seen, which ask nothing of a value."""

# ruff: noqa: D102 - visitors are named by the nodes that they take

from __future__ import annotations

import ast
from types import CodeType
from typing import Any

from .trees import at, flow_call, is_load, mangled

__all__ = ["Identity", "NoneQuestions"]


class Identity(ast.NodeTransformer):
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
        self.generic_visit(node)
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Is | ast.IsNot):
            return node
        sides = [node.left, node.comparators[0]]
        asked = [side for side in sides if self._is_variable(side)]
        with_flag = [side for side in sides if not _is_flag(side)] if any(map(_is_flag, sides)) else []
        asked = with_flag or asked
        if not asked or not (with_flag or all(is_load(side) or _is_simple(side) for side in sides)):
            return node
        if any(isinstance(side, ast.Constant) and side.value is None for side in sides):
            return node
        same = at(flow_call("is_", *sides, *([] if with_flag else asked)), node)
        return same if isinstance(node.ops[0], ast.Is) else at(flow_call("not_", same), node)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        self.generic_visit(node)
        if node.attr == "__class__" and isinstance(node.ctx, ast.Load):
            return at(flow_call("class_of", node.value), node)
        node.attr = mangled(node.attr, self._code)
        return node


def _is_flag(node: Any) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is bool


def _is_simple(node: Any) -> bool:
    return isinstance(node, ast.Name | ast.Constant)


class NoneQuestions(ast.NodeTransformer):
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
