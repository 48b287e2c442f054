"""Where values are used for the last time."""

from __future__ import annotations

from .graph import Graph
from .node import Node

__all__ = ["last_uses"]


def last_uses(graph: Graph) -> dict[Node, list[Node]]:
    """Return for each node the values that nothing uses after it, in the order of its arguments.

    Cost: linear.
    """
    seen: set[Node] = set()
    dying: dict[Node, list[Node]] = {}
    for node in reversed(graph.nodes):
        # One argument that is a node is by far the commonest, and this loop is half of generating code.
        args = node._args
        if len(args) == 1 and type(args[0]) is Node and not node._kwargs:
            if args[0] not in seen:
                seen.add(args[0])
                dying[node] = [args[0]]
            continue
        last = [used for used in node.all_input_nodes if used not in seen]
        if last:
            seen.update(last)
            dying[node] = last
    return dying
