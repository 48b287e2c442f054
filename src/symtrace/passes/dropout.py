"""Removing dropout layers."""

from __future__ import annotations

from torch import nn

from ..rewrite.sources import check_graph_module
from ..runtime import GraphModule

__all__ = ["remove_dropout"]


def remove_dropout(gm: GraphModule) -> bool:
    """Remove the calls of all dropout layers; their users take the input instead.

    Args:
        gm: Module to change.

    Returns:
        Whether anything was removed.

    Raises:
        ArgumentError: `gm` is no GraphModule (ST112).
    """
    check_graph_module(gm)
    kinds = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout, nn.FeatureAlphaDropout)
    found = [
        node
        for node in gm.graph.nodes
        if node.op == "call_module" and type(gm.get_submodule(node.target)) in kinds and node.all_input_nodes
    ]
    for node in found:
        node.replace_all_uses_with(node.all_input_nodes[0])
        gm.graph.erase_node(node)
    return bool(found)
