"""Making values of regions results of the program around them."""

from __future__ import annotations

import operator
from typing import Any

from ..analysis import EffectAnalysis, is_tensor
from ..ir import Graph, Node, Region, all_graphs, holder_of, region_uses
from ..ops.control_flow import cond, for_each, while_loop
from .errors import PassError

__all__ = ["bring_out"]


def bring_out(node: Node, whole: Graph) -> Node:
    """Return a node of the graph of the whole program that has the value of a node in a region.

    Where the region does not run, the value is None; of a loop it is that of the last round.

    Args:
        node: The node; it is in a region, at whatever depth.
        whole: The graph of the whole program, which is changed.

    Raises:
        PassError: An operation around it can't give further results (ST245).
    """
    value = _kept(node, whole)
    holder = holder_of(value.graph)
    while holder is not None:
        graph = holder.graph
        if holder.target is cond:
            index = _add_to_decision(holder, value)
        elif holder.target in (for_each, while_loop):
            index = _add_to_loop(holder, value)
        else:
            raise PassError("ST245", name=node.name, mode="torch.cond", nearest="none")
        with graph.inserting_after(holder):
            value = graph.call_function(operator.getitem, (holder, index))
        value.meta, value.origin = dict(node.meta), node.origin
        holder = holder_of(graph)
    return value


def _kept(node: Node, whole: Graph) -> Node:
    """Return the node, or a copy of its value where something may write to it afterwards."""
    writes = any(effect.mutates or effect.impure for graph in all_graphs(whole) for effect in _effects(graph))
    if not writes or not (node.op == "call_module" or is_tensor(node)):
        return node
    with node.graph.inserting_after(node):
        return node.graph.call_method("clone", (node,))


def _effects(graph: Graph) -> Any:
    analysis = EffectAnalysis(graph)
    return [analysis.effect(node) for node in analysis.effectful]


def _add_result(region: Region, value: Any) -> None:
    output = region.graph.output_node()
    output.args = ((*output.args[0], value),)  # type: ignore[misc]


def _add_to_decision(holder: Node, value: Node) -> int:
    uses = region_uses(holder)
    index = len(uses[0].region.graph.output_node().args[0])  # type: ignore[arg-type]
    for use in uses:
        _add_result(use.region, value if use.region.graph is value.graph else None)
    return index


def _add_to_loop(holder: Node, value: Node) -> int:
    """Carry a value from round to round, None in front of the first."""
    use = region_uses(holder)[0]
    body = use.region.graph
    first, region, carried, operands, *others = holder.args
    count = len(carried)  # type: ignore[arg-type]
    inputs = [node for node in body.nodes if node.op == "placeholder"]
    place = count + (holder.target is for_each)
    following = inputs[place] if place < len(inputs) else None
    behind = inputs[-1].next if inputs else next(iter(body.nodes))
    taken = {node.target for node in inputs}
    name = next(name for number in range(count + 1) if (name := f"kept_{number}") not in taken)
    with body.inserting_before(following or behind):
        body.placeholder(name)
    _add_result(use.region, value)
    holder.args = (first, region, (*carried, None), operands, *others)  # type: ignore[misc]
    return count
