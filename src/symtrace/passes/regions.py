"""Putting the contents of regions into the graph around them."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any

from ..ir import Graph, Node, Region, map_arg, region_uses

__all__ = ["copy_region", "give_results", "replace_by_value", "run_taken"]


def run_taken(graph: Graph, node: Node, place: int) -> None:
    """Put one region of a decision in the place of the decision.

    Args:
        graph: The graph.
        node: The decision.
        place: Which argument of the decision the region that runs is.
    """
    use = next(use for use in region_uses(node) if use.place == place)
    with graph.inserting_before(node):
        results = copy_region(graph, use.region, use.inputs)
    give_results(node, results)


def copy_region(graph: Graph, region: Region, inputs: Iterable[Any]) -> Sequence[Any]:
    """Copy what a region computes to the insertion point; return its results there.

    Args:
        graph: Where to.
        region: The region.
        inputs: Values for its placeholders: nodes or literals.
    """
    places = [part for part in region.graph.nodes if part.op == "placeholder"]
    known: dict[Node, Any] = dict(zip(places, inputs, strict=True))
    results: Sequence[Any] = graph.graph_copy(region.graph, known)
    return results


def give_results(node: Node, results: Sequence[Any]) -> None:
    """Let the users of the results of an operation with regions take others, and erase it.

    Args:
        node: The operation; what uses it takes one of its results.
        results: Nodes and literals.
    """
    for user in list(node.users):
        if user.target is operator.getitem and isinstance(user.args[1], int):
            replace_by_value(user, results[user.args[1]])
            user.graph.erase_node(user)
    if node.users:
        replace_by_value(node, tuple(results))
    node.graph.erase_node(node)


def replace_by_value(node: Node, value: Any) -> None:
    """Let the users of a node take another node, or a literal, or a tuple of both."""
    if isinstance(value, Node):
        node.replace_all_uses_with(value)
        return
    for user in list(node.users):
        user.args, user.kwargs = _with(user.args, node, value), _with(dict(user.kwargs), node, value)


def _with(args: Any, old: Node, new: Any) -> Any:
    return map_arg(args, lambda used: new if used is old else used)
