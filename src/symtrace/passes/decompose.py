"""Expressing calls by simpler ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
import torch.nn.functional as F

from ..ir import Node, map_arg
from ..rewrite.inherit import inherit
from ..rewrite.sources import check_graph_module
from ..runtime import Graph, GraphModule
from .core import Context, Pass, graphs_of
from .errors import PassError

__all__ = ["DECOMPOSITIONS", "Decompose", "decompose"]

Rule = Callable[..., Any]


def _silu(input: Any, inplace: bool = False) -> Any:
    return input * torch.sigmoid(input)


def _hardswish(input: Any, inplace: bool = False) -> Any:
    return input * torch.clamp(input + 3, 0, 6) / 6


def _gelu(input: Any, approximate: str = "none") -> Any:
    if approximate == "tanh":
        inner = math.sqrt(2 / math.pi) * (input + 0.044715 * input * input * input)
        return 0.5 * input * (1 + torch.tanh(inner))
    return 0.5 * input * (1 + torch.erf(input / math.sqrt(2)))


def _softmax(input: Any, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    if dim is None or dtype is not None:
        return NotImplemented
    shifted = torch.exp(input - torch.amax(input, dim, True))
    return shifted / torch.sum(shifted, dim, True)


def _linear(input: Any, weight: Any, bias: Any = None) -> Any:
    product = torch.matmul(input, torch.transpose(weight, -1, -2))
    return product if bias is None else product + bias


def _layer_norm(
    input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    dims = [-number for number in range(len(normalized_shape), 0, -1)]
    centred = input - torch.mean(input, dims, True)
    result = centred * torch.rsqrt(torch.mean(centred * centred, dims, True) + eps)
    if weight is not None:
        result = result * weight
    return result if bias is None else result + bias


def _addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    return beta * input + alpha * torch.matmul(mat1, mat2)


DECOMPOSITIONS: Mapping[Any, Rule] = {
    F.silu: _silu,
    F.hardswish: _hardswish,
    F.gelu: _gelu,
    F.softmax: _softmax,
    torch.softmax: lambda input, dim, dtype=None: _softmax(input, dim, dtype=dtype),
    F.linear: _linear,
    F.layer_norm: _layer_norm,
    torch.addmm: _addmm,
}
"""Functions that `Decompose` knows: each computes the same by simpler functions, but for rounding."""


@dataclass(frozen=True)
class Decompose(Pass):
    """Express activations, linear layers, softmax and layer norm by arithmetic; see `DECOMPOSITIONS`.

    Attributes:
        functions: Names of the functions, separated by `+`; all that are known by default.
    """

    name: ClassVar[str] = "decompose"
    functions: str = ""

    def run(self, graph: Graph, ctx: Context) -> bool:
        """Express them."""
        names = {name for name in self.functions.split("+") if name}
        rules = {f: rule for f, rule in DECOMPOSITIONS.items() if not names or f.__name__ in names}
        unknown = names - {function.__name__ for function in rules}
        if unknown:
            known = ", ".join(sorted({function.__name__ for function in DECOMPOSITIONS}))
            reason = f"functions={'+'.join(sorted(unknown))}: known are {known}"
            raise PassError("ST242", name=self.name, reason=reason)
        return _decompose(graph, rules, ctx)


def decompose(gm: GraphModule, rules: Mapping[Any, Rule]) -> bool:
    """Express calls of functions by others.

    Args:
        gm: Module to change.
        rules: For a function that is called, one that takes the same arguments and computes the same. It is called
            with traced values; what it does is recorded in the place of the call. It may return `NotImplemented` to
            leave a call as it is.

    Returns:
        Whether anything was changed.

    Raises:
        ArgumentError: `gm` is no GraphModule (ST112).

    >>> import torch, symtrace
    >>> gm = symtrace.symbolic_trace(lambda x: torch.relu(x))
    >>> decompose(gm, {torch.relu: lambda x: torch.where(x > 0, x, 0)})
    True
    >>> [str(node) for node in gm.graph.nodes]
    ['x', 'gt', 'where', 'output']
    """
    check_graph_module(gm)
    from .transaction import ModuleCheckpoint

    before = ModuleCheckpoint(gm)
    try:
        ctx = Context(gm)
        changed = [_decompose(graph, rules, ctx) for graph in graphs_of(gm)]
        return any(changed)
    except BaseException:
        before.restore()
        raise


def _decompose(graph: Graph, rules: Mapping[Any, Rule], ctx: Context) -> bool:
    # What is written to later is left alone: the simpler calls may keep it for the backward pass.
    found = [
        node
        for node in graph.nodes
        if node.op == "call_function"
        and node.target in rules
        and not node.kwargs.get("inplace", False)
        and not any(map(ctx.is_written, (node, *node.all_input_nodes)))
    ]
    expanded = [_expand(graph, node, rules[node.target]) for node in found]
    return any(expanded)


def _expand(graph: Graph, node: Node, rule: Rule) -> bool:
    from ..tracing import Proxy

    last = node.prev
    with graph.inserting_before(node):
        args: Any = map_arg(node.args, Proxy)  # type: ignore[arg-type]
        kwargs: Any = map_arg(dict(node.kwargs), Proxy)  # type: ignore[arg-type]
        result = rule(*args, **kwargs)
    made = []
    fresh = last.next
    while fresh is not node:
        made.append(fresh)
        fresh = fresh.next
    if not isinstance(result, Proxy):
        for unused in reversed(made):
            graph.erase_node(unused)
        return False
    value = result.node
    inherit(made, [(node, value)] if value in made else [], node, "decompose")
    node.replace_all_uses_with(value)
    graph.erase_node(node)
    return True
