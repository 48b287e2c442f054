"""Removing what nothing uses, in a graph and in the regions in it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from .region import CHANGING, RegionUse, region_uses

if TYPE_CHECKING:
    from .graph import Graph
    from .node import Node

__all__ = ["eliminate_dead"]

_OF_RESULTS = ("val", "tensor_meta", "example_value")
"""Metadata that has an item for each result."""


def eliminate_dead(graph: Graph, is_removable: Callable[[Node], bool]) -> bool:
    """Erase nodes without users, last first, as far as `is_removable` allows; in regions too.

    Results of a decision that nothing uses are no longer computed on either way, and values that a region no longer
    uses are no longer passed to it, so that they may go in turn.

    Args:
        graph: The graph.
        is_removable: Asked of each node without users that is neither input nor output.

    Returns:
        Whether anything was changed.

    Cost: linear.
    """
    changed = False
    node = graph._root._prev
    while node is not graph._root:
        before = node._prev
        op = node._op
        if op != "placeholder" and op != "output" and not node._users and is_removable(node):
            graph.erase_node(node)
            changed = True
        elif op == "call_function" and len(node._args) > 3 and (uses := region_uses(node)):
            changed = _drop_results(node, uses) or _drop_carried(node, uses) or changed
            for use in uses:
                changed = eliminate_dead(use.region.graph, is_removable) or changed
            changed = _drop_carried(node, region_uses(node)) or changed
            changed = _drop_operands(node, region_uses(node)) or changed
        node = before
    return changed


def _drop_results(node: Node, uses: Iterable[RegionUse]) -> bool:
    """Let the regions of a decision return only what is used of its results."""
    if any(value is CHANGING for use in uses for value in use.inputs):
        return False  # what a round gives is what the next one takes
    used = _used_results(node)
    outputs = [use.region.graph.output_node() for use in uses]
    count = len(outputs[0].args[0])
    if used is None or len(used) == count or any(len(output.args[0]) != count for output in outputs):
        return False
    kept = sorted(used)
    for output in outputs:
        output.args = (tuple(output.args[0][index] for index in kept),)
    _renumber_results(node, kept, count)
    return True


def _drop_carried(node: Node, uses: Iterable[RegionUse]) -> bool:
    """Let a loop carry only what its rounds, or what comes behind it, use."""
    changed = False
    for use in uses:
        used = _used_results(node)
        if not use.carried or use.results is None or used is None:
            continue
        carried = node.args[use.carried]
        count = len(carried)
        before, deciding = use.operands[1] - count, use.results - count
        inputs = [inner for inner in use.region.graph.nodes if inner._op == "placeholder"]
        output = use.region.graph.output_node()
        results = output.args[0]
        kept = [
            place
            for place in range(count)
            if place in used or _is_read(inputs[before + place], output, results[deciding + place])
        ]
        if len(kept) == count or len(results) != use.results:
            continue
        output.args = ((*results[:deciding], *(results[deciding + place] for place in kept)),)
        for place in set(range(count)).difference(kept):
            use.region.graph.erase_node(inputs[before + place])
        args = list(node.args)
        args[use.carried] = tuple(carried[place] for place in kept)
        node.args = tuple(args)
        _renumber_results(node, kept, count)
        changed = True
    return changed


def _is_read(value: Node, output: Node, following: Any) -> bool:
    """Return whether a round does more with a carried value than to pass it on in its place."""
    passes_on = following is value and sum(result is value for result in output.args[0]) == 1
    return any(user is not output or not passes_on for user in value.users)


def _renumber_results(node: Node, kept: list[int], count: int) -> None:
    """Let users of results, and metadata, know that only some of them are left."""
    for user in list(node.users):
        user.args = (node, kept.index(user.args[1]))
    for key in _OF_RESULTS:
        known = (node._meta or {}).get(key)
        if isinstance(known, tuple) and len(known) == count:
            node.meta[key] = tuple(known[index] for index in kept)
    node.spec = None


def _used_results(node: Node) -> set[int] | None:
    """Return which results are used; None if that can't be told."""
    used: set[int] = set()
    for user in node._user_list():
        if user._target is not operator.getitem or user._op != "call_function" or user._kwargs:
            return None
        index: Any = user._args[1]
        if type(index) is not int or index < 0:
            return None
        used.add(index)
    return used


def _drop_operands(node: Node, uses: Iterable[RegionUse]) -> bool:
    """Stop passing values to regions that do not use them."""
    args = list(node._args)
    changed = False
    for use in uses:
        graph = use.region.graph
        inputs = [inner for inner in graph.nodes if inner._op == "placeholder"]
        argument, first = use.operands
        kept = []
        for index, (inner, value) in enumerate(zip(inputs, use.inputs, strict=True)):
            if index < first:
                continue
            if inner._users:
                kept.append(value)
            else:
                graph.erase_node(inner)
        if len(kept) < len(args[argument]):
            args[argument] = tuple(kept)
            changed = True
    if changed:
        node.args = tuple(args)
    return changed
