"""Lets comparisons by `is`, and reads of `__class__`, be seen, which ask nothing of a value."""

# ruff: noqa: D102 - visitors are named by the nodes that they take

from __future__ import annotations

import ast
from types import CodeType
from typing import Any

from .trees import at, flow_call, mangled

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
        return isinstance(node, ast.Name) and node.id in self._variables

    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Is | ast.IsNot):
            return node
        sides = [node.left, node.comparators[0]]
        asked = [side for side in sides if self._is_variable(side)]
        if not asked or not all(isinstance(side, ast.Name | ast.Constant) for side in sides):
            return node
        if any(isinstance(side, ast.Constant) and side.value is None for side in sides):
            return node
        same = at(flow_call("is_", *sides, *asked), node)
        return same if isinstance(node.ops[0], ast.Is) else at(ast.UnaryOp(ast.Not(), same), node)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        self.generic_visit(node)
        if node.attr == "__class__" and isinstance(node.ctx, ast.Load):
            return at(flow_call("class_of", node.value), node)
        node.attr = mangled(node.attr, self._code)
        return node


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
