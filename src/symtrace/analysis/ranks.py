"""How many dimensions values have, as far as the program itself tells."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import nn

from ..ir import Graph, Node
from ..ops import program
from ..ops.module_effects import is_hooked

__all__ = ["known_ranks", "rank_of"]

_WANTED = {nn.BatchNorm2d: 4, nn.BatchNorm3d: 5}
"""Layers that refuse values of another rank."""

_KEEPING_MODULES: tuple[type, ...] = (
    *(nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d),
    *(nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.LayerNorm, nn.GroupNorm, nn.Linear, nn.Identity),
    *(nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout, nn.LocalResponseNorm),
    *(nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d, nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d),
    *(nn.Upsample, nn.PixelShuffle, nn.PixelUnshuffle, nn.ZeroPad2d, nn.ReflectionPad2d, nn.ReplicationPad2d),
    *(nn.ReLU, nn.ReLU6, nn.GELU, nn.SiLU, nn.Mish, nn.ELU, nn.CELU, nn.SELU, nn.LeakyReLU, nn.PReLU, nn.Sigmoid),
    *(nn.Tanh, nn.Hardswish, nn.Hardsigmoid, nn.Hardtanh, nn.LogSigmoid, nn.Softplus, nn.Softsign, nn.Softmax),
)  # fmt: skip

_KEEPING_NAMES = frozenset({
    "relu", "relu_", "relu6", "gelu", "silu", "mish", "elu", "celu", "selu", "leaky_relu", "prelu", "sigmoid",
    "sigmoid_", "tanh", "tanh_", "hardswish", "hardsigmoid", "hardtanh", "logsigmoid", "softplus", "softsign",
    "softmax", "log_softmax", "batch_norm", "layer_norm", "group_norm", "dropout", "dropout2d",
    "alpha_dropout", "interpolate", "avg_pool1d", "avg_pool2d", "avg_pool3d", "adaptive_avg_pool1d",
    "adaptive_avg_pool2d", "adaptive_avg_pool3d", "conv1d", "conv2d", "conv3d", "linear", "clone",
    "contiguous", "detach", "clamp", "clamp_", "permute", "transpose", "flip", "roll", "exp", "log", "neg",
    "abs", "sqrt", "rsqrt", "sin", "cos", "erf", "float", "half", "to", "type_as", "masked_fill",
    "pixel_shuffle", "pad", "local_response_norm",
})  # fmt: skip
"""Functions and methods whose value has the rank of their first operand."""

_BINARY = frozenset({
    "add", "add_", "sub", "sub_", "mul", "mul_", "div", "div_", "truediv", "true_divide", "iadd", "isub",
    "imul", "itruediv", "maximum", "minimum", "pow",
})  # fmt: skip


def known_ranks(graph: Graph) -> dict[Node, int]:
    """Return the number of dimensions of the values of which it follows from the program.

    That is so for what a guard or an assertion asks, for what a layer accepts, and for what is computed from such
    values by operators that keep it.

    Args:
        graph: The graph.

    Cost: linear.
    """
    ranks: dict[Node, int] = {}
    for node in graph.nodes:
        asked = _asked(node)
        if asked is not None:
            ranks[asked[0]] = asked[1]
        layer = _layer(node)
        wanted = _WANTED.get(type(layer))
        if wanted is not None and node.args and isinstance(node.args[0], Node) and not is_hooked(layer):
            ranks[node.args[0]] = wanted
    for node in graph.nodes:
        if node not in ranks:
            rank = _rank(node, ranks)
            if rank is not None:
                ranks[node] = rank
    return ranks


def rank_of(node: Node, ranks: dict[Node, int]) -> int | None:
    """Return the number of dimensions of a value, if the program or example shapes tell.

    Args:
        node: The node that computes it.
        ranks: What `known_ranks` gives.
    """
    if node in ranks:
        return ranks[node]
    for key in ("tensor_meta", "val"):
        shape = getattr(node.meta.get(key), "shape", None)
        if shape is not None:
            return len(shape)
    return None


def _layer(node: Node) -> Any:
    if node.op != "call_module":
        return None
    found = node.graph.owning_module
    for atom in str(node.target).split("."):
        found = getattr(found, atom, None)
    return found


def _asked(node: Node) -> tuple[Node, int] | None:
    """Return the value whose rank a guard or an assertion asks, and the rank."""
    if node.op != "call_function" or not node.args:
        return None
    question: Any = node.args[0]
    if node.target is program.guard:
        wanted = node.args[1]
    elif node.target is torch._assert and _calls(question, operator.eq) and len(question.args) == 2:
        question, wanted = question.args
    else:
        return None
    if type(wanted) is not int or not isinstance(question, Node) or not question.args:
        return None
    subject = question.args[0]
    is_method = (
        question.op == "call_method" and question.target in ("dim", "ndimension") and len(question.args) == 1
    )
    is_read = _calls(question, getattr) and question.args[1:] == ("ndim",)
    return (subject, wanted) if (is_method or is_read) and isinstance(subject, Node) else None


def _calls(value: Any, function: Any) -> bool:
    return isinstance(value, Node) and value.op == "call_function" and value.target is function


def _rank(node: Node, ranks: dict[Node, int]) -> int | None:
    first: Any = node.args[0] if node.args else None
    if node.op == "call_module":
        return ranks.get(first) if type(_layer(node)) in _KEEPING_MODULES else None
    if node.op == "call_method":
        name = str(node.target)
    elif node.op == "call_function":
        name = getattr(node.target, "__name__", "")
        owner = getattr(node.target, "__module__", None) or ""
        if (
            owner not in ("_operator", "torch.nn.functional", "torch._C._nn")
            and getattr(torch, name, None) is not node.target
        ):
            return None
    else:
        return None
    if name in _KEEPING_NAMES:
        return ranks.get(first) if isinstance(first, Node) else None
    if name in _BINARY and not node.kwargs:
        found = [ranks.get(value) if isinstance(value, Node) else 0 for value in node.args[:2]]
        return max(found) if found and None not in found else None  # type: ignore[type-var]
    return None
