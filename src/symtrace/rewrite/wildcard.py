"""`any_call`: what a pattern has in the place of a call of whatever there is."""

from __future__ import annotations

from typing import Any

from ..ir import Node
from ..ops import pure
from ..ops.canonical import Call

__all__ = ["WILDCARD", "any_call", "is_wildcard", "wildcard_call"]

WILDCARD = "any call"
"""What `head` gives for a wildcard."""


@pure
def any_call(*operands: Any) -> Any:
    """Stand in a pattern for one call of any function, method or module whose operands are these.

    Only values count as operands, each once and in order; numbers and other constants of the call may be any. Which
    call it was, `match.nodes_map` tells a filter or a replacement callback.

    Args:
        *operands: Values of the pattern.

    >>> import torch, symtrace
    >>> gm = symtrace.symbolic_trace(lambda x: torch.clamp(x, 0, 1) + 0)
    >>> len(symtrace.replace_pattern(gm, lambda x: any_call(x) + 0, lambda x: torch.relu(x)))
    1
    """
    if operands and hasattr(type(operands[0]), "__graph_node__"):
        return operands[0].tracer.create_proxy("call_function", any_call, operands, {})
    raise TypeError("any_call is for patterns; it can't be run")


def is_wildcard(node: Node) -> bool:
    """Return whether a node of a pattern stands for any call."""
    return node.op == "call_function" and node.target is any_call


def wildcard_call(node: Node) -> Call:
    """Return the operands of a node as a wildcard sees them."""
    return Call(WILDCARD, ((-2, tuple(node.all_input_nodes)),))
