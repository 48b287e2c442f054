"""Finding a pattern in a graph.

Matching walks from the anchors of the pattern against the flow of values. It keeps its own stacks, so that
neither the pattern nor the graph may be too deep for it, and goes back to the last choice when something
differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from ..analysis import computes_number
from ..ir import Graph, Node
from ..ops.canonical import Call, same_literal
from .pattern import Pattern, call_of, head, is_node, resolve, same_configuration
from .wildcard import WILDCARD, wildcard_call

__all__ = ["InternalMatch", "SubgraphMatcher", "same_constant", "same_module"]


@dataclass
class InternalMatch:
    """One place where a pattern was found.

    Attributes:
        anchors: Nodes of the pattern from which the match was found.
        nodes_map: For each node of the pattern, the node of the graph, or the literal that stands for an
            input.
        placeholder_nodes: What stands for the inputs of the pattern, in order.
        returning_nodes: What stands for the values that the pattern returns, in order.
        name_node_map: For each name that the pattern gives to a node, the node of the graph.
    """

    anchors: list[Node]
    nodes_map: dict[Node, Any] = field(default_factory=dict)
    placeholder_nodes: list[Any] = field(default_factory=list)
    returning_nodes: list[Node] = field(default_factory=list)
    name_node_map: dict[str, Node] = field(default_factory=dict)

    def __copy__(self) -> InternalMatch:
        return InternalMatch(
            self.anchors,
            self.nodes_map.copy(),
            self.placeholder_nodes.copy(),
            self.returning_nodes.copy(),
            self.name_node_map.copy(),
        )

    @property
    def inner(self) -> list[Node]:
        """The nodes of the graph that compute what the pattern computes, in the order of matching."""
        return [node for key, node in self.nodes_map.items() if key.op not in ("placeholder", "output")]


class SubgraphMatcher:
    """Finds the places of a graph that a pattern describes.

    A match is closed: apart from what the pattern returns, nothing outside uses a matched node. Arguments
    match in any spelling: by position, by keyword or left out when they have the default; as a method or as a
    function.

    Args:
        pattern: Graph to look for.
        match_output: The output of the pattern has to match the output of the graph.
        match_placeholder: Inputs of the pattern match inputs of the graph only; else they match any value.
        remove_overlapping_matches: Of matches that share nodes, keep the first.
        ignore_literals: Literals match any literal.
        normalize: Functions that compute the same match each other (`F.relu` and `torch.relu`, `+` and
            `torch.add`; `nn.ReLU()(x)` and `F.relu(x)`), and operands of commutative functions may be exchanged.
        any_path: Modules with parameters match modules of the same class and configuration wherever they are; else
            the path has to be the same too.

    Raises:
        PatternError: The pattern computes nothing (ST202) or has dead code (ST203).
    """

    def __init__(
        self,
        pattern: Graph,
        match_output: bool = False,
        match_placeholder: bool = False,
        remove_overlapping_matches: bool = True,
        ignore_literals: bool = False,
        *,
        normalize: bool = False,
        any_path: bool = False,
    ) -> None:
        self.pattern = pattern
        self.match_output = match_output
        self.match_placeholder = match_placeholder
        self.remove_overlapping_matches = remove_overlapping_matches
        self.ignore_literals = ignore_literals
        self.normalize = normalize
        self.any_path = any_path
        self.compiled = Pattern(pattern, normalize, match_output)
        self.pattern_placeholder_nodes = list(self.compiled.placeholders)
        self.pattern_returning_nodes = list(self.compiled.returning)
        self.pattern_anchors = list(self.compiled.anchors)

    def match(
        self,
        graph: Graph,
        node_name_match: str = "",
        *,
        accept: Callable[[InternalMatch], bool] | None = None,
    ) -> list[InternalMatch]:
        """Return the places where the pattern stands in `graph`, in the order of the graph.

        Args:
            graph: Graph to search.
            node_name_match: Nodes whose name contains this text match whatever they call.
            accept: Called with each match; one for which it returns False is dropped before overlaps are
                removed.

        Cost: linear in the graph for patterns of bounded size; operands that may be exchanged and patterns
            with several anchors can cost more.
        """
        search = _Search(self, graph, node_name_match)
        matches = []
        for nodes_map in search.solutions():
            match = self._result(nodes_map)
            if not self._is_closed(nodes_map) or (accept is not None and not accept(match)):
                continue
            matches.append(match)
            if self.remove_overlapping_matches:
                search.take(node for node in match.inner if node.op != "get_attr")
        return matches

    def _result(self, nodes_map: dict[Node, Any]) -> InternalMatch:
        return InternalMatch(
            anchors=list(self.compiled.anchors),
            nodes_map=nodes_map,
            placeholder_nodes=[nodes_map[n] for n in self.compiled.placeholders if n in nodes_map],
            returning_nodes=[nodes_map[n] for n in self.compiled.returning],
        )

    def _is_closed(self, nodes_map: dict[Node, Any]) -> bool:
        matched = {node for node in nodes_map.values() if is_node(node)}
        returned = set(self.compiled.returning)
        for key, node in nodes_map.items():
            if key.op in ("placeholder", "get_attr") or key in returned:
                continue
            if any(user not in matched for user in node.users):
                return False
        return not _is_circular(nodes_map)


def _is_circular(nodes_map: dict[Node, Any]) -> bool:
    """Return whether a way from one matched node to another leads outside, so that they can't run as one."""
    inner = {node for key, node in nodes_map.items() if key.op != "placeholder"}
    last = max(inner)
    stack = [user for node in inner for user in node.users if user not in inner and user < last]
    seen = set(stack)
    while stack:
        for user in stack.pop().users:
            if user in inner:
                return True
            if user < last and user not in seen:
                seen.add(user)
                stack.append(user)
    return False


_Goals = Any
"""A linked list of pairs still to be matched: `(pattern value, graph value, rest)`, or None."""


class _Search:
    """One search of one graph: what is bound, what is still to be matched, and where a choice is open."""

    def __init__(self, matcher: SubgraphMatcher, graph: Graph, name: str) -> None:
        self.matcher = matcher
        self.pattern = matcher.compiled
        self.graph = graph
        self.name = name
        self.heads = self.pattern.heads()
        self.calls: dict[Node, Call] = {}
        self.commutes = any(self.pattern.call(node).commutes for node in self.pattern.graph.nodes)
        self.compatible: dict[tuple[Node, Node], bool] = {}
        self.taken: set[Node] = set()
        self.restart = False
        self.bound: dict[Node, Any] = {}
        self.images: set[Node] = set()
        self.index = self._index()

    def take(self, nodes: Iterator[Node]) -> None:
        """Keep later matches off `nodes`."""
        self.taken.update(nodes)
        self.restart = True

    def _index(self) -> dict[Any, list[Node]]:
        wanted = {self.heads[anchor] for anchor in self.pattern.anchors}
        index: dict[Any, list[Node]] = {key: [] for key in wanted}
        any_call = index.get(WILDCARD)
        for node in self.graph.nodes:
            key = head(node, self.pattern.normalize)
            if any_call is not None and node.op.startswith("call_"):
                any_call.append(node)
            if key in index:
                index[key].append(node)
            elif self.name and self.name in node.name:
                for nodes in index.values():
                    nodes.append(node)
        return index

    def solutions(self) -> Iterator[dict[Node, Any]]:
        """Yield each way to map the pattern into the graph."""
        anchors = self.pattern.anchors
        for first in self._deep_enough(self.index[self.heads[anchors[0]]]):
            self.restart = False
            self.bound.clear()
            self.images.clear()
            yield from self._from(((anchors[0], first, None)), list(anchors[1:]))

    def _deep_enough(self, candidates: Sequence[Node]) -> Iterator[Node]:
        """Yield the nodes that have as much in front of them as the first anchor.

        Without this, looking for a long chain in a longer one would walk most of it from each of its nodes.
        Nodes that an earlier match has taken can only stand for inputs, and count as such.
        """
        wanted = _levels(self.pattern.graph.nodes)[self.pattern.anchors[0]]
        if wanted <= _SHALLOW:
            yield from (candidate for candidate in candidates if candidate not in self.taken)
            return
        levels: dict[Node, int] = {}
        nodes = iter(self.graph.nodes)
        for candidate in candidates:
            while candidate not in levels:
                node = next(nodes)
                levels[node] = _level(node, levels, self.taken)
            if levels[candidate] >= wanted and candidate not in self.taken:
                yield candidate

    def _from(self, goals: _Goals, later: list[Node]) -> Iterator[dict[Node, Any]]:
        """Yield the solutions of `goals`, with the anchors in `later` matched afterwards."""
        choices: list[tuple[int, int, Iterator[_Goals]]] = []
        depth = 0
        while True:
            if goals is None and depth < len(later):
                anchor = later[depth]
                depth += 1
                if anchor not in self.bound:
                    choices.append((len(self.bound), depth, self._candidates(anchor)))
                    goals = _FAILED
                continue
            if goals is None:
                yield dict(self.bound)
                if self.restart:
                    return
                goals = _FAILED
            elif goals is not _FAILED:
                goals = self._step(goals, choices, depth)
            while goals is _FAILED:
                if not choices:
                    return
                count, depth, alternatives = choices[-1]
                self._undo(count)
                goals = next(alternatives, _FAILED)
                if goals is _FAILED:
                    choices.pop()

    def _candidates(self, anchor: Node) -> Iterator[_Goals]:
        """Yield the nodes that may stand for a further anchor, next to what is bound already if it can be."""
        near = next(
            (self.bound[used] for used in anchor.all_input_nodes if is_node(self.bound.get(used))), None
        )
        nodes: Sequence[Node] = self.index[self.heads[anchor]] if near is None else sorted(near.users)
        for node in nodes:
            yield (anchor, node, None)

    def _undo(self, count: int) -> None:
        while len(self.bound) > count:
            _, node = self.bound.popitem()
            if is_node(node):
                self.images.discard(node)

    def _step(self, goals: _Goals, choices: list[tuple[int, int, Iterator[_Goals]]], depth: int) -> _Goals:
        """Match the first pair; return what is left to match, or `_FAILED`."""
        wanted, value, rest = goals
        if is_node(wanted):
            return self._step_node(wanted, value, rest, choices, depth)
        if is_node(value):
            return _FAILED
        if isinstance(wanted, list | tuple) and isinstance(value, list | tuple):
            return _push(wanted, value, rest)
        if isinstance(wanted, dict) and isinstance(value, dict):
            if wanted.keys() != value.keys():
                return _FAILED
            return _push(list(wanted.values()), [value[key] for key in wanted], rest)
        if isinstance(wanted, slice) and isinstance(value, slice):
            return _push(
                (wanted.start, wanted.stop, wanted.step), (value.start, value.stop, value.step), rest
            )
        return rest if self.matcher.ignore_literals or same_literal(wanted, value) else _FAILED

    def _step_node(
        self,
        wanted: Node,
        value: Any,
        rest: _Goals,
        choices: list[tuple[int, int, Iterator[_Goals]]],
        depth: int,
    ) -> _Goals:
        if wanted in self.bound:
            known = self.bound[wanted]
            return rest if known is value or (not is_node(known) and same_literal(known, value)) else _FAILED
        if not is_node(value):
            if wanted.op != "placeholder" or self.matcher.match_placeholder:
                return _FAILED
            self.bound[wanted] = value
            return rest
        if value in self.images or not self._agree(wanted, value):
            return _FAILED
        self.bound[wanted] = value
        self.images.add(value)
        if wanted.op == "placeholder":
            return rest
        alternatives = self._operands(wanted, value, rest)
        if len(alternatives) > 1:
            choices.append((len(self.bound), depth, iter(alternatives[1:])))
        return alternatives[0] if alternatives else _FAILED

    def _agree(self, wanted: Node, value: Node) -> bool:
        """Return whether two nodes agree in what they call."""
        if wanted.op == "placeholder":
            return not self.matcher.match_placeholder or value.op == "placeholder"
        if value in self.taken:
            return False
        if self.name and self.name in value.name:
            return True
        wanted_head = self.heads[wanted]
        if wanted_head == WILDCARD:
            return value.op.startswith("call_")
        if value.op == "call_function" == wanted.op and value.target is wanted.target:
            return True
        if wanted_head != head(value, self.pattern.normalize):
            return False
        if value.target is not wanted.target and computes_number(value):
            return False  # `n + 1` of sizes is not what `torch.add` computes
        if wanted.op == "get_attr":
            return same_constant(wanted, value)
        if wanted.op != "call_module" or value.op != "call_module":
            return True
        return same_module(wanted, value, self.matcher.any_path)

    def _operands(self, wanted: Node, value: Node, rest: _Goals) -> list[_Goals]:
        """Return the ways to match the operands of two nodes."""
        ways = self._ways(wanted, value)
        return [_push(left, right, rest) for left, right in ways if self._is_plausible(left, right)]

    def _is_plausible(self, wanted: Sequence[Any], values: Sequence[Any]) -> bool:
        """Return False where a look at the operands themselves shows that they can't match."""
        if len(wanted) != len(values):
            return False
        for one, other in zip(wanted, values, strict=True):
            if is_node(one) and one.op != "placeholder":
                if not is_node(other) or not self._is_compatible(one, other):
                    return False
            elif is_node(other) and not is_node(one):
                return False
        return True

    def _is_compatible(self, wanted: Node, value: Node) -> bool:
        """Return False where `value` can't match `wanted` whatever the rest of the pattern is bound to.

        Without exchangeable operands a look at the two nodes is enough, as nothing is tried twice. With them,
        the answer for each pair is kept: it cuts off the branches that would multiply.
        """
        if not self.commutes:
            return self._agree(wanted, value)
        known = self.compatible
        stack = [(wanted, value)]
        while stack:
            pair = stack[-1]
            if pair not in known:
                if not self._agree(*pair):
                    known[pair] = False
                else:
                    ways = [_node_pairs(left, right) for left, right in self._ways(*pair)]
                    open_pairs = [p for way in ways if way is not None for p in way if p not in known]
                    if open_pairs:
                        stack += open_pairs
                        continue
                    known[pair] = any(way is not None and all(known[p] for p in way) for way in ways)
            stack.pop()
        return known[wanted, value]

    def _ways(self, wanted: Node, value: Node) -> list[tuple[Sequence[Any], Sequence[Any]]]:
        """Return the operands of two nodes side by side, once for each order in which they may stand."""
        mine = self.pattern.call(wanted)
        if self.heads[wanted] == WILDCARD:
            return [(mine.forms[0][1], wildcard_call(value).forms[0][1])]
        if not mine.commutes and _are_alike(wanted, value):
            return [(wanted.args, value.args)]
        theirs = self.calls.get(value)
        if theirs is None:
            theirs = self.calls[value] = call_of(value, self.pattern.normalize)
        forms = dict(theirs.forms)
        common = next(((values, forms[index]) for index, values in mine.forms if index in forms), None)
        if common is None:
            return []
        left, right = common
        ways: list[tuple[Sequence[Any], Sequence[Any]]] = [(left, right)]
        if mine.commutes and len(right) > 1 and right[0] is not right[1]:
            ways.append((left, (right[1], right[0], *right[2:])))
        return ways


_FAILED = object()

_SHALLOW = 8
"""Levels of a pattern up to which walking it from each node costs less than counting the levels of all nodes."""


def _are_alike(wanted: Node, value: Node) -> bool:
    """Return whether two nodes are spelled alike: one target, and nothing but positional nodes as operands."""
    args, others = wanted.args, value.args
    return (
        value.target is wanted.target
        and len(args) == len(others)
        and value.op == wanted.op
        and value.op in ("call_function", "call_method")
        and not wanted.kwargs
        and not value.kwargs
        and all(type(item) is Node for item in args)
        and all(type(item) is Node for item in others)
    )


def _level(node: Node, levels: dict[Node, int], taken: set[Node]) -> int:
    """Return how many computations stand one behind the other up to `node`."""
    if node.op in ("placeholder", "get_attr"):
        return 0
    return 1 + max((0 if used in taken else levels[used] for used in node.all_input_nodes), default=0)


def _levels(nodes: Iterable[Node]) -> dict[Node, int]:
    levels: dict[Node, int] = {}
    for node in nodes:
        levels[node] = _level(node, levels, set())
    return levels


def _node_pairs(wanted: Sequence[Any], values: Sequence[Any]) -> list[tuple[Node, Node]] | None:
    """Return the pairs of nodes among operands, inputs of the pattern left out; None if they can't match."""
    if len(wanted) != len(values):
        return None
    pairs = []
    for one, other in zip(wanted, values, strict=True):
        if is_node(one) and one.op != "placeholder":
            if not is_node(other):
                return None
            pairs.append((one, other))
        elif is_node(other) and not is_node(one):
            return None
    return pairs


def _push(wanted: Sequence[Any], values: Sequence[Any], rest: _Goals) -> _Goals:
    """Put pairs in front of `rest`, the first of them foremost."""
    if len(wanted) != len(values):
        return _FAILED
    for pair in zip(reversed(wanted), reversed(values), strict=True):
        rest = (*pair, rest)
    return rest


def same_constant(wanted: Node, value: Node) -> bool:
    """Return False for two constants with different values.

    A parameter, or a buffer that is part of the state, stands for any other: its value is not what a pattern
    is about. A tensor that the program merely holds is a literal.
    """
    mine, theirs = _held(wanted), _held(value)
    if mine is None or mine is theirs:
        return True
    if theirs is None:
        return False
    alike = mine.shape == theirs.shape and mine.dtype == theirs.dtype and mine.device == theirs.device
    return alike and bool(torch.equal(mine, theirs))


def _held(node: Node) -> torch.Tensor | None:
    """Return the tensor that a node reads if it is neither a parameter nor part of the state."""
    path, _, name = node.target.rpartition(".")
    owner = node.graph.owning_module
    holder = resolve(owner, path) if path else owner
    found = getattr(holder, name, None)
    if not isinstance(found, torch.Tensor) or isinstance(found, torch.nn.Parameter):
        return None
    is_buffer = name in getattr(holder, "_buffers", ())
    return None if is_buffer and name not in getattr(holder, "_non_persistent_buffers_set", ()) else found


def same_module(wanted: Node, value: Node, any_path: bool = False) -> bool:
    """Return whether two nodes call modules that do the same.

    Modules without parameters and buffers do if they are of one class and built alike. With them, the path
    has to be the same too: what the pattern says of `fc1` does not hold for another layer of the same shape.
    """
    mine = resolve(wanted.graph.owning_module, wanted.target)
    theirs = resolve(value.graph.owning_module, value.target)
    if mine is None or theirs is None:
        return bool(wanted.target == value.target)
    if mine is theirs:
        return True
    has_state = any(True for _ in mine.parameters()) or any(True for _ in mine.buffers())
    if has_state and not any_path and wanted.target != value.target:
        return False
    return same_configuration(mine, theirs)
