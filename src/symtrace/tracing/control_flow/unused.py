"""Leaving out of decisions and loops what nothing comes to use."""

from __future__ import annotations

import operator
from collections.abc import Collection

from ...ir import Graph, Node, region_uses
from ...ir.dead import eliminate_dead

__all__ = ["drop_unused"]


def drop_unused(graph: Graph, rereads: Collection[Node]) -> None:
    """Let decisions give, and loops carry, only what is used; what they compute stays, since it may raise.

    Args:
        graph: The graph of the program.
        rereads: Reads of attributes that a way or round may have assigned, which the program need not read.

    Cost: linear.
    """
    eliminate_dead(graph, lambda node: node in rereads or _is_result(node))


def _is_result(node: Node) -> bool:
    source = node.args[0] if node.target is operator.getitem else None
    return isinstance(source, Node) and bool(region_uses(source))
