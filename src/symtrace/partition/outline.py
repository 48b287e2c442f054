"""Putting the nodes that came out of one module into a module again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..ir import Node
from ..passes.core import Context, Pass
from ..runtime import Graph
from .errors import PartitionError
from .fuse import fuse_by_partitions

__all__ = ["OutlineModules"]


@dataclass(frozen=True)
class OutlineModules(Pass):
    """Make one call of the nodes that were captured inside of one module: the inverse of `inline`.

    The nodes are told by their origin. Where they can't run as one, on account of values or effects in between, each
    run of them becomes a call, as of a module that is called several times; what can't be one stays as it is.

    Attributes:
        path: Path of the module in the captured program.
        prefix: Start of the name of the new module.
    """

    name: ClassVar[str] = "outline"
    changes_state: ClassVar[bool] = True
    path: str = ""
    prefix: str = "outlined_"

    def run(self, graph: Graph, ctx: Context) -> bool:
        """Outline them."""
        if not self.path:
            return False
        members = {node: None for node in graph.nodes if self._is_inside(node)}
        if len(members) < 2:
            return False
        refusal = self._fuse(ctx, graph, members)
        if refusal is None:
            return True
        runs = [run for run in _runs(members) if 1 < len(run) < len(members)]
        done = [
            self._fuse(ctx, graph, dict.fromkeys(run)) is None for run in runs
        ]  # one for each call of the module
        if not any(done):
            ctx.remark(next(iter(members)), refusal)
        return any(done)

    def _fuse(self, ctx: Context, graph: Graph, members: dict[Node, None]) -> str | None:
        """Make one call of some nodes; return the reason if that can't be done."""
        stem = self.path.replace(".", "_")
        try:
            fuse_by_partitions(ctx.module, [members], prefix=f"{self.prefix}{stem}_", graph=graph)
        except PartitionError as error:
            return error.diagnostic.message
        return None

    def _is_inside(self, node: Node) -> bool:
        if node.op in ("placeholder", "output") or node.origin is None:
            return False
        path = node.origin.module_path
        return path == self.path or path.startswith(f"{self.path}.")


def _runs(members: dict[Node, None]) -> list[list[Node]]:
    """Return the members in runs that nothing else stands in."""
    runs: list[list[Node]] = []
    for node in members:
        if runs and runs[-1][-1].next is node:
            runs[-1].append(node)
        else:
            runs.append([node])
    return runs
