"""Dead code: nodes without effect whose value nothing uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from ..analysis import EffectAnalysis
from ..ir import Node
from ..runtime import Graph
from .base import PassResult
from .core import Context, Pass

__all__ = ["EliminateDeadCode"]


@dataclass(frozen=True)
class EliminateDeadCode(Pass):
    """Remove nodes that have no effect and whose value is not used; writes and random draws stay."""

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
    """Return whether a node is an assertion of a literal, which holds."""
    return (
        node.op == "call_function"
        and node.target is torch._assert
        and bool(node.args)
        and node.args[0] is True
    )
