"""The content of tensors that rests on sizes and constants alone, such as positions and masks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.utils._pytree as pytree  # the public home of pytrees, underscore and all (torch 2.13, 2.14)

from ...ir import Node, Region, map_arg
from ...ops import effects
from ...values import FakeTensor, outside_modes
from ..hooks import unwatched

if TYPE_CHECKING:
    from .tracer import ExampleTracer

__all__ = ["Content", "NoContent"]


class NoContent(Exception):
    """What a node computes depends on the content of inputs, on randomness, or on something else that a run decides."""


class Content:
    """Computes, for real, nodes that look at no more of the inputs than sizes and types.

    Args:
        tracer: Gives the inputs and the tensors of the module.
    """

    def __init__(self, tracer: ExampleTracer) -> None:
        self._tracer = tracer
        self._values: dict[Node, Any] = {}
        self._unknown: set[Node] = set()

    def of(self, node: Node) -> Any:
        """Return the value of a node.

        Raises:
            NoContent: Only a run can tell it.

        Cost: that of what the node depends on, once.
        """
        order: list[Node] = []
        stack = [(node, False)]
        while stack:
            current, is_done = stack.pop()
            if is_done:
                order.append(current)
            elif current in self._tracer.facts:
                self._values[current] = self._tracer.facts[current]
            elif current not in self._values:
                if current in self._unknown or not self._is_allowed(current):
                    self._unknown.add(node)
                    raise NoContent
                stack.append((current, True))
                stack.extend((used, False) for used in self._used(current))
        with unwatched(), torch.no_grad():
            for current in order:
                if current not in self._values:
                    try:
                        self._values[current] = self._compute(current)
                    except Exception as error:  # whatever an operator raises, the value is not known
                        self._unknown.add(node)
                        raise NoContent from error
        value = self._values[node]
        if any(type(leaf) is FakeTensor for leaf in pytree.tree_leaves(value)):
            raise NoContent
        return value

    def _used(self, node: Node) -> list[Node]:
        if node.op == "placeholder":
            outer = self._tracer.outer_of(node)
            return [] if outer is None else [outer]
        return node.all_input_nodes

    def _is_allowed(self, node: Node) -> bool:
        if node.op in ("placeholder", "get_attr"):
            return True
        if node.op == "call_module" or any(type(value) is Region for value in node.args):
            return False
        if not effects(node.op, node.target, node.args, node.kwargs).is_pure:
            return False
        beside = (*node.users, *node.all_input_nodes)
        return not any(effects(one.op, one.target, one.args, one.kwargs).mutates for one in beside)

    def _compute(self, node: Node) -> Any:
        if node.op == "placeholder":
            outer = self._tracer.outer_of(node)
            return self._tracer.input_value(node) if outer is None else self._values[outer]
        if node.op == "get_attr":
            return self._tracer.attribute(node.target)
        args = map_arg(node.args, self._values.__getitem__)
        kwargs = map_arg(node.kwargs, self._values.__getitem__)
        args = [list(item) if isinstance(item, list) else item for item in args]
        with outside_modes():
            if node.op == "call_method":
                return getattr(args[0], node.target)(*args[1:], **kwargs)
            return node.target(*args, **kwargs)
