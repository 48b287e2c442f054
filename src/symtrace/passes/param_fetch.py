"""Settings of called layers as data on their nodes, for compilers that read nodes alone."""

from __future__ import annotations

from typing import Any

from torch import nn

from ..ir import Node
from ..rewrite.sources import check_graph_module
from ..runtime import GraphModule
from .core import graphs_of

__all__ = ["extract_attrs_for_lowering", "lift_lowering_attrs_to_nodes"]

_CONVOLUTION = ("weight", "bias", "kernel_size", "stride", "padding", "dilation", "groups", "padding_mode")
_NORM = ("weight", "bias", "running_mean", "running_var", "eps")
_POOL = ("kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode")

_ATTRIBUTES: dict[type[nn.Module], tuple[str, ...]] = {
    nn.Linear: ("weight", "bias"),
    nn.Conv1d: _CONVOLUTION,
    nn.Conv2d: _CONVOLUTION,
    nn.Conv3d: _CONVOLUTION,
    nn.BatchNorm1d: _NORM,
    nn.BatchNorm2d: _NORM,
    nn.BatchNorm3d: _NORM,
    nn.LayerNorm: ("weight", "bias", "normalized_shape", "eps"),
    nn.GroupNorm: ("weight", "bias", "num_groups", "eps"),
    nn.Embedding: ("weight", "padding_idx", "max_norm"),
    nn.ReLU: ("inplace",),
    nn.ReLU6: ("inplace",),
    nn.MaxPool1d: _POOL,
    nn.MaxPool2d: _POOL,
    nn.MaxPool3d: _POOL,
    nn.AvgPool2d: ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override"),
    nn.AdaptiveAvgPool2d: ("output_size",),
    nn.Dropout: ("p", "inplace"),
}


def extract_attrs_for_lowering(mod: nn.Module) -> dict[str, Any]:
    """Return the settings and weights of a layer, with its name; empty for a class that is not known.

    Args:
        mod: A layer.
    """
    names = _ATTRIBUTES.get(type(mod))
    if names is None:
        return {}
    return {"name": f"{type(mod).__module__}.{type(mod).__qualname__}", **{n: getattr(mod, n) for n in names}}


def lift_lowering_attrs_to_nodes(fx_module: GraphModule) -> None:
    """Note in `node.attrs_for_lowering` the settings and weights of each layer that a node calls.

    Args:
        fx_module: Module to look at; graph modules in it are looked at too.
    """
    check_graph_module(fx_module, "fx_module")
    for node in (node for graph in graphs_of(fx_module) for node in graph.nodes):
        if node.op != "call_module":
            continue
        module = fx_module.get_submodule(node.target)
        if isinstance(module, GraphModule):
            lift_lowering_attrs_to_nodes(module)
        else:
            _note(node, extract_attrs_for_lowering(module))


def _note(node: Node, attributes: dict[str, Any]) -> None:
    node.attrs_for_lowering = attributes  # type: ignore[attr-defined]
