"""Folding batch normalisation into the convolution or linear layer in front of it, for inference."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

from ..analysis import EffectAnalysis
from ..ir import Node
from ..ops.module_effects import is_hooked
from ..rewrite.inherit import inherit
from ..rewrite.sources import check_graph_module
from ..runtime import Graph, GraphModule
from .core import Context, Pass, graphs_of
from .errors import PassError
from .references import References

__all__ = ["FuseConvBatchNorm", "fuse_conv_bn", "rank_of", "replace_layer"]

_PAIRS: dict[type, tuple[type, ...]] = {
    nn.BatchNorm1d: (nn.Conv1d, nn.ConvTranspose1d),
    nn.BatchNorm2d: (nn.Conv2d, nn.ConvTranspose2d),
    nn.BatchNorm3d: (nn.Conv3d, nn.ConvTranspose3d),
}
_TRANSPOSED = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)


@dataclass(frozen=True)
class FuseConvBatchNorm(Pass):
    """Fold each batch normalisation into the convolution or linear layer that feeds it; see `fuse_conv_bn`.

    Attributes:
        eval_only: Leave alone the pairs that are in training mode; else they are folded with the statistics that
            they have.
    """

    name: ClassVar[str] = "fuse-conv-bn"
    changes_state: ClassVar[bool] = True
    evaluation_only: ClassVar[bool] = True
    eval_only: bool = True

    def run(self, graph: Graph, ctx: Context) -> bool:
        """Fold them."""
        pairs = _pairs(ctx.module, graph, ctx.effects(graph))
        if self.eval_only:
            for _, norm in pairs:
                if ctx.is_training(norm):
                    ctx.remark(norm, "it is in training mode")
            pairs = [pair for pair in pairs if not any(map(ctx.is_training, pair))]
        pairs = [pair for pair in pairs if not any(ctx.may_change(node.target) for node in pair)]
        _fuse_all(ctx.module, graph, pairs)
        if pairs:
            ctx.specialise("batch normalisation was folded")
        return bool(pairs)


def fuse_conv_bn(gm: GraphModule) -> bool:
    """Fold each batch normalisation of a module into the layer in front of it.

    Fused are pairs of a convolution, or a linear layer whose result is known to have two dimensions, and a
    batch normalisation that nothing else sees the result between. The fused layer is a copy: a layer that is
    called elsewhere too, or that is known under another name, stays as it is there.

    Args:
        gm: Module to change; in evaluation mode.

    Returns:
        Whether anything was fused.

    Raises:
        ArgumentError: `gm` is no GraphModule (ST112).
        PassError: A pair is in training mode (ST235); nothing is changed.
    """
    check_graph_module(gm)
    ctx = Context(gm)
    found = []
    for graph in graphs_of(gm):
        pairs = _pairs(gm, graph, EffectAnalysis(graph))
        pairs = [pair for pair in pairs if not any(ctx.may_change(node.target) for node in pair)]
        for node in (node for pair in pairs for node in pair):
            if gm.get_submodule(node.target).training:
                raise PassError("ST235", module=node.target)
        found.append((graph, pairs))
    for graph, pairs in found:
        _fuse_all(gm, graph, pairs)
    return any(pairs for _, pairs in found)


def _pairs(gm: GraphModule, graph: Graph, analysis: EffectAnalysis) -> list[tuple[Node, Node]]:
    return [pair for node in graph.nodes if (pair := _pair(gm, analysis, node)) is not None]


def _pair(gm: GraphModule, analysis: EffectAnalysis, norm: Node) -> tuple[Node, Node] | None:
    """Return the layer and the normalisation if they can be fused."""
    if norm.op != "call_module" or len(norm.all_input_nodes) != 1:
        return None
    layer = norm.all_input_nodes[0]
    if layer.op != "call_module" or len(layer.users) != 1:
        return None
    first, second = gm.get_submodule(layer.target), gm.get_submodule(norm.target)
    if type(second) not in _PAIRS or second.running_mean is None or second.running_var is None:
        return None
    is_linear = type(first) is nn.Linear and type(second) is nn.BatchNorm1d and rank_of(layer) == 2
    if not is_linear and type(first) not in _PAIRS[type(second)]:
        return None
    if isinstance(first, _TRANSPOSED) and first.groups != 1:
        return None
    if is_hooked(first) or is_hooked(second) or not analysis.may_move(norm, layer.next, ()):
        return None
    return layer, norm


def rank_of(node: Node) -> int | None:
    """Return the number of dimensions of the value of a node, if example shapes tell."""
    for key in ("tensor_meta", "val"):
        shape = getattr(node.meta.get(key), "shape", None)
        if shape is not None:
            return len(shape)
    return None


def _fuse_all(gm: GraphModule, graph: Graph, pairs: list[tuple[Node, Node]]) -> None:
    references = References(gm.graph)
    for layer, norm in pairs:
        first, second = gm.get_submodule(layer.target), gm.get_submodule(norm.target)
        with torch.no_grad():
            replace_layer(gm, layer, _fused(first, second), references)
        inherit([layer], [(norm, layer)], layer, "fuse-conv-bn")
        norm.replace_all_uses_with(layer)
        graph.erase_node(norm)
        references.remove(norm.target)
        if not references.count(norm.target):
            gm.delete_submodule(norm.target)


def _fused(first: Any, second: Any) -> nn.Module:
    """Return a layer that does what both do in evaluation mode; it is in the mode of the first."""
    fused: Any
    layer, norm = (copy.copy(module) for module in (first, second))
    layer.training = norm.training = False
    if isinstance(first, nn.Linear):
        fused = fuse_linear_bn_eval(layer, norm)
    else:
        fused = fuse_conv_bn_eval(layer, norm, transpose=isinstance(first, _TRANSPOSED))
    fused.training = first.training
    return fused  # type: ignore[no-any-return]


def replace_layer(gm: GraphModule, node: Node, layer: nn.Module, references: References) -> None:
    """Let one node call another layer: at the same path, or at one of its own if others refer to that path.

    Args:
        gm: The module.
        node: The node that calls the layer.
        layer: What it is to call.
        references: Who refers to which path; kept up to date.
    """
    path = node.target
    if references.count(path) > 1:
        path = _free_path(gm, path)
        references.remove(node.target)
        references.add(path)
    gm.add_submodule(path, layer)
    node.target = path


def _free_path(gm: GraphModule, path: str) -> str:
    parent, _, name = path.rpartition(".")
    owner = gm.get_submodule(parent)
    number = 1
    while hasattr(owner, f"{name}_fused_{number}"):
        number += 1
    found = f"{name}_fused_{number}"
    return f"{parent}.{found}" if parent else found
