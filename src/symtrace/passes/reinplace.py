"""Writing to values that nothing needs any more instead of making new ones."""

from __future__ import annotations

import copy
import operator
from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from ..analysis import EffectAnalysis
from ..ir import Node, map_arg
from ..rewrite.inherit import inherit
from ..rewrite.sources import check_graph_module
from ..runtime import Graph, GraphModule
from .core import Context, Pass
from .elementwise import FUNCTIONAL_OPERATORS, INPLACE_FUNCTIONS, METHODS
from .functionalize import with_item

__all__ = ["Reinplace", "reinplace"]

_METHOD_OF: dict[Any, str] = {
    **{function: f"{name}_" for function, name in FUNCTIONAL_OPERATORS.values()},
    **{function: f"{name}_" for function, name in INPLACE_FUNCTIONS.values()},
}


@dataclass(frozen=True)
class Reinplace(Pass):
    """Write results into operands that nothing uses afterwards: `y.add(1)` becomes `y.add_(1)`.

    Only where the program itself has made the operand and nothing else may share storage with it, and where example
    shapes (`ShapeProp`) show that the result has the shape and dtype of the operand. A value with another item
    (`with_item`) has them anyway, and becomes an assignment. It saves memory. It is for programs that need no
    gradients: a value that the backward pass wants must not be written to, and torch says so then.
    """

    name: ClassVar[str] = "reinplace"

    def run(self, graph: Graph, ctx: Context) -> bool:
        """Replace them."""
        analysis = ctx.effects(graph)
        sizes: dict[Node | None, int] = {}
        for node in graph.nodes:
            root = analysis.alias_class(node)
            sizes[root] = sizes.get(root, 0) + 1
        changed = False
        written: dict[Node, Node] = {}
        assigned: set[Node] = set()
        for node in list(graph.nodes):
            operand = _operand(node)
            if operand is None or not self._may_write(node, operand, analysis, sizes, written, assigned):
                continue
            with graph.inserting_before(node):
                made = _writing(graph, node)
            if made.target is operator.setitem:
                inherit([made], [], node, self.name)
                assigned.add(made)
                made = operand
            else:
                inherit([made], [(node, made)], node, self.name)
            node.replace_all_uses_with(made)
            graph.erase_node(node)
            written.setdefault(made, node)
            changed = True
        return changed

    def _may_write(
        self,
        node: Node,
        operand: Node,
        analysis: EffectAnalysis,
        sizes: dict[Node | None, int],
        written: dict[Node, Node],
        assigned: set[Node],
    ) -> bool:
        root = analysis.alias_class(written.get(operand, operand))
        effect = analysis.effect(written.get(operand, operand))
        if root is None or sizes[root] != 1 or effect.mutates or effect.returns_alias:
            return False
        if set(operand.users) - assigned != {node} or node.op == "output":
            return False
        if node.target is with_item:
            return True  # which gives a copy of its operand
        one: Any
        other: Any
        one, other = operand.meta.get("tensor_meta"), node.meta.get("tensor_meta")
        if not (hasattr(one, "shape") and hasattr(other, "shape")):
            return False
        return bool(one.shape == other.shape and one.dtype == other.dtype and one.stride == other.stride)


def _writing(graph: Graph, node: Node) -> Node:
    """Return a node that writes what a node computes."""
    if node.target is with_item:
        return graph.call_function(operator.setitem, node.args)
    name = node.target if node.op == "call_method" else None
    method = f"{name}_" if name is not None else _METHOD_OF[node.target]
    return graph.call_method(method, node.args, dict(node.kwargs))


def _operand(node: Node) -> Node | None:
    """Return the first operand of an elementwise operator that has a form in place."""
    if node.op == "call_method":
        known = node.target in METHODS
    else:
        known = node.op == "call_function" and (node.target in _METHOD_OF or node.target is with_item)
    if not known or not node.args or not isinstance(node.args[0], Node) or "out" in node.kwargs:
        return None
    others: list[Node] = []
    map_arg((node.args[1:], dict(node.kwargs)), others.append)
    return None if node.args[0] in others else node.args[0]


def reinplace(gm: GraphModule, *sample_args: Any) -> GraphModule:
    """Write results into operands that nothing uses afterwards, wherever that is safe; see `Reinplace`.

    Args:
        gm: Module to change.
        *sample_args: Arguments of one call, from which shapes are found out.

    Returns:
        `gm`.

    Raises:
        ArgumentError: `gm` is no GraphModule (ST112).
    """
    from .shape_prop import ShapeProp

    check_graph_module(gm)
    trial = copy.deepcopy(gm)
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        ShapeProp(trial).propagate(*copy.deepcopy(sample_args))
    for node, tried in zip(gm.graph.nodes, trial.graph.nodes, strict=True):
        node.meta.update((key, tried.meta[key]) for key in ("tensor_meta", "type") if key in tried.meta)
    Reinplace()(gm)
    return gm
