"""Folding batch normalisation into the convolution or linear layer in front of it, for inference."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

from ..analysis import EffectAnalysis
from ..ir import Node
from ..rewrite.inherit import inherit
from ..rewrite.sources import check_graph_module
from ..runtime import GraphModule
from .errors import PassError

__all__ = ["fuse_conv_bn"]

_PAIRS: dict[type, type] = {
    nn.BatchNorm1d: nn.Conv1d,
    nn.BatchNorm2d: nn.Conv2d,
    nn.BatchNorm3d: nn.Conv3d,
}


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
    analysis = EffectAnalysis(gm.graph)
    pairs = [pair for node in gm.graph.nodes if (pair := _pair(gm, analysis, node)) is not None]
    for node in (node for pair in pairs for node in pair):
        if gm.get_submodule(node.target).training:
            raise PassError("ST235", module=node.target)
    for layer, norm in pairs:
        _fuse(gm, layer, norm)
    return bool(pairs)


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
    is_linear = type(first) is nn.Linear and type(second) is nn.BatchNorm1d and _rank(layer) == 2
    if not is_linear and type(first) is not _PAIRS[type(second)]:
        return None
    if _is_hooked(first) or _is_hooked(second) or not analysis.may_move(norm, layer.next, ()):
        return None
    return layer, norm


def _rank(node: Node) -> int | None:
    for key in ("tensor_meta", "val"):
        shape = getattr(node.meta.get(key), "shape", None)
        if shape is not None:
            return len(shape)
    return None


def _is_hooked(module: nn.Module) -> bool:
    names = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    return any(getattr(module, name, None) for name in names)


def _fuse(gm: GraphModule, layer: Node, norm: Node) -> None:
    first, second = gm.get_submodule(layer.target), gm.get_submodule(norm.target)
    with torch.no_grad():
        fuse: Any = fuse_linear_bn_eval if isinstance(first, nn.Linear) else fuse_conv_bn_eval
        fused = fuse(first, second)
    path = layer.target
    others = [n for n in gm.graph.nodes if n is not layer and _refers_to(n, path)]
    if others:
        path = _free_path(gm, path)
    gm.add_submodule(path, fused)
    layer.target = path
    inherit([layer], [(norm, layer)], layer, "fuse-conv-bn")
    norm.replace_all_uses_with(layer)
    target = norm.target
    gm.graph.erase_node(norm)
    if not any(_refers_to(node, target) for node in gm.graph.nodes):
        gm.delete_submodule(target)


def _refers_to(node: Node, path: str) -> bool:
    if node.op not in ("call_module", "get_attr"):
        return False
    target = str(node.target)
    return target == path or target.startswith(path + ".") or path.startswith(target + ".")


def _free_path(gm: GraphModule, path: str) -> str:
    parent, _, name = path.rpartition(".")
    owner = gm.get_submodule(parent)
    number = 1
    while hasattr(owner, f"{name}_fused_{number}"):
        number += 1
    found = f"{name}_fused_{number}"
    return f"{parent}.{found}" if parent else found
