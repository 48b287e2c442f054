"""`Region`: a graph inside a node, for a part of a program that runs once, never or many times."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from .graph import Graph

__all__ = ["Region", "all_graphs", "regions_of"]


class Region:
    """A graph that is an argument of a node.

    It sees values of the graph around it only through its placeholders, for which the node has operands; its output is
    a tuple.

    Args:
        graph: The graph.
    """

    __slots__ = ("graph",)

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def copy(self) -> Region:
        """Return an independent copy."""
        return Region(copy.copy(self.graph))

    def __copy__(self) -> Region:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Region:
        return Region(copy.deepcopy(self.graph, memo))

    def __reduce__(self) -> Any:
        return Region, (self.graph,)

    def __repr__(self) -> str:
        inputs = ", ".join(node.name for node in self.graph.nodes if node.op == "placeholder")
        count = sum(node.op not in ("placeholder", "output") for node in self.graph.nodes)
        return f"region({inputs}; {count} nodes)"


def regions_of(node: Any) -> tuple[Region, ...]:
    """Return the regions among the arguments of a node."""
    return tuple(value for value in node.args if type(value) is Region)


def all_graphs(graph: Graph) -> Iterator[Graph]:
    """Yield a graph, and those of all regions in it, outer ones first."""
    stack = [graph]
    while stack:
        current = stack.pop()
        yield current
        for node in current.nodes:
            if node.op == "call_function":
                stack.extend(region.graph for region in regions_of(node))
