"""Which values have a single pixel for each channel, as far as the program tells."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from ..ir import Graph, Node
from ..ops.module_effects import is_hooked
from .training import submodule

__all__ = ["single_pixels"]

_POOLS: tuple[type, ...] = (
    *(nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d),
    *(nn.AdaptiveMaxPool1d, nn.AdaptiveMaxPool2d, nn.AdaptiveMaxPool3d),
)
_POOL_FUNCTIONS = frozenset({
    functional.adaptive_avg_pool1d, functional.adaptive_avg_pool2d, functional.adaptive_avg_pool3d,
    functional.adaptive_max_pool1d, functional.adaptive_max_pool2d, functional.adaptive_max_pool3d,
    torch.adaptive_avg_pool1d, torch.adaptive_max_pool1d,
})  # fmt: skip
_REDUCTIONS = {torch.mean: "mean", torch.sum: "sum", torch.amax: "amax", torch.amin: "amin"}
_SPATIAL = (frozenset({-1, -2}), frozenset({2, 3}), frozenset({-1, -2, -3}), frozenset({2, 3, 4}))
_CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
_KEEPING: tuple[type, ...] = (
    *(nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.GroupNorm, nn.Identity, nn.Dropout, nn.Dropout2d),
    *(nn.ReLU, nn.ReLU6, nn.GELU, nn.SiLU, nn.Mish, nn.ELU, nn.LeakyReLU, nn.PReLU, nn.Sigmoid, nn.Tanh),
    *(nn.Hardswish, nn.Hardsigmoid, nn.Hardtanh),
)
_KEEPING_FUNCTIONS = frozenset({
    torch.relu, torch.relu_, torch.sigmoid, torch.tanh, functional.relu, functional.relu6, functional.gelu,
    functional.silu, functional.mish, functional.elu, functional.leaky_relu, functional.sigmoid,
    functional.hardswish, functional.hardsigmoid, functional.hardtanh, functional.dropout, functional.batch_norm,
})  # fmt: skip
_KEEPING_METHODS = frozenset({"relu", "relu_", "sigmoid", "sigmoid_", "tanh", "clone", "contiguous"})


def single_pixels(graph: Graph) -> set[Node]:
    """Return the nodes whose value is known to have one pixel for each channel.

    That is so for what global pooling gives, and for what is computed from it pixel by pixel.

    Args:
        graph: The graph.

    Cost: linear.
    """
    found: set[Node] = set()
    for node in graph.nodes:
        first: Any = node.args[0] if node.args else None
        if _pools(node) or (first in found and _keeps(node)):
            found.add(node)
    return found


def _layer(node: Node) -> Any:
    found = submodule(node.graph.owning_module, str(node.target))
    return None if found is None or is_hooked(found) else found


def _is_one(size: Any) -> bool:
    return (type(size) is int and size == 1) or (isinstance(size, tuple | list) and all(map(_is_one, size)))


def _pools(node: Node) -> bool:
    if node.op == "call_module":
        layer = _layer(node)
        return type(layer) in _POOLS and _is_one(layer.output_size)
    if node.op == "call_function" and node.target in _POOL_FUNCTIONS:
        return _is_one(node.args[1] if len(node.args) > 1 else node.kwargs.get("output_size"))
    is_method = node.op == "call_method" and node.target in _REDUCTIONS.values()
    if not is_method and not (node.op == "call_function" and node.target in _REDUCTIONS):
        return False
    dims: Any = node.args[1] if len(node.args) > 1 else node.kwargs.get("dim")
    keeps = node.args[2] if len(node.args) > 2 else node.kwargs.get("keepdim", False)
    return keeps is True and isinstance(dims, tuple | list) and frozenset(dims) in _SPATIAL


def _keeps(node: Node) -> bool:
    if node.op == "call_method":
        return node.target in _KEEPING_METHODS
    if node.op == "call_function":
        return node.target in _KEEPING_FUNCTIONS
    layer: Any = _layer(node) if node.op == "call_module" else None
    if type(layer) not in _CONVOLUTIONS:
        return type(layer) in _KEEPING
    sizes = (*layer.kernel_size, *layer.stride)
    return all(size == 1 for size in sizes) and layer.padding in (
        "valid",
        "same",
        (0,) * len(layer.kernel_size),
    )
