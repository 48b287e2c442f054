"""What functions of torch that take functions give for the example: `torch.func`, checkpoints, `torch.cond`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from ...ir import Node
from ...ops import program
from .evaluate import Undecided

if TYPE_CHECKING:
    from .tracer import ExampleTracer

__all__ = ["HIGHER_ORDER", "evaluate_function"]

HIGHER_ORDER = frozenset({program.transform, program.call_with, program.call_with_several})
"""Calls whose arguments are functions that are graphs of their own."""


def evaluate_function(tracer: ExampleTracer, target: Any, args: tuple[Any, ...]) -> tuple[Any, Any, bool]:
    """Return what such a call gives for the example, and for other data; see `Evaluator.call`.

    Raises:
        Undecided: It can't be run on fake tensors.
    """
    given = [_values(tracer, arg) for arg in args]
    try:
        return tracer._evaluator.call(_called(target, given[0]), tuple(given[1:]), {})
    except Undecided:
        raise
    except Exception as error:  # whatever it is, the run will tell
        raise Undecided from error


def _called(target: Any, kind: Any) -> Callable[..., Any]:
    """Return what runs in place of torch's function, where that one wants real tensors or compiles its functions."""
    if kind is checkpoint:
        return lambda function, captures, args, kwargs: function.forward(*captures, *args)
    if kind is torch.cond:
        return lambda before, functions, captures, operands: functions[0].forward(*captures, *operands)
    if kind is torch.while_loop:
        return lambda before, functions, captures, operands: functions[1].forward(*captures, *operands)
    return lambda *args: target(kind, *args)


def _values(tracer: ExampleTracer, value: Any) -> Any:
    """Return an argument with the values of the nodes in it."""
    if isinstance(value, Node):
        return _value(tracer, value)
    if type(value) in (tuple, list):
        return type(value)(_values(tracer, item) for item in value)
    return value


def _value(tracer: ExampleTracer, node: Node) -> Any:
    if node in tracer.values:
        return tracer.values[node]
    if node.op == "placeholder":
        outer = tracer.outer_of(node)
        if outer is not None:
            return _value(tracer, outer)
    if node.op == "get_attr":
        value = tracer.attribute(node.target)
        if isinstance(value, nn.Module) and node.target not in tracer.graph.interned:
            return tracer._evaluator.module(value)
        return value
    if node.op == "call_function" and node.target in (getattr, operator.getitem):
        return node.target(_value(tracer, node.args[0]), node.args[1])
    raise Undecided
