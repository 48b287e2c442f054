"""Folding batch normalisation into the convolution or linear layer in front of it, for inference."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

from ..analysis import known_ranks, rank_of, single_pixels
from ..ir import Node
from ..ops.module_effects import is_hooked
from ..rewrite.inherit import inherit
from ..rewrite.sources import check_graph_module
from ..runtime import Graph, GraphModule
from .core import Context, Pass, graphs_of
from .errors import PassError
from .functional_norm import as_layer
from .references import References

__all__ = ["FuseConvBatchNorm", "fuse_conv_bn", "is_only_user", "replace_layer"]

_PAIRS: dict[type, tuple[type, ...]] = {
    nn.BatchNorm1d: (nn.Conv1d, nn.ConvTranspose1d),
    nn.BatchNorm2d: (nn.Conv2d, nn.ConvTranspose2d),
    nn.BatchNorm3d: (nn.Conv3d, nn.ConvTranspose3d),
}
_RANKS = {nn.BatchNorm1d: 3, nn.BatchNorm2d: 4, nn.BatchNorm3d: 5}
_TRANSPOSED = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)


@dataclass(frozen=True)
class FuseConvBatchNorm(Pass):
    """Fold each batch normalisation into the convolution or linear layer that feeds it; see `fuse_conv_bn`.

    Attributes:
        eval_only: Leave alone the pairs that are in training mode; else they are folded with the statistics that
            they have.
        keep_layout: Leave alone the pairs whose value has one pixel or one channel. Such a value is channels-last and
            contiguous at once; a convolution calls it the first and a normalisation the second, and what follows goes
            on in that layout: in other strides, and not always faster.
    """

    name: ClassVar[str] = "fuse-conv-bn"
    changes_state: ClassVar[bool] = True
    evaluation_only: ClassVar[bool] = True
    eval_only: bool = True
    keep_layout: bool = False

    def run(self, graph: Graph, ctx: Context) -> bool:
        """Fold them."""
        pairs = _pairs(ctx, graph)
        if self.eval_only:
            for pair in pairs:
                if pair.norm.op == "call_module" and ctx.is_training(pair.norm):
                    ctx.remark(pair.norm, "it is in training mode")
            pairs = [pair for pair in pairs if not pair.trains(ctx)]
        if self.keep_layout:
            pixels = single_pixels(graph)
            for pair in pairs:
                if pair.settles_layout(pixels):
                    ctx.remark(pair.norm, "the layout of what follows is settled by it")
            pairs = [pair for pair in pairs if not pair.settles_layout(pixels)]
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
        pairs = _pairs(ctx, graph)
        for pair in pairs:
            trains = [node for node in (pair.layer, pair.norm) if _trains(ctx, node)]
            if trains:
                raise PassError("ST235", module=trains[0].target)
        found.append((graph, pairs))
    for graph, pairs in found:
        _fuse_all(gm, graph, pairs)
    return any(pairs for _, pairs in found)


@dataclass(frozen=True, eq=False)
class _Pair:
    """A layer and the normalisation behind it, which can be made one.

    Attributes:
        layer: The node that calls the layer.
        norm: The node that normalises its value: a layer, or a call of `batch_norm`.
        module: The normalisation as a layer.
    """

    layer: Node
    norm: Node
    module: nn.Module

    def trains(self, ctx: Context) -> bool:
        """Return whether either of them is in training mode."""
        return _trains(ctx, self.layer) or _trains(ctx, self.norm)

    def settles_layout(self, pixels: set[Node]) -> bool:
        """Return whether the layout of the value hangs on the normalisation, given what has a single pixel."""
        if isinstance(self.module, nn.BatchNorm1d):
            return False
        return self.norm in pixels or bool(self.module.num_features == 1)


def _trains(ctx: Context, node: Node) -> bool:
    return node.op == "call_module" and ctx.is_training(node)


def _pairs(ctx: Context, graph: Graph) -> list[_Pair]:
    ranks = known_ranks(graph)
    return [pair for node in graph.nodes if (pair := _pair(ctx, graph, ranks, node)) is not None]


def _pair(ctx: Context, graph: Graph, ranks: dict[Node, int], norm: Node) -> _Pair | None:
    """Return the layer and the normalisation if they can be fused."""
    layer: Any = norm.args[0] if norm.args else norm.kwargs.get("input")
    if not isinstance(layer, Node) or layer.op != "call_module":
        return None
    if not is_only_user(norm, layer):
        return None
    first = ctx.module.get_submodule(layer.target)
    if norm.op == "call_module":
        second = ctx.module.get_submodule(norm.target) if norm.all_input_nodes == [layer] else None
    else:
        second = as_layer(norm, first, ctx) if norm.op == "call_function" else None
    if type(second) not in _PAIRS or second.running_mean is None or second.running_var is None:  # type: ignore[union-attr]
        return None
    is_linear = type(first) is nn.Linear and type(second) is nn.BatchNorm1d and rank_of(layer, ranks) == 2
    if not is_linear and type(first) not in _PAIRS[type(second)]:  # type: ignore[index]
        return None
    if norm.op == "call_function" and not is_linear and rank_of(layer, ranks) != _RANKS[type(second)]:  # type: ignore[index]
        return None  # without a batch, another dimension is normalised
    if isinstance(first, _TRANSPOSED) and first.groups != 1:
        return None
    if is_hooked(first) or is_hooked(second) or ctx.may_change(layer.target):  # type: ignore[arg-type]
        return None
    if norm.op == "call_module" and ctx.may_change(norm.target):
        return None
    if not ctx.effects(graph).may_move(norm, layer.next, ()):
        return None
    return _Pair(layer, norm, second)  # type: ignore[arg-type]


def is_only_user(
    node: Node, layer: Node, questions: tuple[str, ...] = ("dim", "ndim", "size", "shape")
) -> bool:
    """Return whether nothing but a node uses the value of a layer, apart from questions about its shape.

    Args:
        node: The node.
        layer: The node that calls the layer.
        questions: Which ones; by default those that have the same answer for the value of `node`.
    """
    return all(user is node or _asks(user, questions) for user in layer.users)


def _asks(node: Node, questions: tuple[str, ...]) -> bool:
    if node.op == "call_method":
        return node.target in questions and len(node.all_input_nodes) == 1
    return node.target is getattr and node.args[1] in questions


def _fuse_all(gm: GraphModule, graph: Graph, pairs: list[_Pair]) -> None:
    references = References(gm.graph)
    for pair in pairs:
        layer, norm = pair.layer, pair.norm
        first = gm.get_submodule(layer.target)
        with torch.no_grad():
            replace_layer(gm, layer, _fused(first, pair.module), references)
        inherit([layer], [(norm, layer)], layer, "fuse-conv-bn")
        others = [node for node in norm.all_input_nodes if node is not layer]
        norm.replace_all_uses_with(layer)
        graph.erase_node(norm)
        if norm.op == "call_function":
            for node in others:
                if not node.users:
                    references.remove(node.target)
                    graph.erase_node(node)
            continue
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
