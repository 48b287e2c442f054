"""Dead code: nodes without effect whose value nothing uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from ..analysis import EffectAnalysis
from ..ir import Node
from ..ops import program
from ..runtime import Graph
from .base import PassResult
from .core import Context, Pass

__all__ = ["EliminateDeadCode"]


@dataclass(frozen=True)
class EliminateDeadCode(Pass):
    """Remove nodes that have no effect and whose value is not used; writes and random draws stay.

    Guards and assertions stay too, but for those of a literal that holds.
    """

    name: ClassVar[str] = "dce"

    def run(self, graph: Graph, ctx: Context) -> bool:
        """Remove them, in regions too."""
        known: dict[Any, EffectAnalysis] = {}  # removing what is pure changes no effect of the rest

        def is_pure(node: Node) -> bool:
            analysis = known.get(node.graph)
            if analysis is None:
                analysis = known[node.graph] = EffectAnalysis(node.graph, any_mode=True)
            return analysis.effect(node).is_pure or _always_passes(node)

        return graph.eliminate_dead(is_pure)

    def apply(self, ctx: Context) -> PassResult:
        """Run the pass on the whole program, from its results back."""
        return PassResult(ctx.module, self.run(ctx.module.graph, ctx))


def _always_passes(node: Node) -> bool:
    """Return whether a node is a guard or an assertion of a literal, which holds."""
    if node.op != "call_function" or not node.args:
        return False
    if node.target is program.guard:
        return isinstance(node.args[0], bool) and node.args[0] is node.args[1]
    return node.target is torch._assert and node.args[0] is True
