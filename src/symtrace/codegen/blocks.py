"""Which nodes enter and leave a `with` block."""

from __future__ import annotations

from typing import Any

from ..ir import Graph, Node
from ..ops.program import enter_mode, exit_mode

__all__ = ["with_blocks"]


def with_blocks(graph: Graph) -> dict[Node, Node]:
    """Return the node that leaves each context, by the node that enters it, and the reverse.

    Only contexts that are left once and in order can be written as blocks; others stay calls.

    Cost: linear.
    """
    if not any(node._target is enter_mode for node in graph.nodes):
        return {}
    pairs: dict[Node, Node] = {}
    open_nodes: list[Node] = []
    for node in graph.nodes:
        if node._target is enter_mode:
            open_nodes.append(node)
        elif node._target is exit_mode:
            entered: Any = node._args[0] if len(node._args) == 1 else None
            if entered not in open_nodes:
                continue
            while open_nodes and open_nodes[-1] is not entered:
                open_nodes.pop()  # left in another order, or never: no block
            open_nodes.pop()
            if entered._user_list() == [node] and not node._users:
                pairs[entered] = node
                pairs[node] = entered
    return pairs
