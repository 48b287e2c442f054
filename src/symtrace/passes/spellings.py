"""One spelling for calls that mean the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import nn

from ..ir import Node
from ..ops import signatures_of
from ..ops.canonical import head_of
from ..runtime import Graph
from .core import Context, Pass
from .normalize import NormalizeOperators, _two_operands

__all__ = ["NormalizeSpellings"]

_PLAIN = frozenset(dir(list)) | frozenset(dir(str)) | frozenset(dir(dict)) | frozenset(dir(tuple))


@dataclass(frozen=True)
class NormalizeSpellings(Pass):
    """Spell calls that mean the same the same way, for people and for patterns that look at targets.

    Methods of what is known to be a tensor become functions (`x.relu()` is `torch.relu(x)`), functional forms become
    those of torch (`F.relu(x)` too), and arithmetic becomes operators (`torch.add(x, y)` is `x + y`).
    """

    name: ClassVar[str] = "normalize"

    def run(self, graph: Graph, ctx: Context) -> bool:
        """Spell them."""
        tensors: set[Node] = set()
        changed = False
        for node in list(graph.nodes):
            changed = _respell(graph, node, tensors) or changed
            if _gives_tensor(node, tensors, ctx):
                tensors.add(node)
        return changed


def _respell(graph: Graph, node: Node, tensors: set[Node]) -> bool:
    changed = False
    if node.op == "call_method" and node.args and node.args[0] in tensors:
        function = getattr(torch, node.target, None)
        plain = not any(_takes_list(function, index) for index in range(1, len(node.args)))
        if plain and node.target not in _PLAIN and _is_same(node, function) and "self" not in node.kwargs:
            node.op, node.target = "call_function", function
            changed = True
    if node.op == "call_function" and node.target in _FUNCTIONAL:
        kwargs = dict(node.kwargs)
        if kwargs.pop("inplace", False) is False and not kwargs and len(node.args) == 1:
            node.target, node.kwargs = _FUNCTIONAL[node.target], {}
            changed = True
    remap = NormalizeOperators.binary_magic_method_remap
    if node.op == "call_function" and node.target in remap:
        operands = _two_operands(node)
        if operands is not None and isinstance(operands[0], Node):
            node.target, node.args, node.kwargs = remap[node.target], operands, {}
            changed = True
    return changed


def _is_same(node: Node, function: Any) -> bool:
    """Return whether a method is a function of torch that takes the same arguments."""
    if function is None or not signatures_of(function):
        return False
    return head_of("call_method", node.target, False) == head_of("call_function", function, False)


def _takes_list(function: Any, index: int) -> bool:
    """Return whether an argument is a list of numbers, which methods take one by one too: `x.reshape(2, 3)`."""
    for signature in signatures_of(function) if function is not None else ():
        positional = signature.positional
        if index >= len(positional) or "List" in str(positional[index].type):
            return True
    return False


def _gives_tensor(node: Node, tensors: set[Node], ctx: Context) -> bool:
    kind = node.meta.get("type")
    if hasattr(node.meta.get("tensor_meta"), "dtype") or (
        isinstance(kind, type) and issubclass(kind, torch.Tensor)
    ):
        return True
    if node.op == "placeholder":
        return isinstance(node.type, type) and issubclass(node.type, torch.Tensor)
    if node.op == "get_attr":
        return ctx.value(node) is not None
    if node.op == "call_module":
        module = ctx.submodule(node)
        return type(module) in _LAYERS
    if node.op == "call_method" and not (node.args and node.args[0] in tensors):
        return False
    if node.op not in ("call_function", "call_method"):
        return False
    if node.target in _FUNCTIONAL:
        return True
    if node.op == "call_function" and getattr(node.target, "__module__", "") == "_operator":
        binary = node.target in NormalizeOperators.binary_magic_method_remap.values()
        return binary and any(used in tensors for used in node.all_input_nodes)
    signatures = signatures_of(node.target) if callable(node.target) else _method_signatures(node.target)
    return bool(signatures) and all(s.text.endswith("-> Tensor") for s in signatures)


def _method_signatures(name: str) -> Any:
    function = getattr(torch, name, None)
    return signatures_of(function) if function is not None else ()


_FUNCTIONAL: dict[Any, Any] = {
    getattr(F, name): getattr(torch, name)
    for name in ("relu", "selu", "sigmoid", "tanh")
    if hasattr(torch, name) and getattr(F, name) is not getattr(torch, name)
}

_LAYERS = (
    nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.LayerNorm,
    nn.GroupNorm, nn.ReLU, nn.Sigmoid, nn.Tanh, nn.GELU, nn.SiLU, nn.Embedding, nn.Dropout, nn.Flatten,
    nn.AvgPool2d, nn.AdaptiveAvgPool2d,
)  # fmt: skip
"""Layers whose result is one tensor."""
