"""Finding the nodes that came out of one function or one kind of module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..ir import Graph, Node

__all__ = ["SourcePartition", "check_subgraphs_connected", "get_source_partitions"]


@dataclass
class SourcePartition:
    """The nodes that came out of one call of a function or a module.

    Attributes:
        nodes: The nodes, in order.
        source: The function, or the class of the module.
        input_nodes: Nodes outside whose values they use.
        output_nodes: Those of them whose values are used outside.
        params: The `get_attr` nodes among what they use.
    """

    nodes: list[Node]
    source: Any
    input_nodes: list[Node] = field(default_factory=list)
    output_nodes: list[Node] = field(default_factory=list)
    params: list[Node] = field(default_factory=list)


def get_source_partitions(
    graph: Graph, wanted_sources: Sequence[Any], filter_fn: Callable[[Node], bool] | None = None
) -> dict[Any, list[SourcePartition]]:
    """Return the nodes that came out of each of some functions and classes of modules.

    Args:
        graph: Graph whose nodes have `meta["source_fn_stack"]`, or else `meta["torch_fn"]`.
        wanted_sources: Functions and classes of modules.
        filter_fn: Partitions with a node for which it returns False are left out.

    Returns:
        For each source that occurs, its partitions.
    """
    found: dict[Any, dict[str, list[Node]]] = {}
    for node in graph.nodes:
        source = _source(node, wanted_sources)
        if source is not None:
            name, kind = source
            found.setdefault(kind, {}).setdefault(name, []).append(node)
    partitions = {
        kind: [_partition(nodes, kind) for nodes in by_name.values()] for kind, by_name in found.items()
    }
    if filter_fn is None:
        return partitions
    kept = {kind: [p for p in parts if all(map(filter_fn, p.nodes))] for kind, parts in partitions.items()}
    return {kind: parts for kind, parts in kept.items() if parts}


def _source(node: Node, wanted: Sequence[Any]) -> tuple[str, Any] | None:
    """Return the name and the source of the innermost call that a node came out of, if it is wanted."""
    stack = node.meta.get("source_fn_stack")
    if stack:
        name, kind = stack[-1]
        return (name, kind) if kind in wanted else None
    named = node.meta.get("torch_fn")
    if named is not None:
        name, kind = named
        for source in wanted:
            if kind in (f"{source.__module__}.{source.__name__}", getattr(source, "__name__", None)):
                return name, source
    return None


def _partition(nodes: list[Node], source: Any) -> SourcePartition:
    members = set(nodes)
    inputs: dict[Node, None] = {}
    outputs: dict[Node, None] = {}
    params: dict[Node, None] = {}
    for node in nodes:
        for used in node.all_input_nodes:
            if used not in members:
                inputs[used] = None
                if used.op == "get_attr":
                    params[used] = None
        if node.op == "get_attr":
            params[node] = None
        if any(user not in members for user in node.users):
            outputs[node] = None
    return SourcePartition(nodes, source, list(inputs), list(outputs), list(params))


def check_subgraphs_connected(subgraph1: SourcePartition, subgraph2: SourcePartition) -> bool:
    """Return whether a node of the second partition uses one of the first."""
    members = set(subgraph1.nodes)
    return any(used in members for node in subgraph2.nodes for used in node.all_input_nodes)
