"""Folding constant factors and offsets, and pointwise convolutions, into the convolution in front of them."""

from __future__ import annotations

import copy
import operator
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import nn

from ..analysis import known_ranks, rank_of
from ..ir import Node
from ..ops import program
from ..ops.module_effects import is_hooked
from ..rewrite.inherit import inherit
from ..runtime import Graph
from .core import Context, Pass
from .fuse_conv_bn import is_only_user, replace_layer
from .references import References

__all__ = ["FuseConvConv", "FuseConvScale"]

_CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
_LAYERS = (*_CONVOLUTIONS, nn.Linear)
_FACTORS = frozenset({operator.mul, operator.imul, torch.mul, torch.multiply})
_QUOTIENTS = frozenset({operator.truediv, operator.itruediv, torch.div, torch.divide, torch.true_divide})
_SUMS = frozenset({operator.add, operator.iadd, torch.add})
_Scaled = tuple[Node, Any, Any, int | None]
_DIFFERENCES = frozenset({operator.sub, operator.isub, torch.sub, torch.subtract})


@dataclass(frozen=True)
class FuseConvScale(Pass):
    """Fold a constant factor or offset into the convolution or linear layer in front of it.

    Constants are numbers, and parameters or buffers with one value or one value for each channel that nothing in
    the program writes to. The layer is a copy where others use it too. A constant that is loaded from a checkpoint
    later has no effect any more: the pass is for inference.
    """

    name: ClassVar[str] = "fuse-conv-scale"
    changes_state: ClassVar[bool] = True
    evaluation_only: ClassVar[bool] = True

    def run(self, graph: Graph, ctx: Context) -> bool:
        """Fold them, again and again: a factor may stand behind an offset."""
        changed = False
        while found := self._found(graph, ctx):
            references = References(ctx.module.graph)
            for node, (layer, scale, offset, rank) in found:
                module = ctx.submodule(layer)
                assert isinstance(module, nn.Module)
                if rank is not None:
                    _check_rank(graph, layer, rank)
                replace_layer(ctx.module, layer, _with_scale(module, scale, offset), references)
                _take_over(graph, node, layer, self.name)
            changed = True
        if changed:
            ctx.specialise("constants were folded into layers")
        return changed

    def _found(self, graph: Graph, ctx: Context) -> list[tuple[Node, _Scaled]]:
        ranks = known_ranks(graph)
        return [(node, scaled) for node in graph.nodes if (scaled := _scaled(node, ctx, ranks)) is not None]


def _take_over(graph: Graph, node: Node, layer: Node, step: str) -> None:
    """Give the users of `node` the value of `layer`, and erase what is no longer used."""
    others = [used for used in node.all_input_nodes if used is not layer]
    inherit([layer], [(node, layer)], layer, step)
    node.replace_all_uses_with(layer)
    graph.erase_node(node)
    for other in others:
        if not other.users and other.op == "get_attr":
            graph.erase_node(other)


def _check_rank(graph: Graph, layer: Node, rank: int) -> None:
    """Have the program check how many dimensions the value of a layer has."""
    with graph.inserting_after(layer):
        dim = graph.call_method("dim", (layer,))
    with graph.inserting_after(dim):
        graph.call_function(program.guard, (dim, rank, f"{layer}.dim() is {rank}"))


def _scaled(node: Node, ctx: Context, ranks: dict[Node, int]) -> _Scaled | None:
    """Return the layer whose result `node` scales, with factor and offset (one of them None).

    The last item is the number of dimensions that has to be checked, if any.
    """
    if node.op != "call_function" or len(node.args) != 2 or node.kwargs:
        return None
    kinds = (_FACTORS, _QUOTIENTS, _SUMS, _DIFFERENCES)
    kind = next((i for i, kind in enumerate(kinds) if node.target in kind), None)
    if kind is None:
        return None
    left, right = node.args
    layer, other = (left, right)
    if not _is_layer(layer, ctx):
        layer, other = (right, left)
        if kind in (1, 3) or not _is_layer(layer, ctx):
            return None
    if not is_only_user(node, layer):
        return None
    module: Any = ctx.submodule(layer)
    rank = rank_of(layer, ranks)
    constant = _constant(other, module, rank, ctx)
    if constant is not None and kind == 1:
        constant = 1 / constant
    if constant is None or not bool(torch.isfinite(constant).all()):
        return None
    if not ctx.effects(node.graph).may_move(node, layer.next, ()):  # type: ignore[arg-type]
        return None
    needed = None
    held = ctx.value(other) if isinstance(other, Node) else None
    if rank is None and held is not None and held.dim() > module.weight.dim() - 1:
        needed = held.dim()
    if kind in (0, 1):
        return layer, constant, None, needed
    return layer, None, constant if kind == 2 else -constant, needed


def _is_layer(value: Any, ctx: Context) -> bool:
    if not isinstance(value, Node):
        return False
    module = ctx.submodule(value)
    if type(module) not in _LAYERS or is_hooked(module) or len(value.all_input_nodes) != 1:  # type: ignore[arg-type]
        return False
    return not ctx.may_change(value.target)


def _constant(value: Any, module: Any, rank: int | None, ctx: Context) -> torch.Tensor | None:
    """Return a constant as a tensor with one value, or one for each channel of `module`.

    A constant with a dimension for the batch adds one to a value that has none, so that `rank` must be that of a batch,
    or be checked.
    """
    weight = module.weight
    if isinstance(value, int | float) and not isinstance(value, bool):
        return torch.tensor(float(value), dtype=weight.dtype, device=weight.device)
    held = ctx.value(value)
    if held is None or ctx.is_written(value):
        return None
    if held.device != weight.device or (held.dtype != weight.dtype and held.dim()):
        return None
    if not held.is_floating_point():
        return None
    channels = weight.shape[0]
    if held.dim() == 0:
        return held.detach().to(weight.dtype)
    dims = 1 if isinstance(module, nn.Linear) else 1 + len(module.kernel_size)
    shape = tuple(held.shape)
    wanted = (channels, *(1,) * (dims - 1))
    batched = (1, *wanted) if not isinstance(module, nn.Linear) and rank in (None, dims + 1) else wanted
    if shape not in (wanted, batched):
        return None
    return held.detach().reshape(channels)


def _with_scale(module: Any, scale: torch.Tensor | None, offset: torch.Tensor | None) -> nn.Module:
    fused = copy.deepcopy(module)
    weight, bias = module.weight.detach(), module.bias
    channels = weight.shape[0]
    bias = torch.zeros(channels, dtype=weight.dtype, device=weight.device) if bias is None else bias.detach()
    if scale is not None:
        per_channel = scale.reshape(-1, *(1,) * (weight.dim() - 1)) if scale.dim() else scale
        weight, bias = weight * per_channel, bias * scale
    if offset is not None:
        bias = bias + offset
    fused.weight = nn.Parameter(weight.clone(), requires_grad=module.weight.requires_grad)
    if module.bias is not None or offset is not None:
        fused.bias = nn.Parameter(bias.clone(), requires_grad=module.weight.requires_grad)
    return fused  # type: ignore[no-any-return]


@dataclass(frozen=True)
class FuseConvConv(Pass):
    """Make one convolution of a convolution and the pointwise convolution behind it, where that is less work."""

    name: ClassVar[str] = "fuse-conv-conv"
    changes_state: ClassVar[bool] = True
    evaluation_only: ClassVar[bool] = True

    def run(self, graph: Graph, ctx: Context) -> bool:
        """Fold them, again and again: one convolution may stand behind another."""
        changed = False
        while found := self._found(graph, ctx):
            references = References(ctx.module.graph)
            for first, node in found:
                one, other = ctx.submodule(first), ctx.submodule(node)
                replace_layer(ctx.module, first, _joined(one, other), references)
                path = node.target
                _take_over(graph, node, first, self.name)
                references.remove(path)
                if not references.count(path):
                    ctx.module.delete_submodule(path)
            changed = True
        if changed:
            ctx.specialise("convolutions were merged")
        return changed

    def _found(self, graph: Graph, ctx: Context) -> list[tuple[Node, Node]]:
        """Return pairs that can be made one, none of them with a layer of another."""
        analysis = ctx.effects(graph)
        taken: set[Node] = set()
        pairs = []
        for node in graph.nodes:
            first = node.args[0] if len(node.all_input_nodes) == 1 and node.args else None
            if not isinstance(first, Node) or not (_is_layer(node, ctx) and _is_layer(first, ctx)):
                continue
            if (
                not is_only_user(node, first, ("dim", "ndim"))
                or taken & {first, node}
                or first.target == node.target
            ):
                continue
            if _is_pointwise(ctx.submodule(first), ctx.submodule(node)) and analysis.may_move(
                node, first.next, ()
            ):
                taken |= {first, node}
                pairs.append((first, node))
        return pairs


def _is_pointwise(first: Any, second: Any) -> bool:
    """Return whether `second` is a pointwise convolution, and both in one are not more work."""
    if type(first) is not type(second) or type(first) not in _CONVOLUTIONS or first is second:
        return False
    simple = all(size == 1 for size in (*second.kernel_size, *second.stride)) and second.groups == 1
    padded = second.padding == "same" or all(size == 0 for size in _sizes(second.padding))
    if not (simple and padded) or first.groups != 1 or first.weight.dtype != second.weight.dtype:
        return False
    taps = 1
    for size in first.kernel_size:
        taps *= size
    into, between, out = first.in_channels, first.out_channels, second.out_channels
    return bool(into * out * taps <= into * between * taps + between * out)


def _sizes(padding: Any) -> tuple[Any, ...]:
    return () if padding == "valid" else tuple(padding)


def _joined(first: Any, second: Any) -> nn.Module:
    weight = second.weight.detach().flatten(1)
    fused = copy.deepcopy(first)
    fused.out_channels = second.out_channels
    with torch.no_grad():
        product = weight @ first.weight.detach().flatten(1)
        product = product.reshape(second.out_channels, *first.weight.shape[1:])
        bias = None if second.bias is None else second.bias.detach().clone()
        if first.bias is not None:
            shift = weight @ first.bias.detach()
            bias = shift if bias is None else bias + shift
    fused.weight = nn.Parameter(product, requires_grad=first.weight.requires_grad)
    fused.bias = None if bias is None else nn.Parameter(bias, requires_grad=first.weight.requires_grad)
    return fused  # type: ignore[no-any-return]
