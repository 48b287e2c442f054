"""`Region`: a graph inside a node, for a part of a program that runs once, never or many times."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .events import Event
    from .graph import Graph
    from .node import Node

__all__ = [
    "CHANGING",
    "Region",
    "RegionUse",
    "adopt_regions",
    "all_graphs",
    "holder_of",
    "outermost",
    "region_uses",
    "regions_of",
]


class Region:
    """A graph that is an argument of a node.

    It sees values of the graph around it only through its placeholders, for which the node has operands; its output is
    a tuple. It belongs to one node: another that is given it gets a copy. An edit of it is an edit of the graph around
    it too.

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


CHANGING = object()
"""Stands for the operand of a placeholder that has another value in each round."""


class RegionUse(NamedTuple):
    """One region of a node, and what flows into it and out of it.

    Attributes:
        region: The region.
        place: Which argument of the node it is.
        inputs: For each placeholder, the operand that it stands for; `CHANGING` for a value that is another one in each
            round.
        operands: Which argument holds the operands that are the same at each run, and how many placeholders stand in
            front of theirs.
        results: How many results it must have; None if that follows from another region.
        carried: Which argument holds the values that a round takes from the one before; 0 where there are none.
    """

    region: Region
    place: int
    inputs: tuple[Any, ...]
    operands: tuple[int, int]
    results: int | None
    carried: int = 0


def regions_of(node: Any) -> tuple[Region, ...]:
    """Return the regions among the arguments of a node."""
    return tuple(value for value in node.args if type(value) is Region)


def region_uses(node: Node) -> tuple[RegionUse, ...]:
    """Return the regions of a node with what flows into them, as the operation that it calls tells."""
    describe: Callable[[Any], Iterable[Any]] | None = getattr(node.target, "__symtrace_regions__", None)
    return () if describe is None else tuple(RegionUse(*use) for use in describe(node.args))


def all_graphs(graph: Graph) -> Iterator[Graph]:
    """Yield a graph, and those of all regions in it, outer ones first."""
    stack = [graph]
    while stack:
        current = stack.pop()
        yield current
        for node in current.nodes:
            if node._op == "call_function" and len(node._args) > 3:
                stack.extend(region.graph for region in regions_of(node))


def holder_of(graph: Graph) -> Node | None:
    """Return the node that has a graph as a region; None for a graph that is none."""
    node = graph._holder
    if node is None or node._order < 0:
        return None
    return node if any(type(value) is Region and value.graph is graph for value in node._args) else None


def outermost(graph: Graph) -> Graph:
    """Return the graph of the whole program that a graph is a region of, at whatever depth; itself if it is none."""
    node = holder_of(graph)
    while node is not None:
        graph = node.graph
        node = holder_of(graph)
    return graph


def adopt_regions(node: Node) -> None:
    """Make the regions among a node's arguments its own, so that their edits count as edits of the graph around them.

    It gets copies of those that another node has already, or that come twice.
    """
    if not any(type(value) is Region for value in node._args):
        return
    seen: set[int] = set()
    own = []
    for value in node._args:
        if type(value) is Region:
            if holder_of(value.graph) not in (None, node) or id(value.graph) in seen:
                value = value.copy()
            graph = value.graph
            seen.add(id(graph))
            if graph._holder is None:
                graph.subscribe(functools.partial(_pass_on, graph))
            graph._holder = node
        own.append(value)
    node._args = tuple(own)


def _pass_on(graph: Graph, event: Event) -> None:
    node = holder_of(graph)
    if node is not None:
        node.graph._touch("region_changed", node)
