"""Leaving out of decisions and loops what nothing comes to use."""

from __future__ import annotations

import operator

from ...ir import Graph, Node, region_uses
from ...ir.dead import eliminate_dead

__all__ = ["drop_unused"]


def drop_unused(graph: Graph) -> None:
    """Let decisions give, and loops carry, only what is used; what they compute stays, since it may raise.

    Cost: linear.
    """
    eliminate_dead(graph, _is_result)


def _is_result(node: Node) -> bool:
    source = node.args[0] if node.target is operator.getitem else None
    return isinstance(source, Node) and bool(region_uses(source))
