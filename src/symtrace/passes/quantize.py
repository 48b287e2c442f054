"""Quantisation of linear layers to eight bits."""

from __future__ import annotations

import copy
import fnmatch
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import nn

from ..ops.module_effects import is_hooked
from ..rewrite.sources import graph_of
from ..runtime import Graph, GraphModule
from .core import Context, Pass, graphs_of

__all__ = ["Int8WeightLinear", "QuantizeDynamic", "QuantizeWeights", "quantize_dynamic", "quantize_weights"]


class Int8WeightLinear(nn.Module):
    """A linear layer whose weight is stored in eight bits, with a scale for each output.

    Args:
        weight: The weight, in floating point.
        bias: The bias, or None.

    >>> layer = Int8WeightLinear(torch.eye(2), None)
    >>> layer(torch.ones(1, 2))
    tensor([[1., 1.]])
    """

    weight: torch.Tensor
    scale: torch.Tensor

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None) -> None:
        super().__init__()
        self.out_features, self.in_features = weight.shape
        limit = weight.detach().abs().amax(dim=1, keepdim=True).clamp(min=torch.finfo(weight.dtype).tiny)
        scale = limit / 127
        self.register_buffer("weight", torch.round(weight.detach() / scale).to(torch.int8))
        self.register_buffer("scale", scale)
        self.bias = None if bias is None else nn.Parameter(bias.detach().clone(), requires_grad=False)

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Multiply by the weight in the precision of the scale, and add the bias."""
        return F.linear(input, self.weight.to(self.scale.dtype) * self.scale, self.bias)

    def extra_repr(self) -> str:
        """Show the sizes."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"
        )


@dataclass(frozen=True)
class QuantizeDynamic(Pass):
    """Let linear layers compute in eight bits: weights are quantised now, inputs at each call.

    The layers become torch's own `torch.ao.nn.quantized.dynamic.Linear`, which run on CPU. They approximate, so that
    results differ by the rounding to eight bits.

    Attributes:
        layers: Only layers whose path matches this pattern of the shell, such as `encoder.*`.
        min_size: Only layers with at least as many weights.
    """

    name: ClassVar[str] = "quantize-dynamic"
    changes_state: ClassVar[bool] = True
    evaluation_only: ClassVar[bool] = True
    layers: str = "*"
    min_size: int = 0

    def run(self, graph: Graph, ctx: Context) -> bool:
        """Replace the layers."""
        return _replace_linear(
            graph, ctx, self.layers, self.min_size, _dynamic, "linear layers were quantised"
        )


@dataclass(frozen=True)
class QuantizeWeights(Pass):
    """Store the weights of linear layers in eight bits; arithmetic stays in floating point.

    Attributes:
        layers: Only layers whose path matches this pattern of the shell, such as `encoder.*`.
        min_size: Only layers with at least as many weights.
    """

    name: ClassVar[str] = "quantize-weights"
    changes_state: ClassVar[bool] = True
    evaluation_only: ClassVar[bool] = True
    layers: str = "*"
    min_size: int = 0

    def run(self, graph: Graph, ctx: Context) -> bool:
        """Replace the layers."""
        return _replace_linear(graph, ctx, self.layers, self.min_size, _weights, "weights were quantised")


def _dynamic(layer: nn.Linear) -> nn.Module:
    own = copy.deepcopy(layer)
    with warnings.catch_warnings():  # torch warns at each use that torch.ao is to move to torchao
        warnings.simplefilter("ignore")
        own.qconfig = torch.ao.quantization.default_dynamic_qconfig  # type: ignore[assignment]
        made: nn.Module = torch.ao.nn.quantized.dynamic.Linear.from_float(own)  # type: ignore[no-untyped-call]
    return made.train(layer.training)


def _weights(layer: nn.Linear) -> nn.Module:
    return Int8WeightLinear(layer.weight, layer.bias).train(layer.training)


def _replace_linear(graph: Graph, ctx: Context, layers: str, least: int, make: Any, what: str) -> bool:
    made: dict[int, tuple[nn.Module, nn.Module]] = {}
    changed = False
    for node in graph.nodes:
        layer = ctx.submodule(node)
        if type(layer) is not nn.Linear or is_hooked(layer) or not fnmatch.fnmatchcase(node.target, layers):
            continue
        if layer.weight.numel() < least or not layer.weight.is_floating_point():
            continue
        if id(layer) not in made:
            if _is_read(ctx.module, node.target):
                ctx.remark(node, "its weight is read elsewhere too")
                continue
            made[id(layer)] = (
                layer,
                make(layer),
            )  # the layer lives on, so that its identity is not given away
        ctx.module.add_submodule(node.target, made[id(layer)][1])
        changed = True
    if changed:
        ctx.specialise(what)
    return changed


def _is_read(module: GraphModule, path: str) -> bool:
    reads = (node.target for graph in graphs_of(module) for node in graph.nodes if node.op == "get_attr")
    return any(target.startswith(f"{path}.") for target in reads)


def quantize_dynamic(model: Any, *, layers: str = "*", min_size: int = 0) -> GraphModule:
    """Return a copy of a model whose linear layers compute in eight bits; see `QuantizeDynamic`.

    Args:
        model: A GraphModule; any other module is captured first. It is left as it is.
        layers: Only layers whose path matches this pattern of the shell.
        min_size: Only layers with at least as many weights.

    Raises:
        TraceError: The model can't be captured.
    """
    return _quantized(model, QuantizeDynamic(layers, min_size))


def quantize_weights(model: Any, *, layers: str = "*", min_size: int = 0) -> GraphModule:
    """Return a copy of a model whose linear layers store their weights in eight bits; see `QuantizeWeights`.

    Args:
        model: A GraphModule; any other module is captured first. It is left as it is.
        layers: Only layers whose path matches this pattern of the shell.
        min_size: Only layers with at least as many weights.

    Raises:
        TraceError: The model can't be captured.
    """
    return _quantized(model, QuantizeWeights(layers, min_size))


def _quantized(model: Any, run: Pass) -> GraphModule:
    if isinstance(model, GraphModule):
        gm = copy.deepcopy(model)
    else:
        _, traced = graph_of("model", model)
        assert isinstance(traced, GraphModule)
        gm = traced
    run(gm)
    return gm
