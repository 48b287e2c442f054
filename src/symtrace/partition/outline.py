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

    The nodes are told by their origin. Where they can't run as one, on account of values or effects in between,
    they stay as they are.

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
        first = next(iter(members))
        try:
            stem = self.path.replace(".", "_")
            fuse_by_partitions(ctx.module, [members], prefix=f"{self.prefix}{stem}_", graph=graph)
        except PartitionError as error:
            ctx.remark(first, error.diagnostic.message)
            return False
        return True

    def _is_inside(self, node: Node) -> bool:
        if node.op in ("placeholder", "output") or node.origin is None:
            return False
        path = node.origin.module_path
        return path == self.path or path.startswith(f"{self.path}.")
