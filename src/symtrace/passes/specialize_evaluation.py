"""Fixing what modules in evaluation mode decide by their training flags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from torch import nn

from ..analysis import Decisions
from ..ir import Node
from ..runtime import Graph
from .core import Context, Pass
from .regions import replace_by_value, run_taken

__all__ = ["SpecializeEvaluation", "flag_value"]


@dataclass(frozen=True)
class SpecializeEvaluation(Pass):
    """Keep of each decision on a training flag the way that modules in evaluation mode take.

    Where a program reads `self.training` of a module in evaluation mode, `False` takes its place; decisions that
    follow from it give way to what they run. Afterwards `train()` does not bring the other way back, and warns.
    """

    name: ClassVar[str] = "specialize-evaluation"
    evaluation_only: ClassVar[bool] = True

    def run(self, graph: Graph, ctx: Context) -> bool:
        """Fix them; a way that is taken may decide further."""
        changed = False
        while self._round(graph, ctx):
            changed = True
        if changed:
            ctx.specialise("decisions on training flags were fixed")
        return changed

    def _round(self, graph: Graph, ctx: Context) -> bool:
        decisions = Decisions(graph, lambda node: flag_value(node, ctx))
        used = [node for node in decisions.values if node.users]
        for node in used:
            replace_by_value(node, decisions.values[node])
        for node, use in decisions.taken.items():
            run_taken(graph, node, use.place)
        idle = [node for node in decisions.values if node.op == "get_attr" and not node.users]
        for node in idle:
            graph.erase_node(node)
        return bool(used or decisions.taken or idle)


def flag_value(node: Node, ctx: Context) -> bool | None:
    """Return False if a node reads the training flag of a module in evaluation mode that nothing sets; else None."""
    path, _, name = str(node.target).rpartition(".")
    if name != "training" or ctx.sets_attributes:
        return None
    owner: Any = ctx.module.get_submodule(path) if path else ctx.module
    return False if isinstance(owner, nn.Module) and owner.training is False else None
