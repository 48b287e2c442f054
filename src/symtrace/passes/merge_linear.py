"""Linear layers that read the same value, as one."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from ..analysis import is_tensor_method
from ..ir import Node
from ..ops.module_effects import is_hooked
from ..rewrite.inherit import inherit
from ..runtime import Graph
from .core import Context, Pass

__all__ = ["MergeLinear"]

_KEEP_LAYOUT = frozenset({
    operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.matmul, torch.add, torch.sub,
    torch.mul, torch.div, torch.matmul, torch.relu, torch.tanh, torch.sigmoid, torch.cat, torch.reshape,
    nn.functional.relu, nn.functional.gelu, nn.functional.silu, nn.functional.softmax, nn.functional.linear,
    nn.functional.layer_norm, nn.functional.scaled_dot_product_attention,
})  # fmt: skip
_METHODS = frozenset(
    {"relu", "tanh", "sigmoid", "add", "mul", "sub", "div", "matmul", "reshape", "sum", "mean", "softmax"}
)
_LAYERS = (nn.Linear, nn.LayerNorm, nn.ReLU, nn.GELU, nn.SiLU, nn.Tanh, nn.Sigmoid, nn.Dropout, nn.Softmax)
"""What asks nothing of the layout of its operand in memory: it may be a part of a wider tensor."""


@dataclass(frozen=True)
class MergeLinear(Pass):
    """Compute linear layers that read the same value by one product, such as queries, keys and values.

    The layers are put one below the other in a new one, and its result is taken apart. Gradients reach the new layer
    alone, so that the pass is for inference. Results that are returned or written to are left alone; one whose users
    may ask for its layout in memory is made contiguous.

    Attributes:
        eval_only: Leave alone layers in training mode.
    """

    name: ClassVar[str] = "merge-linear"
    changes_state: ClassVar[bool] = True
    evaluation_only: ClassVar[bool] = True
    eval_only: bool = True

    def run(self, graph: Graph, ctx: Context) -> bool:
        """Merge them."""
        changed = False
        for group in self._groups(graph, ctx):
            analysis = ctx.effects(graph)
            first = group[0]
            together = [node for node in group if analysis.may_move(node, first, set(group))]
            if len(together) > 1:
                _merge(graph, ctx, together)
                changed = True
        if changed:
            ctx.specialise("linear layers were merged")
        return changed

    def _groups(self, graph: Graph, ctx: Context) -> list[list[Node]]:
        analysis = ctx.effects(graph)
        returned = {analysis.alias_class(node) for node in graph.output_node().all_input_nodes}
        groups: dict[object, list[Node]] = {}
        for node in graph.nodes:
            layer = self._layer(node, ctx)
            if layer is None or analysis.is_written(node) or analysis.alias_class(node) in returned:
                continue
            weight = layer.weight
            key = (node.args[0], layer.in_features, layer.bias is None, weight.dtype, weight.device)
            groups.setdefault(key, []).append(node)
        return [group for group in groups.values() if len(group) > 1]

    def _layer(self, node: Node, ctx: Context) -> nn.Linear | None:
        layer = ctx.submodule(node)
        if type(layer) is not nn.Linear or is_hooked(layer) or (self.eval_only and layer.training):
            return None
        if len(node.args) != 1 or node.kwargs or not isinstance(node.args[0], Node) or not node.users:
            return None
        return None if ctx.may_change(node.target) or type(layer.weight) is not nn.Parameter else layer


def _merge(graph: Graph, ctx: Context, group: Sequence[Node]) -> None:
    layers = [ctx.submodule(node) for node in group]
    path = ctx.add_module(f"{group[0].target}_merged", _joined(layers))
    first = group[0]
    with graph.inserting_before(first):
        whole = graph.call_module(path, first.args)
        sizes = [layer.out_features for layer in layers]  # type: ignore[union-attr]
        parts = graph.call_function(torch.split, (whole, sizes, -1))
        made = [graph.call_function(operator.getitem, (parts, index)) for index in range(len(group))]
    inherit([whole, parts], [], first, MergeLinear.name)
    for node, part in zip(group, made, strict=True):
        result = part
        if not all(_keeps_layout(user, ctx) for user in node.users):
            with graph.inserting_before(part.next):
                result = graph.call_method("contiguous", (part,))
        inherit(dict.fromkeys((part, result)), [(node, result)], node, MergeLinear.name)
        node.replace_all_uses_with(result)
        graph.erase_node(node)
    for target in dict.fromkeys(node.target for node in group):
        ctx.drop_unused(target)


def _keeps_layout(user: Node, ctx: Context) -> bool:
    if user.op == "call_module":
        return type(ctx.submodule(user)) in _LAYERS
    if user.op == "call_method":
        return user.target in _METHODS and is_tensor_method(str(user.target))
    return user.op == "call_function" and user.target in _KEEP_LAYOUT


def _joined(layers: Sequence[nn.Module | None]) -> nn.Linear:
    linear = [layer for layer in layers if isinstance(layer, nn.Linear)]
    one = linear[0]
    width = sum(layer.out_features for layer in linear)
    joined = nn.Linear(one.in_features, width, one.bias is not None, device="meta", dtype=one.weight.dtype)
    weights = torch.cat([layer.weight.detach() for layer in linear])
    joined.weight = nn.Parameter(weights, requires_grad=one.weight.requires_grad)
    if one.bias is not None:
        biases = torch.cat([layer.bias.detach() for layer in linear])
        joined.bias = nn.Parameter(biases, requires_grad=one.bias.requires_grad)
    return joined.train(one.training)
