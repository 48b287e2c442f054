"""Changing targets all over a graph, and sizes of nodes in bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch

from ..errors import ArgumentError
from ..ir import Node, all_graphs
from ..rewrite.sources import check_graph_module
from ..runtime import GraphModule
from .shape_prop import ShapeProp, TensorMetadata

__all__ = [
    "get_size_of_all_nodes",
    "get_size_of_node",
    "get_tensor_meta",
    "replace_target_nodes_with",
    "size_bytes",
]


def replace_target_nodes_with(
    fx_module: GraphModule,
    old_op: str,
    old_target: Callable[..., Any] | str,
    new_op: str,
    new_target: Callable[..., Any] | str,
) -> None:
    """Give all nodes with one op kind and target others; arguments, names and metadata stay.

    Args:
        fx_module: Module to change.
        old_op: Op kind of the nodes to change.
        old_target: Target of the nodes to change.
        new_op: New op kind.
        new_target: New target.

    Raises:
        ArgumentError: `new_op` or `new_target` is of a wrong kind (ST111, ST112).
        GraphEditError: Nodes of these kinds can't be changed into each other (ST121).
    """
    check_graph_module(fx_module, "fx_module")
    graph = fx_module.graph._blank()
    values: dict[Node, Node] = {}
    for node in fx_module.graph.nodes:
        values[node] = graph.node_copy(node, values.__getitem__)
    for node in [node for inner in all_graphs(graph) for node in inner.nodes]:
        if node.op == old_op and node.target == old_target:
            node.op = new_op
            node.target = new_target
    fx_module.graph = graph


class size_bytes(NamedTuple):
    """Size of a node.

    Attributes:
        output_size: Bytes of its value.
        total_size: Bytes of its value and of the parameters and buffers of the module that it calls.
    """

    output_size: int
    total_size: int


def get_size_of_all_nodes(fx_module: GraphModule, args: Sequence[torch.Tensor] | None = None) -> None:
    """Note the size of each node that has a tensor value in `node.size_bytes`.

    Args:
        fx_module: Module to look at.
        args: Example inputs to run it on first; without them, shapes have to be known already.

    Raises:
        ArgumentError: A shape is not known (ST112).
    """
    if args is not None:
        ShapeProp(fx_module).propagate(*args)
    for node in fx_module.graph.nodes:
        if node.op == "output":
            break
        node.size_bytes = get_size_of_node(fx_module, node)  # type: ignore[attr-defined]


def get_tensor_meta(node: Node) -> TensorMetadata:
    """Return what `ShapeProp` noted of a node.

    Raises:
        ArgumentError: It has noted nothing (ST112).
    """
    found = node.meta.get("tensor_meta")
    if not isinstance(found, TensorMetadata):
        raise ArgumentError(
            "ST112",
            what=f"`{node}`",
            expected="a node with tensor_meta; run ShapeProp first",
            actual="one without",
        )
    return found


def get_size_of_node(fx_module: GraphModule, node: Node) -> size_bytes:
    """Return the size of a node.

    Args:
        fx_module: Module that the node belongs to.
        node: Node whose shape is known.

    Raises:
        ArgumentError: Its shape is not known (ST112).
    """
    meta = get_tensor_meta(node)
    output = meta.shape.numel() * meta.dtype.itemsize
    total = output
    if node.op == "call_module":
        module = fx_module.get_submodule(node.target)
        held = [*module.parameters(), *module.buffers()]
        total += sum(tensor.numel() * tensor.element_size() for tensor in held)
    return size_bytes(output, total)
