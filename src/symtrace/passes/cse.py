"""Common subexpressions: equal computations are done once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import torch
from torch import nn

from ..analysis import Class, EffectAnalysis
from ..ir import Node
from ..ops import random_operators
from ..rewrite.pattern import call_of, head
from ..rewrite.sources import check_graph_module
from ..runtime import Graph, GraphModule
from .base import PassBase, PassResult
from .core import Context, Pass, graphs_of

__all__ = [
    "CSEPass",
    "EliminateCommonSubexpressions",
    "eliminate_common_subexpressions",
    "get_CSE_banned_ops",
]


def get_CSE_banned_ops() -> set[Any]:
    """Return the operators that are never merged because they draw random numbers."""
    return set(random_operators())


def eliminate_common_subexpressions(
    gm: GraphModule, banned_ops: Iterable[Any] = ()
) -> tuple[GraphModule, bool]:
    """Return a module in which equal computations are done once; `gm` is left as it is.

    Two computations are equal if they call the same with the same arguments, in any spelling, and what they
    read has not been written in between. They are merged only if neither result is ever written to, and not
    if both are
    returned: the caller could write to one and must not change the other.

    Args:
        gm: Module to look at.
        banned_ops: Functions whose calls are never merged, beside those with effects.

    Returns:
        The new module, and whether anything was merged.

    Cost: linear.
    """
    check_graph_module(gm)
    numbers = _Numbering(gm.graph, EffectAnalysis(gm.graph, any_mode=True), set(banned_ops))
    graph = gm.graph._blank()
    values: dict[Node, Node] = {}
    modified = False
    for node in gm.graph.nodes:
        known = numbers.equal(node)
        if known is None:
            values[node] = graph.node_copy(node, values.__getitem__)
        else:
            values[node] = values[known]
            modified = True
    result = GraphModule.from_module(gm, graph, class_name=type(gm).__name__)
    ctx = Context(result)
    for inner in graphs_of(result):
        if inner is not graph:
            modified = _merge(inner, ctx, set(banned_ops)) or modified
    return result, modified


def _merge(graph: Graph, ctx: Context, banned: set[Any]) -> bool:
    """Let the users of each later computation take the value of the first."""
    escapes = ctx.is_region(graph) and ctx.writes_anything
    numbers = _Numbering(graph, ctx.effects(graph, any_mode=True), banned, escapes)
    equal = [(node, known) for node in graph.nodes if (known := numbers.equal(node)) is not None]
    for node, known in equal:
        node.replace_all_uses_with(known)
        graph.erase_node(node)
    return bool(equal)


_PLAIN = frozenset({int, bool, str, type(None), torch.dtype, torch.device})
"""Types whose values are equal only if they are the same."""


@dataclass
class _Alike:
    """Nodes that call the same on the same nodes, as long as all are written the same way."""

    shape: tuple[Any, ...] | None = None
    nodes: list[Node] = field(default_factory=list)


def _shape(value: Any) -> Any:
    """Return a frozen value with the types of numbers and texts in their place."""
    if type(value) is tuple:
        if len(value) == 2 and type(value[0]) is type and type(value[1]) is value[0]:
            return value[0]
        return tuple([_shape(item) for item in value])
    return value


class _Numbering:
    """Gives equal computations of a graph the same key.

    Args:
        graph: The graph.
        analysis: Its effects.
        banned: Functions whose calls are never merged.
        escapes: What the graph returns may be written to: it is a region of a program that writes.
    """

    def __init__(
        self, graph: Graph, analysis: EffectAnalysis, banned: set[Any], escapes: bool = False
    ) -> None:
        self.escapes = escapes
        self.analysis = analysis
        self.banned = banned
        self.known: dict[Hashable, Node] = {}
        self.as_written: dict[Hashable, Node] = {}
        self.alike: dict[Hashable, _Alike] = {}
        self.first: dict[Node, Node] = {}
        self.versions: dict[Class, int] = {}
        returned = graph.output_node().all_input_nodes
        self.returned = {self.analysis.alias_class(node) for node in returned}
        self.epoch = 0

    def equal(self, node: Node) -> Node | None:
        """Return an earlier node with the same value, or None; call it for each node in order."""
        effect = self.analysis.effect(node)
        if not effect.is_pure:
            self.epoch += effect.barrier
            for written in self.analysis.writes(node):
                self.versions[written] = self.versions.get(written, 0) + 1
            return None
        if node.op in ("placeholder", "output") or self._is_banned(node) or self.analysis.is_written(node):
            return None
        known = self._known(node)
        if known is node:
            return None
        returned = [self._is_returned(known), self._is_returned(node)]
        if all(returned) or (self.escapes and any(returned)):
            return None
        self.first[node] = known
        return known

    def _is_banned(self, node: Node) -> bool:
        target = node.target
        return not self.banned.isdisjoint((target, getattr(target, "overloadpacket", target)))

    def _is_returned(self, node: Node) -> bool:
        return node.op != "get_attr" and self.analysis.alias_class(node) in self.returned

    def _known(self, node: Node) -> Node:
        """Return the first node with the same value, which may be `node` itself.

        The form that is the same for all spellings is found only for nodes that call the same on the same nodes.
        """
        state = self._state(node)
        kwargs = self._freeze(dict(node.kwargs)) if node.kwargs else None
        written = (node.op, node.target, self._freeze(node.args), kwargs, state)
        try:
            known = self.as_written.setdefault(written, node)
        except TypeError:  # a target that can't be hashed
            return node
        if known is not node:
            return self.first.get(known, known)  # the other may have gone itself for one in another spelling
        if node.op in ("get_attr", "call_module"):
            return node
        used = frozenset(self.first.get(other, other) for other in node.all_input_nodes)
        alike = self.alike.setdefault((head(node, False), used, state), _Alike())
        shape = (node.op, node.target, *_shape(written[2:4]))
        if alike.shape in (None, shape):
            alike.shape = shape
            alike.nodes.append(node)
            return node  # written the same way with other numbers: another call
        for other in alike.nodes:
            self.known.setdefault(self._form(other, state), other)
        alike.nodes.clear()
        alike.shape = ()
        return self.known.setdefault(self._form(node, state), node)

    def _state(self, node: Node) -> Hashable:
        """Return what stands for the contents of all that `node` reads."""
        if not self.versions and not self.epoch:
            return ()
        reads = {c: self.versions[c] for c in self.analysis.reads(node) if c in self.versions}
        return (self.epoch, frozenset(reads.items())) if reads or self.epoch else ()

    def _form(self, node: Node, state: Hashable) -> Hashable:
        """Return what two calls have in common if and only if they mean the same."""
        call = call_of(node, False)
        index, values = call.forms[0]
        return (head(node, False), index, self._freeze(values), state)

    def _freeze(self, value: Any) -> Hashable:
        """Return a hashable stand-in that is equal for equal values of one type only."""
        kind = type(value)
        if kind is Node:
            node: Node = self.first.get(value, value)
            return node
        if kind in _PLAIN:
            return (kind, value)
        if isinstance(value, list | tuple):
            return tuple([self._freeze(item) for item in value])
        if isinstance(value, dict):
            return (dict, tuple((key, self._freeze(item)) for key, item in value.items()))
        if isinstance(value, slice):
            return (slice, self._freeze((value.start, value.stop, value.step)))
        if isinstance(value, float | complex):
            return (type(value), repr(value))  # tells 0.0 from -0.0, and finds nan equal to nan
        if isinstance(value, torch.Tensor):
            return (torch.Tensor, id(value))
        try:
            hash(value)
        except TypeError:
            return (type(value), id(value))
        return (type(value), value)


@dataclass(frozen=True)
class EliminateCommonSubexpressions(Pass):
    """Do equal computations once; see `eliminate_common_subexpressions`."""

    name: ClassVar[str] = "cse"

    def run(self, graph: Graph, ctx: Context) -> bool:
        """Let the users of each later computation take the value of the first."""
        return _merge(graph, ctx, set())


class CSEPass(PassBase):
    """Does equal computations once; see `eliminate_common_subexpressions`.

    Args:
        banned_ops: Operators whose calls are never merged, beside those with effects.
    """

    def __init__(self, banned_ops: set[Any] | None = None) -> None:
        self.banned_ops = get_CSE_banned_ops() if banned_ops is None else set(banned_ops)
        super().__init__()

    def call(self, graph_module: nn.Module) -> PassResult:
        """Return a new module in which equal computations are done once.

        Args:
            graph_module: Module to look at; it is left as it is.
        """
        module: Any = graph_module
        return PassResult(*eliminate_common_subexpressions(module, self.banned_ops))
