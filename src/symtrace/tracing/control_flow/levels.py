"""Regions while they are recorded."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...errors import TraceError
from ...ir import Node
from ...ops import program
from ..blame import here, names_traced
from ..frames import handles_exceptions, is_internal, is_own
from ..since import nodes_since

if TYPE_CHECKING:
    from ...runtime import Graph
    from ..recording import TracerBase
    from ..watching import Watcher

__all__ = [
    "Level",
    "Raised",
    "RecordedPath",
    "erase_since",
    "recorded",
    "refusal",
    "result_or_raised",
    "would_handle",
]


def refusal(tracer: TracerBase, what: str) -> TraceError:
    """Return the error for a decision that can't be kept; it stands even where the program handles it."""
    tracer.refusal = TraceError("ST033", location=here(3), what=what)
    return tracer.refusal


class Raised(BaseException):
    """The path that is recorded ends in an exception.

    Attributes:
        error: The exception, or the node that makes it.
    """

    def __init__(self, error: BaseException | Node) -> None:
        super().__init__(error)
        self.error = error


@dataclass
class Level:
    """A region that is being recorded.

    Attributes:
        graph: Its graph.
        captured: The placeholder in it for each node of a graph around it.
        written: Attributes of modules that it writes.
        replaced: Tensors of modules in whose place it puts others.
    """

    graph: Graph
    captured: dict[Node, Node] = field(default_factory=dict)
    written: set[Any] = field(default_factory=set)
    replaced: dict[int, Any] = field(default_factory=dict)

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
                name = f"{node.name}_in"
                taken = {one.target for one in self.captured.values()}
                while name in taken:  # by a node of the same name in another graph around it
                    name += "_"
                placeholder = self.graph.create_node("placeholder", name, (), {}, node.name)
            self.captured[node] = placeholder
        return placeholder


@dataclass(frozen=True)
class RecordedPath:
    """One way of a decision, recorded.

    Attributes:
        level: Its region.
        value: What it leaves behind.
        raised: Whether it ends in an exception.
    """

    level: Level
    value: Any
    raised: bool

    def does_something(self) -> bool:
        """Tell whether it does more than read: what nobody uses may still fail."""
        return any(
            node.op.startswith("call") and node.target is not getattr for node in self.level.graph.nodes
        )


def recorded(tracer: Watcher, function: Callable[[], Any]) -> RecordedPath:
    """Run a function with its operations recorded in a region of their own.

    Args:
        tracer: Records.
        function: Runs the path.
    """
    level = Level(tracer.new_region_graph())
    with tracer.in_region(level):
        value, raised = result_or_raised(tracer, function)
    return RecordedPath(level, value, raised)


def result_or_raised(tracer: Watcher, function: Callable[[], Any]) -> tuple[Any, bool]:
    """Run a function of the program, and record what it raises as an operation that does.

    Args:
        tracer: Records, in the region of the function.
        function: Runs it.

    Returns:
        What the function gives, and whether it has raised an exception instead.

    Raises:
        TraceError: ST033, the program may handle the exception.
    """
    try:
        return function(), False
    except Raised as stop:
        error: Any = stop.error
    except Exception as found:
        if not _is_of_program(found, tracer):
            raise
        if would_handle(tracer._outside):
            raise refusal(tracer, "may handle an exception that only one way raises") from found
        what = f"one way of the program raises {type(found).__name__}: {found}"
        tracer.report.add("assumption", what, here(3))
        tracer.record_failed(found)
        error = found.with_traceback(None)
    tracer.create_node("call_function", program.raise_error, (error,), {})
    return None, True


def _is_of_program(error: Exception, tracer: Watcher) -> bool:
    """Tell whether the program, or a function of torch that it calls, has raised an exception."""
    if isinstance(error, TraceError) or tracer.refusal is not None or names_traced(error):
        return False
    if tracer.has_failed_with(error):
        return type(error).__module__ == "builtins"  # others tell of what fake tensors can't do
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    is_unassigned = isinstance(error, UnboundLocalError)  # which a lifted function raises through `flow`
    return trace is not None and (is_unassigned or not is_own(trace.tb_frame))


def erase_since(tracer: Watcher, last: Node | None) -> None:
    """Take back what was recorded since."""
    made = set()
    for node in reversed(nodes_since(tracer.graph, last)):
        if not node.users:
            tracer.graph.erase_node(node)
            made.add(node)
    tracer._forget_nodes(made)


def would_handle(outside: Any) -> bool:
    """Tell whether a function of the program that is running would handle an exception."""
    frame: Any = sys._getframe(2)
    while frame is not None and frame is not outside:
        if not is_internal(frame) and handles_exceptions(frame):
            return True
        frame = frame.f_back
    return False
