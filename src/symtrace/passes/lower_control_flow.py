"""Decisions as operations that torch's compilers and its export keep."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from ..analysis import EffectAnalysis
from ..ir import Node, Region, all_graphs, region_uses
from ..ops.control_flow import for_each, torch_cond, torch_while, while_loop
from ..runtime import Graph
from .core import Context, Pass
from .errors import PassError
from .regions import copy_region, give_results

__all__ = ["LowerControlFlow"]

_COMPARISONS = frozenset({
    operator.gt, operator.ge, operator.lt, operator.le, operator.eq, operator.ne, operator.not_,
    torch.gt, torch.ge, torch.lt, torch.le, torch.eq, torch.ne, torch.any, torch.all, torch.logical_not,
    torch.logical_and, torch.logical_or, torch.logical_xor,
})  # fmt: skip
_TESTS = frozenset(
    {"gt", "ge", "lt", "le", "eq", "ne", "any", "all", "logical_not", "logical_and", "logical_or"}
)

_LOWERED = frozenset({torch_cond, torch_while})


@dataclass(frozen=True)
class LowerControlFlow(Pass):
    """Let decisions and loops on data be calls of `torch.cond` and `torch.while_loop`, which torch's compilers keep.

    Loops over a fixed range are unrolled; those over the rows of what is known to be a tensor, by its annotation or by
    what `shape-prop` has left, are counted. What can't be lowered is an error, unless it is to be skipped: a way that
    writes to something from outside or, in either mode, to state, results that are no tensors, other `for` loops.
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
                elif _is_fixed_loop(node):
                    _unroll(graph, node)
                else:
                    _lower(graph, _counted(graph, node))
                changed = True
            elif self.skip:
                ctx.remark(node, reason)
            else:
                raise PassError("ST247", node=node.name, reason=reason)
        return changed


def _refusal(node: Node, ctx: Context) -> str | None:
    """Return why a node can't be lowered."""
    graph: Any = node.graph
    if node.target is for_each:
        if _is_fixed_loop(node):
            return None
        if not _is_tensor(node.args[0]):
            return "the loop runs over what is not known to be a tensor, or may stop before its end"
    if node.target in (for_each, while_loop) and not all(isinstance(value, Node) for value in node.args[2]):
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
    if node.target is while_loop or _stops(node):
        tests += [use.region.graph.output_node().args[0][0] for use in region_uses(node)]
    unknown = next((test for test in tests if not _is_bool(test)), None)
    if unknown is not None:
        return f"what decides, `{unknown}`, is not known to be of type bool"
    for use in region_uses(node):
        results = use.region.graph.output_node().args[0]
        literal = next((value for value in results if not isinstance(value, Node)), None)
        if literal is not None or None in results:
            return f"a way of it gives {literal!r}, which is no tensor"
    if ctx.effects(graph).is_written(node):
        return "its result may be an input, and is written to"
    return None


def _is_fixed_loop(node: Node) -> bool:
    """Return whether a `for` loop has known items, and goes through all of them."""
    items = node.args[0]
    is_fixed = isinstance(items, range | tuple | list) and not any(isinstance(item, Node) for item in items)
    return is_fixed and not _stops(node)


def _stops(node: Node) -> bool:
    """Return whether a `for` loop may stop before its end."""
    return node.target is for_each and len(node.args) > 4 and bool(node.args[4])


def _is_tensor(value: Any) -> bool:
    if not isinstance(value, Node):
        return False
    known = value.meta.get("tensor_meta", value.meta.get("val"))
    return value.type is torch.Tensor or (hasattr(known, "dtype") and hasattr(known, "shape"))


def _is_bool(value: Any) -> bool:
    """Return whether a value is known to be a bool, or a tensor of bools."""
    if isinstance(value, bool):
        return True
    if not isinstance(value, Node):
        return False
    meta = value.meta.get("tensor_meta")
    if getattr(meta, "dtype", None) is torch.bool:
        return True
    if value.op == "call_method":
        return value.target in _TESTS
    if value.op != "call_function":
        return False
    if value.target in (operator.and_, operator.or_, operator.xor):
        return all(map(_is_bool, value.args))
    return value.target in _COMPARISONS or (value.target is operator.invert and _is_bool(value.args[0]))


def _lower(graph: Graph, node: Node) -> None:
    """Let it be `torch.cond` or `torch.while_loop`, whose results share nothing with its inputs or with each other."""
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
                    value = inner.call_method("clone", (value,))
            taken.add(shared)
            results.append(value)
        output.args = (tuple(results),)
    node.target = torch_while if node.target is while_loop else torch_cond


def _counted(graph: Graph, node: Node) -> Node:
    """Put a `while` loop in the place of one over the rows of a tensor; return it."""
    items, body, carried, operands = node.args[:4]
    with graph.inserting_before(node):
        count = graph.call_method("size", (items, 0))
        # Of floating point, since gradients of `torch.while_loop` want every result to have one (torch 2.14).
        start = graph.call_method("new_zeros", (items, ()), {"dtype": torch.float64})
        test = graph.call_function(torch.lt, (start, count))
        inner = Graph()
        names = ["index", *(f"carried_{number}" for number in range(len(carried))), "items", "count"]
        names += [f"operand_{number}" for number in range(len(operands))]
        index, *given = map(inner.placeholder, names)
        values, (rows, end), others = (
            given[: len(carried)],
            given[len(carried) :][:2],
            given[len(carried) + 2 :],
        )
        place = inner.call_method("reshape", (inner.call_method("long", (index,)), 1))
        row = inner.call_method("squeeze", (inner.call_function(torch.index_select, (rows, 0, place)), 0))
        results = list(copy_region(inner, body, (row, *values, *others)))
        following = inner.call_function(operator.add, (index, 1))
        goes_on = inner.call_function(torch.lt, (following, end))
        if _stops(node):
            goes_on = inner.call_function(torch.logical_and, (goes_on, results.pop(0)))
        inner.output((goes_on, following, *results))
        loop = graph.call_function(
            while_loop, (test, Region(inner), (start, *carried), (items, count, *operands))
        )
        given = [graph.call_function(operator.getitem, (loop, place + 1)) for place in range(len(results))]
    give_results(node, given)
    return loop


def _unroll(graph: Graph, node: Node) -> None:
    """Put the rounds of a loop one behind the other."""
    items, body, carried, operands = node.args[:4]
    values: Any = tuple(carried)
    with graph.inserting_before(node):
        for item in items:
            values = copy_region(graph, body, (item, *values, *operands))
    give_results(node, values)
