"""Effects, aliasing and order: which nodes of a graph may change places.

Values that may share storage are in one class. Inputs, attributes and whatever an unknown function may reach
are all in one class, `external`, since a caller may pass the same tensor twice. Two nodes may change places
unless one writes to a class that the other reads or writes, both draw random numbers, or one of them is a
barrier.
"""

from __future__ import annotations

import bisect
import operator
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..ir import Graph, Node, map_arg, region_uses
from ..ops import Effect, effects, program
from ..ops.control_flow import cond, torch_cond
from ..ops.effect import OPAQUE
from .kinds import is_tensor, is_view_of_self
from .training import TrainingOrder, submodule

__all__ = ["EffectAnalysis", "node_effect"]

ATTRIBUTES = "attributes"
"""The class of what `get_attr` reads: which object stands at a path, not what is in it."""

Class = Node | str | None
"""Values that may share storage: one of them, `ATTRIBUTES`, or None for `external`."""

_SETTERS = frozenset({setattr, delattr, program.write_attribute})
_STORING_FUNCTIONS = frozenset({operator.setitem, setattr, operator.iconcat})
_CONTAINER_WRITES = frozenset({operator.iadd, operator.ior})
"""Augmented assignments after which a list, dict or set holds what the other operand holds."""
_STORING_METHODS = frozenset(
    {"append", "extend", "insert", "update", "setdefault", "appendleft", "__setitem__", "__setattr__", "set_"}
)


def node_effect(node: Node, modules: Any = None, any_mode: bool = False) -> Effect:
    """Return what `node` does besides computing its value.

    Args:
        node: A node.
        modules: Module in which `call_module` targets resolve; by default the one that owns the graph.
        any_mode: Count what a module does in training also when it is in evaluation mode.
    """
    module = None
    if node.op == "call_module":
        owner = node.graph.owning_module if modules is None else modules
        module = submodule(owner, node.target)
    return effects(node.op, node.target, node.args, node.kwargs, module, any_mode)


@dataclass(frozen=True)
class _Inside:
    """What the regions of a node do together, as seen from outside.

    Attributes:
        effect: The effect.
        reads: Whether they read from a module.
        sets: Whether they may change which objects the attributes of modules are.
    """

    effect: Effect
    reads: bool
    sets: bool


def _inside(node: Node, any_mode: bool) -> _Inside:
    """Look into the regions of a node: writes to what a region has made itself show nowhere outside."""
    random = check = opaque = reads = sets = False
    aliases = node.target not in (
        cond,
        torch_cond,
    )  # loops give back what they are given when they run no round
    for use in region_uses(node):
        analysis = EffectAnalysis(use.region.graph, any_mode)
        sets = sets or analysis.sets_attributes
        for inner in use.region.graph.nodes:
            effect = analysis.effect(inner)
            reads = reads or inner.op in ("get_attr", "call_module") or analysis.reads_modules(inner)
            random, check = random or effect.random, check or effect.check
            shows = bool(effect.mutates) and None in analysis.writes(inner)
            opaque = opaque or shows or effect.impure or effect.writes_state or effect.barrier
        returned = use.region.graph.output_node().all_input_nodes
        aliases = aliases or any(analysis.alias_class(value) is None for value in returned)
    if opaque:
        return _Inside(OPAQUE, reads, sets)
    return _Inside(Effect(random=random, check=check, returns_alias=aliases), reads, sets)


class EffectAnalysis:
    """Effects and aliasing of one graph, as it stands when the analysis is made.

    Args:
        graph: Graph to analyse.
        any_mode: Count what modules do in training also when they are in evaluation mode, for edits that have to
            be right in either mode.

    Cost: linear.

    >>> import operator
    >>> graph = Graph()
    >>> x = graph.placeholder("x")
    >>> before = graph.call_function(operator.neg, (x,))
    >>> write = graph.call_function(operator.iadd, (x, 1))
    >>> EffectAnalysis(graph).conflict(before, write)
    True
    """

    def __init__(self, graph: Graph, any_mode: bool = False) -> None:
        self._effects: dict[Node, Effect] = {}
        self._parent: dict[Node | None, Node | None] = {None: None}
        self._insides: dict[Node, _Inside] = {}
        effectful: list[Node] = []
        for node in graph.nodes:
            if len(node.args) > 3 and region_uses(node):
                self._insides[node] = _inside(node, any_mode)
                effect = self._insides[node].effect
            else:
                effect = node_effect(node, None, any_mode)
            self._effects[node] = effect
            self._parent[node] = node
            self._join(node, effect)
            if not effect.is_pure:
                effectful.append(node)
        self.effectful = effectful
        """Nodes that are not pure, in order."""

    @property
    def sets_attributes(self) -> bool:
        """Whether anything in the graph may change which objects the attributes of modules are."""
        return ATTRIBUTES in self._written_classes()

    @property
    def writes_anything(self) -> bool:
        """Whether anything in the graph may write to any value."""
        return bool(self._written_classes())

    @property
    def writes_outside(self) -> bool:
        """Whether anything in the graph may write to inputs, attributes, or what is not known."""
        return None in self._written_classes()

    def effect(self, node: Node) -> Effect:
        """Return the effect of a node."""
        return self._effects[node]

    def is_pure(self, nodes: Iterable[Node]) -> bool:
        """Return whether none of `nodes` has an effect."""
        return all(self._effects[node].is_pure for node in nodes)

    def alias_class(self, node: Node) -> Node | None:
        """Return the representative of the values that may share storage with `node`; None for `external`."""
        return self._find(node)

    def members(self, shared: Node) -> list[Node]:
        """Return the values that may share storage with one another; `shared` is what `alias_class` gives for them.

        Cost: linear for the first call.
        """
        groups: dict[Node | None, list[Node]] | None = self.__dict__.get("_groups")
        if groups is None:
            groups = {}
            for node in self._effects:
                groups.setdefault(self._find(node), []).append(node)
            self.__dict__["_groups"] = groups
        return groups.get(shared, [])

    def reads(self, node: Node) -> set[Class]:
        """Return the classes whose contents `node` may read."""
        if node.op == "get_attr":
            return {ATTRIBUTES}
        found: set[Class] = {self._find(used) for used in node.all_input_nodes}
        if node.op == "call_module" or self._effects[node].impure:
            found.add(None)
        if self.reads_modules(node):
            found.update((None, ATTRIBUTES))
        return found

    def reads_modules(self, node: Node) -> bool:
        """Return whether regions of a node read attributes of modules, or what they hold."""
        return node in self._insides and self._insides[node].reads

    def writes(self, node: Node) -> set[Class]:
        """Return the classes whose contents `node` may write."""
        effect = self._effects[node]
        if effect.is_pure:
            return set()
        found: set[Class] = {None} if effect.writes_state or effect.impure else set()
        sets = node in self._insides and self._insides[node].sets
        if sets or node.target in _SETTERS or (effect.impure and node.op != "call_function"):
            found.add(ATTRIBUTES)
        if effect.impure:
            found.update(self._find(used) for used in node.all_input_nodes)
            return found
        map_arg(effect.written(node.args, node.kwargs), lambda used: found.add(self._find(used)))
        return found

    def conflict(self, left: Node, right: Node) -> bool:
        """Return whether the order of two nodes matters apart from the flow of values between them."""
        first, second = self._effects[left], self._effects[right]
        if first.is_pure and second.is_pure:
            return False
        if first.barrier or second.barrier:
            return True
        if first.check or second.check:
            return not (first.is_pure or second.is_pure)
        if (first.random or first.impure) and (second.random or second.impure):
            return True
        written = self.writes(left)
        if written and written & (self.reads(right) | self.writes(right)):
            return True
        return bool(self.writes(right) & self.reads(left))

    def effectful_between(self, first: Node, last: Node) -> Iterator[Node]:
        """Yield the effectful nodes from `first` to `last`, both included."""
        index = bisect.bisect_left(self.effectful, first)
        while index < len(self.effectful) and self.effectful[index] <= last:
            yield self.effectful[index]
            index += 1

    def may_move(self, node: Node, before: Node, others: Collection[Node]) -> bool:
        """Return whether `node` may be moved in front of `before`, past all nodes between that are not in
        `others`.

        Only effects are looked at, not the flow of values.
        """
        passed: Iterable[Node]
        if self._effects[node].is_pure:
            first, last = (node, before) if node < before else (before, node)
            passed = self.effectful_between(first, last)
        elif node < before:
            passed = _from_to(node, before)
        else:
            passed = _from_to(before, node)
        sinks = node < before

        def stays(other: Node) -> bool:
            return other is node or (sinks and other is before) or other in others

        if any(not stays(other) and self.conflict(node, other) for other in passed):
            return False
        if not self.training.counts(node):
            return True
        first, last = (node, before) if sinks else (before, node)
        return not any(
            not stays(other) and self.training.conflict(node, other) for other in _from_to(first, last)
        )

    @cached_property
    def training(self) -> TrainingOrder:
        """What has to keep its order on account of what layers do once they are switched to training."""
        return TrainingOrder(self._effects)

    def is_written(self, node: Node) -> bool:
        """Return whether anything in the graph writes to storage that `node` may share."""
        return self._find(node) in self._written_classes()

    def _written_classes(self) -> set[Class]:
        cached: set[Class] | None = self.__dict__.get("_written")
        if cached is None:
            cached = set()
            for node in self.effectful:
                cached |= self.writes(node)
            self.__dict__["_written"] = cached
        return cached

    def _find(self, node: Node | None) -> Node | None:
        parent = self._parent
        root = node
        while parent[root] is not root:
            root = parent[root]
        while parent[node] is not root:
            parent[node], node = root, parent[node]
        return root

    def _union(self, left: Node | None, right: Node | None) -> None:
        left, right = self._find(left), self._find(right)
        if left is None or right is None:
            child = right if left is None else left
            self._parent[child] = None
        else:
            self._parent[right] = left

    def _join(self, node: Node, effect: Effect) -> None:
        """Put `node` into one class with what its value may share storage with."""
        if node.op in ("placeholder", "get_attr"):
            self._union(node, None)
            return
        if effect.returns_alias:
            owners = self._returned(node, effect)
            from_module = node.op == "call_module" and owners is None and _may_hold_tensors(node)
            if from_module or self.reads_modules(node):
                self._union(node, None)
            for used in node.all_input_nodes if owners is None else owners:
                self._union(node, used)
        if effect.impure and not effect.barrier:
            self._union(node, None)  # the function may keep its arguments
        storing = _STORING_FUNCTIONS if node.op == "call_function" else _STORING_METHODS
        if effect.mutates and node.target in storing and not _assigns_to_tensor(node):
            for used in node.all_input_nodes:
                self._union(node, used)

    def _returned(self, node: Node, effect: Effect) -> list[Node] | None:
        """Return the operands that a call returns, or a view of, if it returns nothing of the others.

        Operators on tensors return what they write to; containers may come to hold the other operands.
        """
        if effect.impure or effect.writes_state:
            return None
        if not effect.mutates:
            return _viewed(node)
        name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")
        if node.op == "call_method":
            known = name.endswith("_") and not name.endswith("__") and name not in _STORING_METHODS
        elif node.op == "call_module":
            known = True  # layers of torch.nn
        elif node.target in _CONTAINER_WRITES:
            known = bool(node.args) and is_tensor(node.args[0])
        else:
            known = node.target not in _STORING_FUNCTIONS and node.target not in _SETTERS
            known = known or _assigns_to_tensor(node)
        if not known:
            return None
        owners: list[Node] = []
        map_arg(effect.written(node.args, node.kwargs), owners.append)
        return owners or None


def _viewed(node: Node) -> list[Node] | None:
    """Return the tensor that the value of a node is a view of or a copy, if it shares nothing with other operands."""
    first = node.args[0] if node.args else None
    if not isinstance(first, Node):
        return None
    if node.op == "call_function":
        is_part = node.target is operator.getitem and is_tensor(first)
        return [first] if is_part else None
    is_view = node.op == "call_method" and is_view_of_self(str(node.target))
    return [first] if is_view else None


def _may_hold_tensors(node: Node) -> bool:
    """Return whether the module that a node calls may hold a tensor, which the call could return."""
    module = submodule(node.graph.owning_module, node.target)
    if module is None:
        return True
    known = all(type(part).__module__.startswith("torch.nn.modules.") for part in module.modules())
    held = any(
        True for part in module.modules() for _ in (*part._parameters.values(), *part._buffers.values())
    )
    return held or not known


def _assigns_to_tensor(node: Node) -> bool:
    """Return whether an assignment to an item copies it into a tensor, which comes to hold nothing of it."""
    if node.target is not operator.setitem or len(node.args) != 3:
        return False
    index = node.args[1]
    sliced = isinstance(index, tuple) and any(type(part) is slice or part is ... for part in index)
    return sliced or is_tensor(node.args[0])


def _from_to(first: Node, last: Node) -> Iterator[Node]:
    node = first
    while True:
        yield node
        if node is last:
            return
        node = node.next
