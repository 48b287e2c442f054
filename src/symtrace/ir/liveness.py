"""Where values are used for the last time."""

from __future__ import annotations

from collections.abc import Iterable

from .graph import Graph
from .node import Node

__all__ = ["last_uses", "needed_for"]


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


def needed_for(results: Iterable[Node]) -> set[Node]:
    """Return nodes and all that they depend on.

    Args:
        results: The nodes.

    Cost: linear in what they depend on.
    """
    needed: set[Node] = set()
    stack = list(results)
    while stack:
        node = stack.pop()
        if node not in needed:
            needed.add(node)
            stack.extend(node.all_input_nodes)
    return needed
