"""What two graphs have in common and where they differ, as a person would want to read it."""

from __future__ import annotations

import bisect
import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..ir import Node, Region, map_arg
from .describe import call_text, nodes_of, regions_in, target_text

__all__ = ["GraphDiff", "diff"]

_CONTEXT = 2
"""Unchanged nodes that are printed around a change."""


@dataclass(frozen=True)
class GraphDiff:
    """The differences of two graphs. It is false if there are none; printed, it reads like a unified diff.

    Attributes:
        removed: Nodes of the first without a counterpart.
        added: Nodes of the second without a counterpart.
        changed: Pairs of counterparts that call something else, or the same with other arguments.
        moved: Pairs of counterparts that stand in another order.
        modules: A line for each submodule, parameter or buffer that differs.
    """

    removed: tuple[Node, ...]
    added: tuple[Node, ...]
    changed: tuple[tuple[Node, Node], ...]
    moved: tuple[tuple[Node, Node], ...]
    modules: tuple[str, ...] = ()
    _lines: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    def __bool__(self) -> bool:
        return bool(self.removed or self.added or self.changed or self.moved or self.modules)

    @property
    def summary(self) -> str:
        """One line that says how much differs."""
        counts = [
            (len(self.removed), "removed"),
            (len(self.added), "added"),
            (len(self.changed), "changed"),
            (len(self.moved), "moved"),
        ]
        found = [f"{count} {what}" for count, what in counts if count]
        text = f"nodes: {', '.join(found)}" if found else "nodes: no difference"
        return f"{text}; modules: {len(self.modules)} differ" if self.modules else text

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yield pairs of a mark (`"-"`, `"+"`, `"m"` for moved, `" "`, `"@"`) and a line of text."""
        shown: set[int] = set()
        for place, (mark, _) in enumerate(self._lines):
            if mark != " ":
                shown.update(range(place - _CONTEXT, place + _CONTEXT + 1))
        before = -1
        for place, line in enumerate(self._lines):
            if place in shown:
                if place != before + 1:
                    yield "@", f"... {place - before - 1} nodes"
                before = place
                yield line
        if shown and before + 1 < len(self._lines):
            yield "@", f"... {len(self._lines) - before - 1} nodes"
        for text in self.modules:
            yield text[0], text[2:]

    def __str__(self) -> str:
        return "\n".join([self.summary, *(f"{mark} {text}" for mark, text in self.lines())])


def diff(left: Any, right: Any) -> GraphDiff:
    """Return where two graphs differ.

    Nodes are counterparts if they compute the same from the same inputs, or else if they have one name and kind, or
    the same place between other counterparts. Names that differ are no difference.

    Args:
        left: A Graph or a GraphModule.
        right: Another. Of two GraphModules, the modules and tensors that the graphs use are compared too.

    >>> import torch, symtrace
    >>> first = symtrace.symbolic_trace(lambda x: torch.relu(x) + 1)
    >>> second = symtrace.symbolic_trace(lambda x: torch.tanh(x) + 1)
    >>> print(diff(first, second))
    nodes: 1 removed, 1 added, 1 changed
      x = input
    - relu = torch.relu(x)
    + tanh = torch.tanh(x)
    - add = operator.add(relu, 1)
    + add = operator.add(tanh, 1)
      return add
    """
    ours, theirs = list(nodes_of(left)), list(nodes_of(right))
    pairs = _counterparts(ours, theirs)
    changed = [(a, b) for a, b in pairs.items() if not _is_same(a, b, pairs)]
    moved = _moved(ours, theirs, pairs)
    matched = set(pairs.values())
    removed = [node for node in ours if node not in pairs]
    added = [node for node in theirs if node not in matched]
    lines = tuple(_lines(ours, theirs, pairs, set(changed), set(moved)))
    modules = tuple(_modules(left, right, ours, theirs))
    return GraphDiff(tuple(removed), tuple(added), tuple(changed), tuple(moved), modules, lines)


def _counterparts(ours: list[Node], theirs: list[Node]) -> dict[Node, Node]:
    """Return for each node of the first its counterpart in the second, if it has one."""
    numbers: dict[Any, int] = {}
    left, right = _numbered(ours, numbers), _numbered(theirs, numbers)
    pairs: dict[Node, Node] = {}
    named = {(right[node], node.name): node for node in theirs}
    for node in ours:
        other = named.get((left[node], node.name))
        if other is not None:
            pairs[node] = other
    taken = set(pairs.values())
    by_number: dict[int, list[Node]] = {}
    for node in reversed(theirs):
        if node not in taken:
            by_number.setdefault(right[node], []).append(node)
    for node in ours:
        if node not in pairs and by_number.get(left[node]):
            pairs[node] = by_number[left[node]].pop()
    taken = set(pairs.values())
    names = {node.name: node for node in theirs if node not in taken}
    for node in ours:
        other = names.get(node.name)
        if node not in pairs and other is not None and _kind(other) == _kind(node):
            pairs[node] = other
            taken.add(other)
    rest = [node for node in ours if node not in pairs]
    others = [node for node in theirs if node not in taken]
    mine, yours = ([n.op if n.op == "placeholder" else _kind(n) for n in nodes] for nodes in (rest, others))
    blocks = difflib.SequenceMatcher(None, mine, yours, False)
    for start, other_start, size in blocks.get_matching_blocks():
        pairs.update(zip(rest[start : start + size], others[other_start : other_start + size], strict=True))
    return pairs


def _kind(node: Node) -> Any:
    return node.op, node.target if isinstance(node.target, str) else target_text(node)


def _numbered(nodes: list[Node], numbers: dict[Any, int]) -> dict[Node, int]:
    """Give nodes that compute the same from the same inputs the same number."""
    found: dict[Node, int] = {}
    for node in nodes:
        key = (*_kind(node), _frozen(node.args, found), _frozen(dict(node.kwargs), found))
        found[node] = numbers.setdefault(key, len(numbers))
    return found


def _frozen(value: Any, numbers: Mapping[Node, int]) -> Any:
    if isinstance(value, Node):
        return ("node", numbers.get(value))
    if isinstance(value, tuple | list):
        return tuple(_frozen(item, numbers) for item in value)
    if isinstance(value, dict):
        return tuple((key, _frozen(item, numbers)) for key, item in value.items())
    if isinstance(value, Region):
        return _frozen_region(value)
    return (type(value).__name__, repr(value))


def _frozen_region(region: Region) -> Any:
    """Return what two regions have in common if they compute the same."""
    places: dict[Node, int] = {}
    rows = []
    for place, node in enumerate(region.graph.nodes):
        kind = node.op if node.op == "placeholder" else _kind(node)
        rows.append((kind, _frozen(node.args, places), _frozen(dict(node.kwargs), places)))
        places[node] = place
    return tuple(rows)


def _is_same(left: Node, right: Node, pairs: Mapping[Node, Node]) -> bool:
    """Return whether counterparts call the same on counterparts."""
    if _kind(left) != _kind(right):
        return False
    mine: Any = map_arg((left.args, dict(left.kwargs)), lambda node: pairs.get(node, node))
    ids: dict[Node, int] = {}
    for node in (*left.all_input_nodes, *right.all_input_nodes):
        ids.setdefault(node, len(ids))
        other = pairs.get(node)
        if other is not None:
            ids.setdefault(other, len(ids))
    return bool(_frozen(mine, ids) == _frozen((right.args, dict(right.kwargs)), ids))


def _moved(ours: list[Node], theirs: list[Node], pairs: Mapping[Node, Node]) -> list[tuple[Node, Node]]:
    """Return the fewest pairs that have to be moved to bring all into one order."""
    place = {node: index for index, node in enumerate(theirs)}
    common = [node for node in ours if node in pairs]
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, node in enumerate(common):
        there = place[pairs[node]]
        length = bisect.bisect_left(tails, there)
        before.append(ends[length - 1] if length else -1)
        if length == len(tails):
            tails.append(there)
            ends.append(index)
        else:
            tails[length], ends[length] = there, index
    kept: set[int] = set()
    index = ends[-1] if ends else -1
    while index >= 0:
        kept.add(index)
        index = before[index]
    return [(node, pairs[node]) for index, node in enumerate(common) if index not in kept]


def _text(node: Node) -> str:
    text = call_text(node)
    return text if node.op == "output" else f"{node.name} = {text}"


def _lines(
    ours: Iterable[Node],
    theirs: Iterable[Node],
    pairs: Mapping[Node, Node],
    changed: set[tuple[Node, Node]],
    moved: set[tuple[Node, Node]],
) -> Iterator[tuple[str, str]]:
    """Yield the lines of both graphs, those that they share once."""
    moved_nodes = {node for node, _ in moved}
    back = {other: node for node, other in pairs.items()}
    left = iter(ours)

    def up_to(stop: Node | None) -> Iterator[tuple[str, str]]:
        """Yield what stands in the first graph alone up to a node of it."""
        for node in left:
            if node is stop:
                return
            if node not in pairs:
                yield from _listed(node, "-")

    waiting: list[tuple[str, str]] = []
    for node in theirs:
        mine = back.get(node)
        if mine is None or mine in moved_nodes:
            waiting += _listed(node, "+" if mine is None else "m")
            continue
        yield from up_to(mine)
        yield from waiting
        waiting.clear()
        if (mine, node) in changed:
            yield from _change(mine, node)
        else:
            yield " ", _text(node)
    yield from up_to(None)
    yield from waiting


def _listed(node: Node, mark: str, indent: str = "") -> Iterator[tuple[str, str]]:
    """Yield a node, and what is in its regions, all with one mark."""
    yield mark, f"{indent}{_text(node)}"
    for name, graph in regions_in(node):
        yield mark, f"{indent}  {name}:"
        for inner in graph.nodes:
            yield from _listed(inner, mark, f"{indent}    ")


def _change(left: Node, right: Node) -> Iterator[tuple[str, str]]:
    """Yield how a node differs from its counterpart; where their regions correspond, how those do."""
    mine, theirs = regions_in(left), regions_in(right)
    if not mine or [name for name, _ in mine] != [name for name, _ in theirs]:
        yield from _listed(left, "-")
        yield from _listed(right, "+")
        return
    if _text(left) == _text(right):
        yield " ", _text(left)
    else:
        yield "-", _text(left)
        yield "+", _text(right)
    for (name, one), (_, other) in zip(mine, theirs, strict=True):
        inner = diff(one, other)
        if inner:
            yield " ", f"  {name}:"
            yield from ((mark, f"    {text}") for mark, text in inner.lines())


def _modules(left: Any, right: Any, ours: list[Node], theirs: list[Node]) -> Iterator[str]:
    """Yield a line for each module or tensor that the graphs use and that differs."""
    if not (hasattr(left, "named_modules") and hasattr(right, "named_modules")):
        return
    mine, others = _used(left, ours), _used(right, theirs)
    for path in sorted(mine.keys() | others.keys()):
        if path not in others:
            yield f"- {path}: {_short(mine[path])}"
        elif path not in mine:
            yield f"+ {path}: {_short(others[path])}"
        else:
            what = _differences(mine[path], others[path])
            if what:
                yield f"~ {path}: {what}"


def _used(module: Any, nodes: list[Node]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    stack = list(reversed(nodes))
    while stack:
        node = stack.pop()
        stack += [inner for _, graph in regions_in(node) for inner in graph.nodes]
        if node.op in ("call_module", "get_attr"):
            value = module
            for atom in node.target.split("."):
                value = getattr(value, atom, None)
            found[node.target] = value
    return found


def _short(value: Any) -> str:
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    text = " ".join(repr(value).split())
    return text if len(text) <= 90 else f"{type(value).__name__}(...)"


def _differences(left: Any, right: Any) -> str:
    if left is right:
        return ""
    if _short(left) != _short(right) or type(left) is not type(right):
        return f"{_short(left)} -> {_short(right)}"
    if not hasattr(left, "state_dict"):
        return "" if _equal(left, right) else "other values"
    mine, others = left.state_dict(), right.state_dict()
    names = [name for name in {**mine, **others} if not _equal(mine.get(name), others.get(name))]
    settings = repr(left) != repr(right)
    parts = [f"other values of {', '.join(names)}"] if names else []
    return "; ".join([*(["other settings"] if settings else []), *parts])


def _equal(left: Any, right: Any) -> bool:
    if left is right:
        return True
    if not (hasattr(left, "shape") and hasattr(right, "shape")):
        return bool(left == right) if type(left) is type(right) else False
    same = left.shape == right.shape and left.dtype == right.dtype and left.device == right.device
    return bool(same and left.equal(right))
