"""Decisions as operations that torch's compilers and its export keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from ..analysis import EffectAnalysis
from ..ir import Node, all_graphs, region_uses
from ..ops.control_flow import for_each, torch_cond, torch_while, while_loop
from ..runtime import Graph
from .core import Context, Pass
from .counted_loops import counted, is_countable, is_fixed_loop, may_stop
from .errors import PassError
from .flags import as_tensors, is_bool, is_flag, may_be_plain, negate
from .regions import copy_region, give_results

__all__ = ["LowerControlFlow"]

_LOWERED = frozenset({torch_cond, torch_while})


@dataclass(frozen=True)
class LowerControlFlow(Pass):
    """Let decisions and loops on data be calls of `torch.cond` and `torch.while_loop`, which torch's compilers keep.

    Loops over a fixed range are unrolled; those over a range that the data decides, and over the rows of what is known
    to be a tensor, by its annotation or by what `shape-prop` has left, are counted. What can't be lowered is an error,
    unless it is to be skipped: a way that writes to something from outside or, in either mode, to state, results that
    are no tensors, other `for` loops.
    Gradients are those of `torch.cond`, for which every result of floating point has one.

    Attributes:
        skip: Leave what can't be lowered as it is, with a remark.
    """

    name: ClassVar[str] = "lower-control-flow"
    skip: bool = False

    def run(self, graph: Graph, ctx: Context) -> bool:
        """Lower them."""
        changed = False
        for node in list(graph.nodes):
            if node.op != "call_function" or not region_uses(node) or node.target in _LOWERED:
                continue
            reason = _refusal(node, ctx)
            if reason is None:
                if node.target is not for_each:
                    _lower(graph, node)
                elif is_fixed_loop(node):
                    _unroll(graph, node)
                else:
                    _lower(graph, counted(graph, node))
                changed = True
            elif self.skip:
                ctx.remark(node, reason)
            else:
                raise PassError("ST247", node=node.name, reason=reason)
        if changed:
            negate(graph)
        return changed


def _refusal(node: Node, ctx: Context) -> str | None:
    """Return why a node can't be lowered."""
    graph: Any = node.graph
    if node.target is for_each:
        if is_fixed_loop(node):
            return None
        if not is_countable(node.args[0]):
            return "the loop runs over what is not known to be a tensor or a range"
    if node.target in (for_each, while_loop) and not all(
        _is_kept(node, *one, True) for one in enumerate(node.args[2])
    ):
        return "the loop carries a value that is no tensor"
    effect = ctx.effects(graph, any_mode=True).effect(node)
    if effect.mutates or effect.impure or effect.writes_state or effect.barrier:
        return (
            "a way of it writes to something from outside, changes state, raises, or calls what is not known"
        )
    if effect.check:
        return "a way of it checks an assumption"
    inner = (part for use in region_uses(node) for g in all_graphs(use.region.graph) for part in g.nodes)
    if any(part.target not in _LOWERED and region_uses(part) for part in inner):
        return "a way of it has control flow that can't be lowered"
    tests = [] if node.target is for_each else [node.args[0]]
    if node.target is while_loop or may_stop(node):
        tests += [use.region.graph.output_node().args[0][0] for use in region_uses(node)]
    unknown = next((test for test in tests if not is_bool(test)), None)
    if unknown is not None:
        return f"what decides, `{unknown}`, is not known to be of type bool"
    for use in region_uses(node):
        results = use.region.graph.output_node().args[0]
        literals = [value for place, value in enumerate(results) if not _is_kept(node, place, value)]
        if literals:
            return f"a way of it gives {literals[0]!r}, which is no tensor"
    if ctx.effects(graph).is_written(node):
        return "its result may be an input, and is written to"
    return None


def _is_kept(node: Node, place: int, value: Any, is_carried: bool = False) -> bool:
    """Return whether a result, or a value that is carried, is a tensor or can be one."""
    return not may_be_plain(value) or (is_bool(value) and is_flag(node, place, is_carried))


def _lower(graph: Graph, node: Node) -> None:
    """Let it be `torch.cond` or `torch.while_loop`, whose results share nothing with its inputs or with each other."""
    as_tensors(graph, node)
    for use in region_uses(node):
        inner: Any = use.region.graph
        analysis = EffectAnalysis(inner)
        output = inner.output_node()
        results: list[Any] = []
        taken: set[Any] = set()
        for value in output.args[0]:
            shared = analysis.alias_class(value)
            if shared is None or shared in taken:
                with inner.inserting_before(output):
                    value = inner.call_function(torch.as_tensor, (value,)) if is_bool(value) else value
                    value = inner.call_method("clone", (value,))
            taken.add(shared)
            results.append(value)
        output.args = (tuple(results),)
    node.target = torch_while if node.target is while_loop else torch_cond
    if node.target is torch_while:
        _part_carried(graph, node)


def _part_carried(graph: Graph, node: Node) -> None:
    """Carry copies of what shares memory with something that is carried already, which `torch.while_loop` refuses."""
    analysis = EffectAnalysis(graph)
    taken: set[Any] = set()
    carried = list(node.args[2])
    for place, value in enumerate(carried):
        shared = analysis.alias_class(value) or (value if value.op in ("placeholder", "get_attr") else None)
        if shared in taken or (shared is None and place):
            with graph.inserting_before(node):
                carried[place] = graph.call_method("clone", (value,))
        taken.add(shared)
    node.args = (*node.args[:2], tuple(carried), *node.args[3:])


def _unroll(graph: Graph, node: Node) -> None:
    """Put the rounds of a loop one behind the other."""
    items, body, carried, operands = node.args[:4]
    values: Any = tuple(carried)
    with graph.inserting_before(node):
        for item in items:
            values = copy_region(graph, body, (item, *values, *operands))
    give_results(node, values)
