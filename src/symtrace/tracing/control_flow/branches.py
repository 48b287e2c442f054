"""Records both ways of a decision as regions of one node, and merges what they leave behind."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from torch import nn

from ...errors import TraceError
from ...ir import Node, Region, map_arg
from ...ops import effects, program
from ...ops.control_flow import cond
from ..blame import here, names_traced
from ..frames import handles_exceptions, is_internal, is_own
from ..snapshot import Snapshot

if TYPE_CHECKING:
    from ...runtime import Graph
    from ..watching import Watcher

__all__ = ["Level", "Raised", "record_branches", "recorded", "refusal", "would_handle"]


def refusal(tracer: Watcher, what: str) -> TraceError:
    """Return the error for a decision that can't be kept; it stands even where the program handles it."""
    tracer.refusal = TraceError("ST033", location=here(3), what=what)
    return tracer.refusal


class Raised(BaseException):
    """The path that is recorded ends in an exception.

    Attributes:
        error: The exception.
    """

    def __init__(self, error: BaseException) -> None:
        super().__init__(error)
        self.error = error


@dataclass
class Level:
    """A region that is being recorded.

    Attributes:
        graph: Its graph.
        captured: The placeholder in it for each node of a graph around it.
        written: Attributes of modules that it writes.
    """

    graph: Graph
    captured: dict[Node, Node] = field(default_factory=dict)
    written: set[Any] = field(default_factory=set)

    def local(self, node: Node) -> Node:
        """Return what stands for a node in the region: itself, or a placeholder."""
        if node.graph is self.graph:
            return node
        placeholder = self.captured.get(node)
        if placeholder is None:
            first = next((one for one in self.graph.nodes if one.op != "placeholder"), None)
            with (
                self.graph.inserting_before(first) if first is not None else self.graph.inserting_after(None)
            ):
                placeholder = self.graph.create_node("placeholder", f"{node.name}_in", (), {}, node.name)
            self.captured[node] = placeholder
        return placeholder


@dataclass
class _Path:
    """One way of a decision, recorded."""

    level: Level
    value: Any
    raised: bool


def recorded(tracer: Watcher, function: Callable[[], Any]) -> _Path:
    """Run a function with its operations recorded in a region of their own.

    Args:
        tracer: Records.
        function: Runs the path.
    """
    level = Level(tracer.new_region_graph())
    with tracer.in_region(level):
        try:
            value, raised = function(), False
        except Raised as stop:
            tracer.create_node("call_function", program.raise_error, (stop.error,), {})
            value, raised = None, True
        except Exception as error:
            if not _is_of_program(error, tracer):
                raise
            if would_handle(tracer._outside):
                raise refusal(tracer, "may handle an exception that only one way raises") from error
            what = f"one way of the decision raises {type(error).__name__}: {error}"
            tracer.report.add("assumption", what, here(3))
            tracer.create_node("call_function", program.raise_error, (error.with_traceback(None),), {})
            value, raised = None, True
    return _Path(level, value, raised)


def _is_of_program(error: Exception, tracer: Watcher) -> bool:
    """Tell whether the program, or a function of torch that it calls, has raised an exception."""
    if isinstance(error, TraceError) or tracer.refusal is not None or names_traced(error):
        return False
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and not is_own(trace.tb_frame)


def would_handle(outside: Any) -> bool:
    """Tell whether a function of the program that is running would handle an exception."""
    frame: Any = sys._getframe(2)
    while frame is not None and frame is not outside:
        if not is_internal(frame) and handles_exceptions(frame):
            return True
        frame = frame.f_back
    return False


def record_branches(
    tracer: Watcher,
    test: Any,
    then: Callable[[], Any],
    orelse: Callable[[], Any],
    held: Callable[[], Any] = tuple,
) -> Any:
    """Record both ways of a decision, and return their result as one value.

    Args:
        tracer: Records.
        test: The value that decides.
        then: Runs the path for a true value.
        orelse: Runs the other path.
        held: Gives containers that a path may change.

    Raises:
        TraceError: ST033, the results are of kinds that can't stand for one another.
    """
    last = next(iter(reversed(tracer.graph.nodes)), None)
    written = dict(tracer._written)
    try:
        return _record(tracer, test, then, orelse, held)
    except TraceError:
        if not tracer.is_flag(test):
            raise
        tracer.refusal = None
        tracer._written = written
        _erase_since(tracer, last)
    # The flag of a module holds for many calls: the way it has now is taken, with a guard.
    return then() if test else orelse()


def _erase_since(tracer: Watcher, last: Node | None) -> None:
    """Take back what was recorded since."""
    made = []
    for node in reversed(list(tracer.graph.nodes)):
        if node is last:
            break
        if node.op != "placeholder" and not node.users:
            tracer.graph.erase_node(node)
            made.append(node)
    tracer._forget_nodes(set(made))


def _record(
    tracer: Watcher,
    test: Any,
    then: Callable[[], Any],
    orelse: Callable[[], Any],
    held: Callable[[], Any],
) -> Any:
    recorded_paths = []
    for function in (then, orelse):
        watched = _watched(held)
        changed = None
        try:
            recorded_paths.append(recorded(tracer, function))
        finally:
            changed = watched.restore()
        if changed is not None:
            raise refusal(tracer, "changes a container on one way of a decision")
    paths = recorded_paths[0], recorded_paths[1]
    if all(path.raised for path in paths):
        raise refusal(tracer, "raises on both ways of a decision on traced values")
    merger = _Merger(tracer, paths)
    shape = merger.merge(paths[0].value, paths[1].value)
    if not merger.outputs[0] and not any(map(_does_something, paths)):
        return shape
    predicate = tracer.create_arg(test)
    regions = []
    for path, outputs in zip(paths, merger.outputs, strict=True):
        results: Any = (None,) * len(outputs)
        if not path.raised:
            with tracer.in_region(path.level):
                results = map_arg(tuple(map(tracer.create_arg, outputs)), path.level.local)
        path.level.graph.output(results)
        regions.append(Region(path.level.graph))
    operands = [tuple(path.level.captured) for path in paths]
    node = tracer.create_node("call_function", cond, (predicate, *regions, *operands), {})
    tracer.forget_written(paths[0].level.written | paths[1].level.written)
    merger.prefers_else = tracer.prefers_else(test)
    return merger.build(shape, node)


def _does_something(path: _Path) -> bool:
    """Tell whether a path does more than compute values."""
    return any(
        not effects(node.op, node.target, node.args, node.kwargs).is_pure
        for node in path.level.graph.nodes
        if node.op != "output"
    )


def _watched(held: Callable[[], Any]) -> Snapshot:
    """Return what lists, dicts, sets and objects are before a path is recorded, on which it must not change them."""
    watched = Snapshot(nn.Module(), None)
    try:
        values = held()
    except NameError:  # one of them has no value yet
        values = ()
    for value in values:
        watched.watch("a variable", value)
    return watched


@dataclass(frozen=True)
class _Result:
    """A place in a merged value that a result of the node fills."""

    index: int


class _Merger:
    """Finds out where the results of two paths differ.

    Attributes:
        outputs: For each path, the values that have to be results of its region.
        prefers_else: Whether the example goes the second way.
    """

    def __init__(self, tracer: Watcher, paths: tuple[_Path, _Path]) -> None:
        self._tracer = tracer
        self._paths = paths
        self._raised = [path.raised for path in paths]
        self.outputs: tuple[list[Any], list[Any]] = ([], [])
        self.prefers_else = False

    def merge(self, one: Any, two: Any) -> Any:
        """Return the common structure of two values, with `_Result` where they differ."""
        if self._raised[0]:
            return self._only(two, 1)
        if self._raised[1]:
            return self._only(one, 0)
        if one is two:
            return one
        from .flow import UNDEFINED

        if one is UNDEFINED or two is UNDEFINED:
            return UNDEFINED
        cls = type(one)
        if cls is type(two) and cls in (tuple, list) and len(one) == len(two):
            return cls([self.merge(a, b) for a, b in zip(one, two, strict=True)])
        if cls is type(two) and cls is dict and list(one) == list(two):
            return {key: self.merge(one[key], two[key]) for key in one}
        is_traced = self._tracer._is_proxy(one) or self._tracer._is_proxy(two)
        if not is_traced and cls is type(two) and _equal(one, two):
            return one
        if not self._tracer.may_merge(one, two):
            raise refusal(self._tracer, "makes values of different kinds on two ways")
        self.outputs[0].append(one)
        self.outputs[1].append(two)
        return _Result(len(self.outputs[0]) - 1)

    def _only(self, value: Any, which: int) -> Any:
        """Return the structure of what one path gives, where the other one raises."""
        cls = type(value)
        if cls in (tuple, list):
            return cls([self._only(item, which) for item in value])
        if cls is dict:
            return {key: self._only(item, which) for key, item in value.items()}
        if not self._tracer._is_proxy(value):
            return value
        self.outputs[0].append(value)
        self.outputs[1].append(value)
        return _Result(len(self.outputs[0]) - 1)

    def build(self, shape: Any, node: Node) -> Any:
        """Return the merged value, its results read from a node."""
        cls = type(shape)
        if cls is _Result:
            one, two = self.outputs[0][shape.index], self.outputs[1][shape.index]
            if self.prefers_else:
                one, two = two, one
            return self._tracer.merged(one, two, node, shape.index)
        if cls in (tuple, list):
            items = [self.build(item, node) for item in shape]
            return shape if all(a is b for a, b in zip(items, shape, strict=True)) else cls(items)
        if cls is dict:
            items_by_key = {key: self.build(item, node) for key, item in shape.items()}
            return shape if all(items_by_key[key] is shape[key] for key in shape) else items_by_key
        return shape


def _equal(one: Any, two: Any) -> bool:
    try:
        return bool(one == two)
    except Exception:  # whatever a comparison of the user's raises, they are not known to be equal
        return False
