"""Dead code: nodes without effect whose value nothing uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..runtime import Graph
from .core import Context, Pass

__all__ = ["EliminateDeadCode"]


@dataclass(frozen=True)
class EliminateDeadCode(Pass):
    """Remove nodes that have no effect and whose value is not used; writes and random draws stay."""

    name: ClassVar[str] = "dce"

    def run(self, graph: Graph, ctx: Context) -> bool:
        """Remove them."""
        effect = ctx.effects(graph, any_mode=True).effect
        return bool(
            graph.eliminate_unused(
                lambda node: node.op not in ("placeholder", "output") and effect(node).is_pure
            )
        )
