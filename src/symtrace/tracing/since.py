"""What was recorded since some moment of a trace."""

from __future__ import annotations

from ..ir import Graph, Node

__all__ = ["last_node", "nodes_since"]


def last_node(graph: Graph) -> Node | None:
    """Return the newest node of a graph that is being recorded, or None: the moment, for `nodes_since`."""
    return next(iter(reversed(graph.nodes)), None)


def nodes_since(graph: Graph, last: Node | None) -> list[Node]:
    """Return the nodes that were recorded after `last`, in order.

    Left out are placeholders: those of a region, for values around it that were used there first.

    Cost: linear in the nodes returned.
    """
    found = []
    for node in reversed(graph.nodes):
        if node is last:
            break
        if node.op != "placeholder":
            found.append(node)
    return found[::-1]
