"""Has the texts of errors that one way raises made at the run, with the values that there are then."""

# ruff: noqa: D102 - visitors are named by the nodes that they take

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import torch
import torch.utils._pytree as pytree  # the public home of pytrees, underscore and all (torch 2.13, 2.14)

from .scopes import Own
from .syntax import Transformer
from .trees import at, flow_call

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..watching import Watcher

__all__ = ["Texts", "Written", "has_open", "has_traced", "recorded_text"]

_TEXTUAL = frozenset({"format", "repr", "str"})
"""Builtins that give the text of a value."""


class Texts(Transformer):
    """Rewrites what makes text: f-strings, `str`, `repr`, `format`, `%` and `.format` of a text."""

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Any:
        parts: list[Any] = []
        for part in node.values:
            if not isinstance(part, ast.FormattedValue):
                parts.append(part)
                continue
            spec = self.visit(part.format_spec) if part.format_spec is not None else ast.Constant("")
            value = self.visit(part.value)
            parts.append(ast.Tuple([value, ast.Constant(part.conversion), spec], ast.Load()))
        return at(flow_call("text", *parts), node)

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        self.generic_visit(node)
        if isinstance(node.op, ast.Mod) and _is_text(node.left):
            return at(flow_call("textual", ast.Constant("mod"), node.left, node.right), node)
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Name) and function.id in _TEXTUAL and not node.keywords:
            return at(flow_call("textual", function, *node.args), node)
        if isinstance(function, ast.Attribute) and function.attr == "format" and _is_text(function.value):
            call = flow_call("textual", ast.Constant("format"), function.value, *node.args)
            call.keywords = node.keywords
            return at(call, node)
        return node


class Written(Own):
    """Rewrites f-strings that are assigned or returned, alone or in a container."""

    def visit_Assign(self, node: Any) -> Any:
        node.value = _written(node.value)
        return node

    visit_AnnAssign = visit_Return = visit_Assign


def _written(node: Any) -> Any:
    if isinstance(node, ast.JoinedStr):
        call = Texts().visit(node)
        call.func.attr = "written"
        return call
    if isinstance(node, ast.Tuple | ast.List):
        node.elts = [_written(item) for item in node.elts]
    elif isinstance(node, ast.Dict):
        node.values = [_written(item) for item in node.values]
    return node


def _is_text(node: Any) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def has_traced(tracer: Watcher, *values: Any) -> bool:
    """Tell whether there are traced values in some values."""
    return any(map(tracer._is_proxy, pytree.tree_leaves(values)))


def has_open(tracer: Watcher, *values: Any) -> bool:
    """Tell whether there are values in others that only the run knows."""
    found = filter(tracer._is_proxy, pytree.tree_leaves(values))
    return any(map(tracer.is_compared_open, found))


def recorded_text(tracer: Watcher, function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """Return the traced text that a function makes at the run."""
    given = tracer.create_arg(_sized(tracer, args))
    node = tracer.create_node("call_function", function, given, tracer.create_arg(_sized(tracer, kwargs)))
    return tracer.renewed("", node)


def _sized(tracer: Watcher, value: Any) -> Any:
    """Return values with shapes that are made as such at the run, since their text tells."""
    if issubclass(type(value), torch.Size):
        return tracer.create_node("call_function", torch.Size, (tracer.create_arg(tuple(value)),), {})
    if type(value) in (tuple, list):
        return type(value)([_sized(tracer, item) for item in value])
    if type(value) is dict:
        return {key: _sized(tracer, item) for key, item in value.items()}
    return value
