"""Removing layers and calls that return what they are given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from torch import nn

from ..ir import Node
from ..ops.module_effects import is_hooked
from ..runtime import Graph
from .core import Context, Pass

__all__ = ["RemoveIdentity"]


@dataclass(frozen=True)
class RemoveIdentity(Pass):
    """Let the users of `nn.Identity` and of an empty `nn.Sequential` take the value itself.

    Removed is only what returns the very object that it is given, so that aliases stay what they are.
    """

    name: ClassVar[str] = "remove-identity"

    def run(self, graph: Graph, ctx: Context) -> bool:
        """Remove them."""
        changed = False
        for node in list(graph.nodes):
            kept = _returned(node, ctx)
            if kept is None:
                continue
            node.replace_all_uses_with(kept)
            graph.erase_node(node)
            changed = True
        return changed


def _returned(node: Node, ctx: Context) -> Node | None:
    """Return the operand that a node returns as it is, if that is known."""
    value: Any = None
    if node.op == "call_module":
        module = ctx.submodule(node)
        if module is None or is_hooked(module) or len(node.args) != 1 or node.kwargs:
            return None
        empty = type(module) is nn.Sequential and not len(module)
        if type(module) is nn.Identity or empty:
            value = node.args[0]
    return value if isinstance(value, Node) else None
