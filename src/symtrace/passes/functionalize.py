"""Computing new values instead of writing to old ones."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import torch

from ..analysis import EffectAnalysis, is_tensor, is_tensor_method
from ..ir import Node, map_arg
from ..ops.effect import PURE
from ..rewrite.inherit import inherit
from ..runtime import Graph
from .core import Context, Pass
from .elementwise import BINARY, FUNCTIONAL_OPERATORS, FUNCTIONS, INPLACE_FUNCTIONS, METHODS

__all__ = ["Functionalize", "with_item"]


def with_item(value: torch.Tensor, index: Any, item: Any) -> torch.Tensor:
    """Return a copy of a tensor in which `value[index]` is `item`.

    Args:
        value: The tensor.
        index: What may stand in brackets.
        item: A tensor or a number.

    >>> with_item(torch.zeros(3), 1, 5.0)
    tensor([0., 5., 0.])
    """
    result = value.clone()
    result[index] = item
    return result


setattr(with_item, "__symtrace_effect__", lambda args, kwargs: PURE)  # noqa: B010 - functions have no such attribute


_INVERSE_BY_SHAPE = frozenset({"view", "unsqueeze", "view_as"})
_SELF_INVERSE = frozenset({"transpose", "swapaxes", "swapdims", "t"})
_VIEWS = _INVERSE_BY_SHAPE | _SELF_INVERSE
"""Methods that give a view of a tensor, always, and can be undone."""

_EVERYTHING = ...


@dataclass(frozen=True)
class Functionalize(Pass):
    """Replace writes to values of the program's own by new values: `y.add_(1)` by `y.add(1)`.

    Replaced are writes to a value that the program itself has made, or to parts of it that indexing and methods such
    as `view`, `transpose` and `unsqueeze` give: element by element, by assignment to an index, and by `copy_`. What
    is read from the value afterwards, through whatever view, is read from the new one. Writes to inputs, to parameters
    and buffers, to what a region or an unknown call shares, and across a change of gradient mode stay as they are.
    """

    name: ClassVar[str] = "functionalize"

    def run(self, graph: Graph, ctx: Context) -> bool:
        """Replace them."""
        analysis = ctx.effects(graph)
        if not any(analysis.effect(node).mutates for node in analysis.effectful):
            return False
        storage: dict[Node, _Storage] = {}
        for found in _storages(graph, analysis, ctx):
            storage.update(dict.fromkeys(found.members, found))
        if not storage:
            return False
        replaced: list[Node] = []
        for node in list(graph.nodes):
            _follow(graph, node, storage, replaced)
        for node in reversed(replaced):
            graph.erase_node(node)
        return True


@dataclass
class _Storage:
    """A value and all that shares its storage, while its writes are replaced.

    Attributes:
        base: The value as it was made.
        members: For each node that shares the storage, the views that lead from the value to it; None for one that
            does so in an unknown way, and that nothing is written behind.
        writes: Those of them that write.
        version: How many writes have been replaced.
        current: For each way of views, the node that has what is there now, and the version that it is of.
    """

    base: Node
    members: dict[Node, tuple[Node, ...] | None]
    writes: set[Node]
    version: int = 0
    current: dict[tuple[Node, ...], tuple[Node, int]] = field(default_factory=dict)


# ---------------------------------------------------------------------- finding


def _storages(graph: Graph, analysis: EffectAnalysis, ctx: Context) -> list[_Storage]:
    classes: dict[Node, list[Node]] = {}
    modes: dict[Node, int] = {}
    mode = 0
    for node in graph.nodes:
        mode += analysis.effect(node).barrier
        modes[node] = mode
        root = analysis.alias_class(node)
        if root is not None:
            classes.setdefault(root, []).append(node)
    found = []
    for members in classes.values():
        if not any(analysis.effect(node).mutates for node in members):
            continue
        storage, wrong = _storage(members, analysis, modes)
        if storage is None:
            ctx.remark(wrong, "it shares storage in a way that a new value would not")
        else:
            found.append(storage)
    return found


def _storage(
    nodes: list[Node], analysis: EffectAnalysis, modes: dict[Node, int]
) -> tuple[_Storage | None, Node]:
    """Return what is known of nodes that share storage; or None, and the node that is in the way."""
    base, *rest = nodes
    effect = analysis.effect(base)
    if effect.mutates or effect.returns_alias or not base.op.startswith("call"):
        return None, base
    members: dict[Node, tuple[Node, ...] | None] = {base: ()}
    writes: set[Node] = set()
    unknown: Node | None = None
    for node in rest:
        operand = node.args[0] if node.args else None
        path = members.get(operand) if isinstance(operand, Node) else None
        if analysis.effect(node).is_pure:
            known = path is not None and _is_view(node)
            members[node] = (*(path or ()), node) if known else None
            unknown = unknown or (None if known else node)
        elif path is None or unknown is not None or not _is_write(node):
            return None, unknown or node
        else:
            members[node] = path
            writes.add(node)
    if len({modes[node] for node in members}) > 1:
        return None, next(node for node in members if modes[node] != modes[base])
    if not _is_known_tensor(members):
        return None, base  # `x += 1` writes to nothing if x is a number
    output = base.graph.output_node()
    escaping = {members[node] for node in output.all_input_nodes if node in members}
    if len(escaping) > 1:
        return None, output  # whoever gets them may write to one and look at the other
    return _Storage(base, members, writes), base


def _is_view(node: Node) -> bool:
    """Return whether a node gives a view of its first operand that can be undone."""
    if any(isinstance(used, Node) and used is node.args[0] for used in node.args[1:]) or node.kwargs:
        return False
    if node.op == "call_function":
        return node.target is operator.getitem and _is_basic(node.args[1])
    if node.op != "call_method" or node.target not in _VIEWS:
        return False
    return node.target != "view" or not any(isinstance(value, torch.dtype) for value in node.args[1:])


def _is_basic(index: Any) -> bool:
    """Return whether indexing with this gives a view."""
    if isinstance(index, tuple):
        return all(map(_is_basic, index))
    if isinstance(index, slice):
        return not any(isinstance(part, Node) for part in (index.start, index.stop, index.step))
    return index is None or index is ... or type(index) is int


def _is_write(node: Node) -> bool:
    """Return whether a node writes to its first operand in a way that there is a new value for."""
    if "out" in node.kwargs or not isinstance(node.args[0], Node):
        return False
    target = node.target
    if node.op == "call_method":
        if target == "copy_":
            return len(node.args) == 2 and not node.kwargs
        return target.endswith("_") and target[:-1] in METHODS
    if node.op != "call_function":
        return False
    if target is operator.setitem:
        return not node.users
    if target in FUNCTIONS:
        return node.kwargs.get("inplace") is True
    return target in FUNCTIONAL_OPERATORS or target in INPLACE_FUNCTIONS


def _is_known_tensor(members: dict[Node, tuple[Node, ...] | None]) -> bool:
    """Return whether the value is one tensor: an operator made it, or what is done with it only tensors can."""
    base = next(iter(members))
    for node, path in members.items():
        operand = node.args[0] if node.args else None
        at_base = node is base or (isinstance(operand, Node) and members.get(operand) == ())
        if path is None or not at_base:
            continue
        if is_tensor(node) and (node is base or path == ()):
            return True
        if node is base:
            continue
        if node.op == "call_method" and is_tensor_method(str(node.target)):
            return True
        if node.target in INPLACE_FUNCTIONS or node.target in FUNCTIONS:
            return True
        if node.target in (operator.getitem, operator.setitem) and isinstance(node.args[1], tuple):
            return True
    return any(
        user.op == "call_method" and user.args and user.args[0] is base and is_tensor_method(str(user.target))
        for user in base.users
    )


# ---------------------------------------------------------------------- replacing


def _follow(graph: Graph, node: Node, storage: dict[Node, _Storage], replaced: list[Node]) -> None:
    """Let a node use what is there now, and replace it if it writes."""
    mine = storage.get(node)
    if mine is not None and node in mine.writes:
        path = mine.members[node]
        assert path is not None
        with graph.inserting_before(node):
            args, kwargs = map_arg((node.args, dict(node.kwargs)), lambda used: _now(graph, used, storage))
            made, result = _functional(graph, node, args, kwargs)
            inherit(dict.fromkeys((made, result)), [(node, result)], node, "functionalize")
            _put(graph, mine, path, result)
        replaced.append(node)
        return
    if any(used in storage for used in node.all_input_nodes):
        with graph.inserting_before(node):
            args, kwargs = map_arg((node.args, dict(node.kwargs)), lambda used: _now(graph, used, storage))
        node.args, node.kwargs = args, kwargs
    path = None if mine is None else mine.members[node]
    if mine is not None and path is not None:
        mine.current[path] = (node, mine.version)


def _now(graph: Graph, used: Node, storage: dict[Node, _Storage]) -> Node:
    """Return the node that has what `used` would show at this place."""
    mine = storage.get(used)
    path = None if mine is None else mine.members[used]
    return used if mine is None or path is None else _at(graph, mine, path)


def _at(graph: Graph, mine: _Storage, path: tuple[Node, ...]) -> Node:
    known = mine.current.get(path)
    if known is not None and known[1] == mine.version:
        return known[0]
    view = path[-1]
    around = _at(graph, mine, path[:-1])
    made = graph.create_node(view.op, view.target, (around, *view.args[1:]))
    inherit([made], [(view, made)], view, "functionalize")
    mine.current[path] = (made, mine.version)
    return made


def _put(graph: Graph, mine: _Storage, path: tuple[Node, ...], value: Node) -> None:
    """Note that a view has another value, and make that of all around it."""
    written = [(path, value)]
    while path:
        view, path = path[-1], path[:-1]
        around = _at(graph, mine, path)
        made = _around(graph, view, around, value)
        inherit([made], [], view, "functionalize")
        value = made
        written.append((path, value))
    mine.version += 1
    for place, node in written:
        mine.current[place] = (node, mine.version)


def _around(graph: Graph, view: Node, around: Node, value: Node) -> Node:
    """Return a node for what a view is of, with another value in the view."""
    if view.target is operator.getitem:
        return graph.call_function(with_item, (around, view.args[1], value))
    if view.target in _SELF_INVERSE:
        return graph.call_method(view.target, (value, *view.args[1:]))
    return graph.call_method("reshape_as", (value, around))


def _functional(graph: Graph, node: Node, args: Any, kwargs: Any) -> tuple[Node, Node]:
    """Return a node that computes what is written, and one that has it in the dtype of what it is written to."""
    if node.target is operator.setitem:
        made = graph.call_function(with_item, args)
        return made, made
    if node.op == "call_method" and node.target == "copy_":
        made = graph.call_function(with_item, (args[0], _EVERYTHING, args[1]))
        return made, made
    if node.op == "call_method":
        name = str(node.target)[:-1]
        made = graph.call_method(name, args, kwargs)
    elif node.target in FUNCTIONS:
        name = ""
        made = graph.call_function(node.target, args, {**kwargs, "inplace": False})
    else:
        function, name = (FUNCTIONAL_OPERATORS | INPLACE_FUNCTIONS)[node.target]
        made = graph.call_function(function, args, kwargs)
    if name in BINARY and any(
        isinstance(used, Node) and used is not args[0] for used in (*args[1:], *kwargs.values())
    ):
        # A write keeps the dtype of what it writes to; where that is so anyway, this is free.
        return made, graph.call_method("type_as", (made, args[0]))
    return made, made
