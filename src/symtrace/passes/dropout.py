"""Removing dropout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import nn

from ..ir import Node
from ..ops.module_effects import is_hooked
from ..rewrite.sources import check_graph_module
from ..runtime import Graph, GraphModule
from .core import Context, Pass, graphs_of

__all__ = ["RemoveDropout", "remove_dropout"]

_LAYERS = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout, nn.FeatureAlphaDropout)
_FUNCTIONS = (
    F.dropout,
    F.dropout1d,
    F.dropout2d,
    F.dropout3d,
    F.alpha_dropout,
    F.feature_alpha_dropout,
    torch.dropout,
    torch.alpha_dropout,
    torch.feature_alpha_dropout,
)


@dataclass(frozen=True)
class RemoveDropout(Pass):
    """Remove dropout that is switched off: layers in evaluation mode, calls whose `training` is False.

    A call that reads the flag of a module (`F.dropout(x, p, self.training)`) goes as well when the module is in
    evaluation mode. Afterwards `train()` does not bring the dropout back, and warns.

    Attributes:
        eval_only: Leave alone what is in training mode; else it is removed too.
    """

    name: ClassVar[str] = "remove-dropout"
    evaluation_only: ClassVar[bool] = True
    eval_only: bool = True

    def run(self, graph: Graph, ctx: Context) -> bool:
        """Remove it."""
        found = [node for node in graph.nodes if self._is_idle(node, ctx)]
        for node in found:
            given = _operand(node)
            flags = [used for used in node.all_input_nodes if used is not given]
            node.replace_all_uses_with(given)
            graph.erase_node(node)
            for flag in flags:
                if not flag.users:
                    graph.erase_node(flag)
        if found:
            ctx.specialise("dropout was removed")
        return bool(found)

    def _is_idle(self, node: Node, ctx: Context) -> bool:
        if not isinstance(_operand(node), Node):
            return False
        module = ctx.submodule(node)
        if module is not None:
            if type(module) not in _LAYERS or is_hooked(module) or _extra(node):
                return False
            return not (self.eval_only and module.training)
        if node.op != "call_function" or node.target not in _FUNCTIONS:
            return False
        others = [used for used in node.all_input_nodes if used is not _operand(node)]
        flag = _flag(node)
        if isinstance(flag, Node):
            if flag.op != "get_attr" or others != [flag]:
                return False
            flag = _flag_value(flag, ctx)
            return flag is False or (not self.eval_only and flag is not None)
        return not others and flag is False


def _extra(node: Node) -> bool:
    return len(node.args) + len(node.kwargs) != 1


def _operand(node: Node) -> Any:
    if node.args:
        return node.args[0]
    return node.kwargs.get("input")


def _flag(node: Node) -> Any:
    """Return the `training` argument of a call of a function."""
    kwargs: Mapping[str, Any] = node.kwargs
    for name in ("training", "train"):
        if name in kwargs:
            return kwargs[name]
    default = node.target is not F.alpha_dropout and node.target is not F.feature_alpha_dropout
    return node.args[2] if len(node.args) > 2 else default


def _flag_value(flag: Node, ctx: Context) -> bool | None:
    """Return what a node reads if it is the training flag of a module, and nothing in the program sets it."""
    path, _, name = str(flag.target).rpartition(".")
    if name != "training" or ctx.sets_attributes:
        return None
    owner = ctx.module.get_submodule(path) if path else ctx.module
    return owner.training


def remove_dropout(gm: GraphModule) -> bool:
    """Remove the calls of all dropout layers, in whatever mode; their users take the input instead.

    Args:
        gm: Module to change.

    Returns:
        Whether anything was removed.

    Raises:
        ArgumentError: `gm` is no GraphModule (ST112).
    """
    check_graph_module(gm)
    found = [
        node
        for graph in graphs_of(gm)
        for node in graph.nodes
        if node.op == "call_module"
        and type(gm.get_submodule(node.target)) in _LAYERS
        and node.all_input_nodes
    ]
    for node in found:
        node.replace_all_uses_with(node.all_input_nodes[0])
        node.graph.erase_node(node)
    return bool(found)
