"""What control flow asks of a tracer: what only the run can decide, and values that stand for one of several."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from ..ir import Node
from ..ops import program
from ..runtime.graph import Graph
from . import hooks
from .blame import trace_error
from .control_flow.levels import refusal
from .flags import answer_by_flags, asks_for_flag
from .guards import add_guard
from .kinds import Mixed, kind_of
from .known import Unknown
from .optionals import NO_FACTS, Facts, Optionals, OrNone
from .proxy import Proxy
from .state import Replaced

if TYPE_CHECKING:
    from .assigned import AssignedContainers
    from .control_flow.levels import Level
    from .snapshot import Snapshot
    from .state import Paths

__all__ = ["NOT_WRITTEN", "Joints", "SeveralKinds", "asks_for_flag"]

NOT_WRITTEN = object()
_READ_AGAIN = object()


class Joints(Optionals):
    """Holds regions while they are recorded, and makes the values that come out of them."""

    if TYPE_CHECKING:
        _is_proxy: Callable[[Any], bool]
        _kinds: dict[Node, type]
        _paths: Paths
        _written: dict[tuple[int, str], Any]
        _replaced: dict[int, Any]
        _snapshot: Snapshot
        _assigned: AssignedContainers
        _record_write: Callable[..., None]

    def new_region_graph(self) -> Graph:
        """Return an empty graph for a region; what it interns, the whole program has."""
        graph = Graph(tracer_cls=type(self))
        graph.interned = self.graph.interned
        return graph

    @contextmanager
    def in_region(self, level: Level) -> Iterator[None]:
        """Record in a region; what is known or cached only there is forgotten afterwards."""
        if self._unread:
            self._read_attributes()  # here, where all that follows sees them
        outer, tables = self.graph, self._tables()
        self.levels.append(level)
        self.graph = level.graph
        try:
            yield
            if self._unread:
                self._read_attributes()  # while what they are read of is at hand
            self.record_filled()
        finally:
            self.levels.pop()
            self.graph = outer
            for name, before in tables.items():
                if name == "_written":
                    now = self._written
                    level.written |= {key for key in now if now[key] is not before.get(key, NOT_WRITTEN)}
                elif name == "_replaced":
                    level.replaced = {key: one for key, one in self._replaced.items() if key not in before}
                setattr(self, name, before)

    def record_filled(self) -> None:
        """Assign containers again that the program has filled after it assigned them to an attribute.

        Raises:
            TraceError: ST022, it has assigned one on one way of a decision and filled it after the ways met.
        """
        for module, name, value in self._assigned.changed(len(self.levels)):
            if self._assigned.is_deeper(module, name, len(self.levels)):
                raise trace_error("ST022", attribute=f"self.{name}")
            self._record_write(module, name, value)

    def _tables(self) -> dict[str, Any]:
        """Return copies of what is remembered of nodes, by the name of the attribute."""
        names = ("_parameters", "_written", "_replaced", "_training", "_module_nodes", "_guarded",
                 "_is_none")  # fmt: skip
        return {name: copy.copy(getattr(self, name)) for name in names}

    def forget_written(self, written: set[Any]) -> None:
        """Have attributes read again that a region may have written, if the program reads them."""
        for level in self.levels:
            level.written |= written
        self._written.update(dict.fromkeys(written, _READ_AGAIN))

    def written_value(self, key: tuple[int, str]) -> Any:
        """Return what the program has assigned to an attribute; `NOT_WRITTEN` if it has not.

        Args:
            key: Identity of the module, and name of the attribute.
        """
        value = self._written.get(key, NOT_WRITTEN)
        if value is _READ_AGAIN:
            path = self._paths.modules[key[0]][0]
            value = self.create_proxy("get_attr", f"{path}.{key[1]}" if path else key[1], (), {})
            self._written[key] = value
        return value

    def note_replaced(self, replaced: dict[int, Any], node: Node) -> None:
        """Have tensors of modules read before a node that may put others in their place."""
        for identity, one in replaced.items():
            self._replaced[identity] = Replaced(one.tensor, one.path, node, one.key)

    def has_failed_with(self, error: BaseException) -> bool:
        """Tell whether an operation of the program has raised an exception at the capture."""
        return False

    def record_failed(self, error: BaseException) -> None:
        """Record an operation that has failed at the capture, where any does."""

    def is_open(self, value: Any) -> bool:
        """Tell whether only the run can say if a traced value is true."""
        try:
            _, _, assumed = self._answer_of(value.node, bool)
        except Unknown:
            return True
        return assumed and asks_for_flag(value.node)

    def is_flag(self, test: Any) -> bool:
        """Tell whether a traced value asks for a flag that callers switch, and nothing else."""
        return asks_for_flag(self.create_arg(test))

    def is_written(self, path: str) -> bool:
        """Tell whether the program has assigned an attribute."""
        written = {(self._paths.modules[identity][0], name) for identity, name in self._written}
        owner, _, name = path.rpartition(".")
        return (owner, name) in written

    def taken_by_flags(self, test: Any) -> bool | None:
        """Return the way that flags which callers switch decide on alone, as they are, and have them checked."""
        found = answer_by_flags(self, self.create_arg(test))
        if found is None:
            return None
        answer, flags = found
        for path, held in flags.items():
            add_guard(self, self.create_node("get_attr", path, (), {}), held)
        return answer

    def rests_on_flags(self, test: Any) -> bool:
        """Tell whether flags that callers switch decide alone on a value, as long as they are as they are."""
        node = self.create_arg(test)
        return asks_for_flag(node) or answer_by_flags(self, node) is not None

    def contains(self, tensor: Any, item: Any) -> Any:
        """Return `item in tensor` as a traced bool."""
        equal = self.call_function(operator.eq, (tensor, item), {})
        return self.truth_of(self.call_method("any", (equal,), {}))

    def truth_of(self, tensor: Any) -> Any:
        """Return `bool(tensor)` as a traced bool."""
        return self.call_function(bool, (tensor,), {})

    def note_mixed(self, node: Node) -> None:
        """Note that the result of a node is of a class that the data decides."""
        self._kinds[node] = Mixed

    def prefers_else(self, test: Any) -> bool:
        """Tell whether the example goes the second way."""
        return False

    def may_merge(self, one: Any, two: Any) -> bool:
        """Tell whether two values can be results of the two ways of one decision."""
        numbers = (int, float, bool, complex)
        return all(
            self._is_proxy(value) or hooks.original_isinstance(value, (*numbers, torch.Tensor))
            for value in (one, two)
        )

    def merged(self, one: Any, two: Any, node: Node, index: int) -> Any:
        """Return the value that is one of two, read from a result of a node."""
        kinds = {self._kind_of_value(value) for value in (one, two)}
        part = self.create_node("call_function", operator.getitem, (node, index), {})
        self._kinds[part] = kinds.pop() if len(kinds) == 1 else Mixed
        return self.proxy(part)

    def kind_of_node(self, node: Node) -> type:
        """Return the class of a node's value, `Mixed` for one that the data decides."""
        return kind_of(node, self.attribute, self.examples, self._known_kind)

    def _known_kind(self, node: Node) -> type | Node | None:
        found = self._kinds.get(node)
        if found is not None or node.op != "placeholder" or not self.levels:
            return found
        return self.outer_of(node)

    def _kind_of_value(self, value: Any) -> type:
        if type(value) is SeveralKinds:
            return Mixed
        if type(value) is OrNone:
            return self._kind_of_value(value.sample)
        if issubclass(type(value), Proxy):
            with hooks.tracing_as(None):
                return self.kind_of_node(value.node)
        return torch.Tensor if issubclass(type(value), torch.Tensor) else type(value)

    def _kind_there(self, value: Proxy) -> type:
        """Return the class of a value, if it is not None."""
        with hooks.tracing_as(None):
            kind = self.kind_of_node(value.node)
        if kind is Mixed:
            raise refusal(self, "asks for the class of a value that is of several, depending on the data")
        return kind

    def may_be_bool(self, value: Any) -> bool:
        """Tell whether a traced value may be a bool of Python."""
        if value.node.op in ("placeholder", "get_attr"):
            return False
        return not issubclass(self._kind_of_value(value), torch.Tensor)

    def is_bool(self, value: Any) -> bool:
        """Tell whether a traced value is known to be a bool."""
        return not self.is_optional(value) and self._kind_of_value(value) is bool

    def outer_of(self, placeholder: Node) -> Node | None:
        """Return the node that a placeholder of a region stands for."""
        for level in self.levels:
            for outer, inner in level.captured.items():
                if inner is placeholder:
                    return outer
        return None

    def is_traced(self, value: Any) -> bool:
        """Tell whether a value is one that the run computes, or a tensor that it could."""
        return self._is_proxy(value) or hooks.original_isinstance(value, torch.Tensor)

    def is_value(self, value: Any) -> bool:
        """Tell whether a value can be carried by the graph: traced, a tensor, or a number."""
        return self.is_traced(value) or type(value) in (int, float, bool, complex)

    def renewed(self, sample: Any, node: Node) -> Any:
        """Return a traced value like `sample` that another node computes."""
        self._kinds[node] = self._kind_of_value(sample)
        return self.proxy(node)

    def renewed_state(self, sample: Any, node: Node) -> Any:
        """Return a traced value like one that the program keeps from call to call, which a node reads."""
        return self.renewed(sample, node)

    def joined(self, one: Any, two: Any) -> Any:
        """Return a sample for what is either of two values: `one` itself if it will do; None if none does."""
        if type(one) is SeveralKinds:
            return one if self.may_merge(one.sample, two) else None
        if not self.may_merge(one, two):
            return None
        if self._kind_of_value(one) is not self._kind_of_value(two):
            return SeveralKinds(one)
        return two if not self.is_traced(one) and self.is_traced(two) else one

    def item_of(self, value: Any, node: Node) -> Any:
        """Return the traced value of a node that stands for an item of a value."""
        if not issubclass(self._kind_of_value(value), torch.Tensor):
            self._kinds[node] = Mixed
        return self.proxy(node)

    def is_open_iterable(self, value: Any) -> bool:
        """Tell whether only the run can say how many items a value has."""
        if not self._is_proxy(value):
            return False
        try:
            self._answer_of(value.node, len)
        except Unknown:
            return True
        return False

    def samples_of(self, value: Any) -> list[Any]:
        """Return items like those of a traced list, if they are known."""
        return []

    def is_compared_open(self, value: Any) -> bool:
        """Tell whether only the run can say how a traced value compares with others."""
        return self.is_open(value)

    def is_traced_list(self, value: Any) -> bool:
        """Tell whether a value is a list of the graph."""
        return self._is_proxy(value) and self._kind_of_value(value) is list

    def like(self, value: Any, node: Node) -> Any:
        """Return the traced list of as many items as a traced value has that a node stands for."""
        self._kinds[node] = list
        return self.proxy(node)

    def growing_list(self, items: list[Any], new: list[Any], facts: Facts = NO_FACTS) -> Any:
        """Return the traced value of a new list with some items, to which others like `new` will be added."""
        self.refuse_none_in(items)
        self.refuse_none_in(new, facts)
        return self.create_proxy("call_function", program.new_list, (items,), {})


@dataclass(frozen=True)
class SeveralKinds:
    """Stands in a loop for a value that is of several classes.

    Attributes:
        sample: One that it may be.
    """

    sample: Any
