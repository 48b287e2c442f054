"""`for` loops as `while` loops that count: over the rows of a tensor, and over a range whose ends the data decides."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from ..analysis import is_tensor
from ..ir import Node, Region
from ..ops.control_flow import for_each, while_loop
from ..runtime import Graph
from .regions import copy_region, give_results

__all__ = ["counted", "is_countable", "is_fixed_loop", "may_stop"]

# Of floating point, since gradients of `torch.while_loop` want every result to have one (torch 2.14).
_COUNTER: dict[str, Any] = {"dtype": torch.float64}


class _Count(NamedTuple):
    """What a loop counts through.

    Attributes:
        start: The counter before the first round.
        end: What it is compared with.
        step: What each round adds to it.
        given: What the body needs beside to make its item.
        item: Adds the item of a round to a graph, from the counter and what was given.
    """

    start: Node
    end: Node
    step: int
    given: tuple[Node, ...]
    item: Callable[[Any, Node, tuple[Node, ...]], Any]


def is_fixed_loop(node: Node) -> bool:
    """Return whether a `for` loop has known items, and goes through all of them."""
    items = node.args[0]
    is_fixed = isinstance(items, range | tuple | list) and not any(isinstance(item, Node) for item in items)
    return is_fixed and not may_stop(node)


def may_stop(node: Node) -> bool:
    """Return whether a `for` loop may stop before its end."""
    return node.target is for_each and len(node.args) > 4 and bool(node.args[4])


def is_countable(items: Any) -> bool:
    """Return whether a loop over `items` can count: over the rows of a tensor or over a range with a known step."""
    if isinstance(items, range) or _has_rows(items):
        return True
    is_range = isinstance(items, Node) and items.target is range and not items.kwargs
    return is_range and (len(items.args) < 3 or (type(items.args[2]) is int and items.args[2] != 0))


def _has_rows(items: Any) -> bool:
    """Return whether items are the rows of a tensor: annotated as one, noted by `shape-prop`, or made by torch."""
    if not isinstance(items, Node):
        return False
    return items.type is torch.Tensor or isinstance(items.meta.get("val"), torch.Tensor) or is_tensor(items)


def counted(graph: Graph, node: Node) -> Node:
    """Put a `while` loop in the place of a `for` loop that is countable; return it.

    Cost: linear in the body of the loop.
    """
    body, carried, operands = node.args[1:4]
    with graph.inserting_before(node):
        count = _rows(graph, node.args[0]) if _has_rows(node.args[0]) else _numbers(graph, node.args[0])
        compare = torch.lt if count.step > 0 else torch.gt
        test = graph.call_function(compare, (count.start, count.end))
        inner = Graph()
        names = ["index", *(f"carried_{number}" for number in range(len(carried))), "end"]
        names += [f"items_{number}" for number in range(len(count.given))]
        names += [f"operand_{number}" for number in range(len(operands))]
        index, *given = map(inner.placeholder, names)
        values, (end, *parts) = given[: len(carried)], given[len(carried) : len(given) - len(operands)]
        others = given[len(given) - len(operands) :]
        item = count.item(inner, index, tuple(parts)) if _takes_item(body) else 0
        results = list(copy_region(inner, body, (item, *values, *others)))
        following = inner.call_function(operator.add, (index, count.step))
        goes_on = inner.call_function(compare, (following, end))
        if may_stop(node):
            goes_on = inner.call_function(torch.logical_and, (goes_on, results.pop(0)))
        inner.output((goes_on, following, *results))
        outer = (count.end, *count.given, *operands)
        loop = graph.call_function(while_loop, (test, Region(inner), (count.start, *carried), outer))
        found = [graph.call_function(operator.getitem, (loop, place + 1)) for place in range(len(results))]
    items = node.args[0]
    give_results(node, found)
    if isinstance(items, Node) and items.target is range and not items.users:
        graph.erase_node(items)
    return loop


def _takes_item(body: Any) -> bool:
    return bool(next(iter(body.graph.nodes)).users)


def _rows(graph: Graph, items: Node) -> _Count:
    size = graph.call_method("size", (items, 0))
    start = graph.call_method("new_zeros", (items, ()), _COUNTER)
    end = graph.call_method("new_full", (items, (), size), _COUNTER)
    return _Count(start, end, 1, (items,), _row)


def _row(inner: Graph, index: Node, given: tuple[Node, ...]) -> Node:
    place = inner.call_method("reshape", (inner.call_method("long", (index,)), 1))
    row = inner.call_function(torch.index_select, (given[0], 0, place))
    return inner.call_method("squeeze", (row, 0))


def _numbers(graph: Graph, items: Any) -> _Count:
    ends = (items.start, items.stop, items.step) if isinstance(items, range) else items.args
    start, stop, step = (*((0, *ends) if len(ends) == 1 else ends), 1)[:3]
    # `& -1` changes no whole number, and raises for what `range` does not take either.
    first, last = (
        graph.call_function(torch.full, ((), graph.call_function(operator.and_, (end, -1))), _COUNTER)
        for end in (start, stop)
    )
    return _Count(first, last, step, (), _number)


def _number(inner: Graph, index: Node, given: tuple[Node, ...]) -> Node:
    return inner.call_method("item", (inner.call_method("long", (index,)),))
