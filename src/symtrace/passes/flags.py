"""Flags that only decide, such as whether a loop has met a `break`, as tensors of bools."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from typing import Any

import torch

from ..ir import CHANGING, Node, Region, holder_of, region_uses
from ..ops.control_flow import for_each, torch_while, while_loop
from ..runtime import Graph

__all__ = ["as_tensors", "is_bool", "is_flag", "may_be_plain", "negate"]

_COMPARISONS = frozenset({
    operator.gt, operator.ge, operator.lt, operator.le, operator.eq, operator.ne, operator.not_,
    torch.gt, torch.ge, torch.lt, torch.le, torch.eq, torch.ne, torch.any, torch.all, torch.logical_not,
    torch.logical_and, torch.logical_or, torch.logical_xor,
})  # fmt: skip
_TESTS = frozenset(
    {"gt", "ge", "lt", "le", "eq", "ne", "any", "all", "logical_not", "logical_and", "logical_or"}
)
_LOOPS = frozenset({for_each, while_loop, torch_while})


def is_bool(value: Any) -> bool:
    """Return whether a value is known to be a bool, or a tensor of bools, whatever way it comes from.

    Cost: linear in what it comes through.
    """
    seen: set[Node] = set()
    stack = [value]
    while stack:
        current = stack.pop()
        if isinstance(current, bool) or current in seen:
            continue
        if not isinstance(current, Node):
            return False
        seen.add(current)
        before = _before(current)
        if before is not None:
            stack += before
        elif _passes_on(current):
            stack.append(current.args[0])
        elif current.target in (operator.and_, operator.or_, operator.xor, operator.invert):
            stack += current.args
        elif not _gives_bool(current):
            return False
    return True


def may_be_plain(value: Any) -> bool:
    """Return whether a value may be a number or a constant, as the program tells without running.

    Cost: linear in what it comes from, for each loop that carries it round.
    """
    if not isinstance(value, Node):
        return True
    sources: dict[Node, list[Any]] = {}
    stack = [value]
    while stack:
        node = stack.pop()
        if node not in sources:
            before = _before(node)
            sources[node] = list(node.args) if before is None and node.target in _OF_NUMBERS else before or []
            stack += [one for one in sources[node] if isinstance(one, Node)]
    plain: set[Any] = set()
    count = -1
    while len(plain) > count:  # what goes round in a loop is plain if something plain comes in
        count = len(plain)
        for node in reversed(sources):
            are_plain = [not isinstance(one, Node) or one in plain for one in sources[node]]
            if _gives_plain(node) or (are_plain and (all if node.target in _OF_NUMBERS else any)(are_plain)):
                plain.add(node)
    return value in plain


def _gives_plain(node: Node) -> bool:
    if node.op == "get_attr":
        return str(node.target).rpartition(".")[2] == "training"
    if node.op == "call_method":
        return node.target in _NUMBERS_OF_TENSORS
    return node.op == "call_function" and node.target in _GIVE_NUMBERS


_OF_NUMBERS = frozenset(getattr(operator, name) for name in operator.__all__) - {operator.getitem}
_GIVE_NUMBERS = frozenset({bool, float, int, len, round, range})
_NUMBERS_OF_TENSORS = frozenset({"dim", "item", "numel", "nelement", "size", "tolist"})


def _gives_bool(node: Node) -> bool:
    if getattr(node.meta.get("tensor_meta"), "dtype", None) is torch.bool:
        return True
    if node.op == "call_method":
        return node.target in _TESTS
    if node.op != "call_function":
        return False
    return node.target in _COMPARISONS or node.kwargs.get("dtype") is torch.bool


def _passes_on(node: Node) -> bool:
    return node.target is torch.as_tensor or (node.op == "call_method" and node.target == "clone")


def _before(value: Node) -> list[Any] | None:
    """Return the values that a result of a region, or a value in it, may be; None for one that is computed."""
    if value.op == "placeholder":
        holder = holder_of(value.graph)
        if holder is None:
            return None
        for use in region_uses(holder):
            if use.region.graph is value.graph:
                place = use.region.graph.find_nodes(op="placeholder").index(value)
                return _inputs(holder, use.region, use.inputs[place], place)
        return None
    source = value.args[0] if value.target is operator.getitem else None
    if not isinstance(source, Node) or not region_uses(source) or not isinstance(value.args[1], int):
        return None
    place = value.args[1]
    found = [_outputs(use.region)[place + _shift(source)] for use in region_uses(source)]
    return [*found, source.args[2][place]] if source.target in _LOOPS else found


def _inputs(holder: Node, region: Region, given: Any, place: int) -> list[Any] | None:
    if given is not CHANGING:
        return [given]
    carried = place - (holder.target is for_each)
    return None if carried < 0 else [holder.args[2][carried], _outputs(region)[carried + _shift(holder)]]


def _outputs(region: Region) -> tuple[Any, ...]:
    results: tuple[Any, ...] = region.graph.output_node().args[0]
    return results


def _shift(node: Node) -> int:
    """Return how many results of the region of a node come before the values that it carries, or gives."""
    if node.target is for_each:
        return int(len(node.args) > 4 and bool(node.args[4]))
    return int(node.target in _LOOPS)


def is_flag(node: Node, place: int, is_carried: bool = False) -> bool:
    """Return whether what is the result at `place` of a decision or loop does nothing but decide.

    Args:
        node: The node with regions.
        place: A result of its regions, or one of the values that it carries.
        is_carried: Whether it is the latter.

    Cost: linear in what the value goes through.
    """
    place = place if is_carried else place - _shift(node)
    return place < 0 or _only_decides(_behind(node, place))


def _only_decides(values: Iterable[Node]) -> bool:
    seen: set[Node] = set()
    stack = list(values)
    while stack:
        value = stack.pop()
        if value in seen:
            continue
        seen.add(value)
        for user in value.users:
            following = _after(value, user)
            if following is None:
                return False
            stack += following
    return True


def _behind(node: Node, place: int) -> Iterator[Node]:
    """Yield the nodes that stand for a value that a node with regions gives or carries."""
    for user in node.users:
        if user.target is operator.getitem and user.args[1] == place:
            yield user
    if node.target in _LOOPS:
        yield from _placeholders(node, place + (node.target is for_each))


def _placeholders(node: Node, place: int) -> Iterator[Node]:
    for use in region_uses(node):
        yield use.region.graph.find_nodes(op="placeholder")[place]


def _after(value: Node, user: Node) -> list[Node] | None:
    """Return the nodes that have a flag from one of its users; None if that user does more than to decide."""
    if _passes_on(user) or user.target in (operator.not_, torch.logical_not):
        return [user]
    if user.op == "output":
        holder = holder_of(user.graph)
        if holder is None:
            return None
        places = [place for place, result in enumerate(user.args[0]) if result is value]
        return [
            node
            for place in places
            if place >= _shift(holder)
            for node in _behind(holder, place - _shift(holder))
        ]
    uses = region_uses(user)
    if not uses or (user.target is for_each and user.args[0] is value):
        return None
    found: list[Node] = []
    for use in uses:
        inner = use.region.graph.find_nodes(op="placeholder")
        found += [inner[place] for place, given in enumerate(use.inputs) if given is value]
    if user.target in _LOOPS:
        carried = [place for place, given in enumerate(user.args[2]) if given is value]
        found += [node for place in carried for node in _behind(user, place)]
    return found


def as_tensors(graph: Graph, node: Node) -> None:
    """Make flags tensors that a node with regions gives and carries, and what negates them in the regions."""
    if node.target in _LOOPS:
        with graph.inserting_before(node):
            carried = tuple(_tensor(graph, value) for value in node.args[2])
        node.args = (*node.args[:2], carried, *node.args[3:])
    for use in region_uses(node):
        inner: Any = use.region.graph
        output = inner.output_node()
        with inner.inserting_before(output):
            output.args = (tuple(_tensor(inner, value) for value in output.args[0]),)
        negate(inner)


def _tensor(graph: Any, value: Any) -> Any:
    if not isinstance(value, bool):
        return value
    return graph.call_function(torch.full, ((), value), {"dtype": torch.bool})


def negate(graph: Any) -> None:
    """Let `not` of a flag be an operation on tensors."""
    for node in graph.find_nodes(op="call_function", target=operator.not_):
        if is_bool(node.args[0]) and _only_decides([node]):
            with graph.inserting_before(node):
                flag = graph.call_function(torch.as_tensor, node.args)
                negated = graph.call_function(torch.logical_not, (flag,))
            node.replace_all_uses_with(negated)
            graph.erase_node(node)
