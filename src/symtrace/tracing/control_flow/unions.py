"""Values of different kinds on the ways of a decision, such as a string, a function, or None and a tuple.

Python looks at such a value without asking torch, so that no single traced value can stand for it. It is kept as its
ways, with a traced number that tells which one it is. A statement that uses a variable with such a value is recorded
once for each way, where the value is what it is.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...ir import Region, map_arg
from ...ops.control_flow import cond
from ..hooks import active_tracer
from .levels import Level, refusal

if TYPE_CHECKING:
    from ..watching import Watcher

__all__ = ["AsTag", "Narrowed", "Union", "UnionShape", "split_ways", "ways_of"]

_MOST_WAYS, _MOST_CONTAINERS = 16, 5


class Union:
    """A value that is one of several.

    Args:
        tag: The traced number of the one that it is.
        ways: What it may be.
    """

    __slots__ = ("tag", "ways")

    def __init__(self, tag: Any, ways: tuple[Any, ...]) -> None:
        self.tag = tag
        self.ways = ways

    def __fx_create_arg__(self, tracer: Watcher) -> Any:
        """Return the node that gives the value itself."""
        return _materialized(tracer, self)

    def _each(self, function: Callable[[Any], Any]) -> Any:
        tracer: Any = active_tracer()
        return split_ways(tracer, self, function)

    def __eq__(self, other: object) -> Any:
        return self._each(lambda value: value == other)

    def __hash__(self) -> int:
        raise self._refused()

    def __ne__(self, other: object) -> Any:
        return self._each(lambda value: value != other)

    def __getitem__(self, key: Any) -> Any:
        return self._each(lambda value: value[key])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call each of the functions that it may be."""
        return self._each(lambda value: value(*args, **kwargs))

    def __bool__(self) -> bool:
        raise self._refused()

    def __getattr__(self, name: str) -> Any:
        raise self._refused()

    def __iter__(self) -> Any:
        raise self._refused()

    def __len__(self) -> int:
        raise self._refused()

    def __index__(self) -> int:
        raise self._refused()

    def __contains__(self, item: Any) -> bool:
        raise self._refused()

    def __format__(self, spec: str) -> str:
        raise self._refused()

    def __str__(self) -> str:
        raise self._refused()

    def _refused(self) -> Exception:
        """Return the error for a use that is not seen; the trace starts again if the function can be lifted."""
        tracer: Any = active_tracer()
        tracer.lift_asking()
        return refusal(tracer, "uses a value that is of several kinds, depending on the path")


@dataclass(frozen=True, eq=False)
class Narrowed:
    """A variable that a way has left as it was, known to be one of some ways of what it was before.

    Attributes:
        union: The value before.
        numbers: The ways.
        value: The one that it is, if that is known.
    """

    union: Union
    numbers: frozenset[int]
    value: Any

    def joined(self, other: Narrowed) -> Narrowed:
        """Return what is either of two."""
        return Narrowed(self.union, self.numbers | other.numbers, self.union)

    def widened(self) -> Any:
        """Return the value of the variable."""
        return self.union if len(self.numbers) == len(self.union.ways) else self.value


@dataclass(frozen=True)
class UnionShape:
    """Such a value while two ways are merged: its parts are results of the node.

    Attributes:
        tag: The number of the way.
        ways: What it may be.
    """

    tag: Any
    ways: tuple[Any, ...]


@dataclass(frozen=True)
class AsTag:
    """The number of a value's way, as it is told of among those of a larger one.

    Attributes:
        union: The value.
        numbers: Those that its ways get.
    """

    union: Union
    numbers: tuple[int, ...]

    def recorded(self, tracer: Watcher) -> Any:
        """Return it as a traced value."""
        tag = tracer.create_arg(self.union.tag)
        if self.numbers == tuple(range(len(self.numbers))):
            return self.union.tag
        return tracer.renewed(
            0, tracer.create_node("call_function", operator.getitem, (self.numbers, tag), {})
        )


def ways_of(tracer: Watcher, *values: Any) -> list[tuple[Any, ...]]:
    """Return what values may be, one after the other.

    Raises:
        TraceError: ST033, that is too much.
    """
    found = [value.ways if type(value) is Union else (value,) for value in values]
    ways = [way for some in found for way in some]
    containers = [way for way in ways if type(way) in (tuple, list, dict) or tracer.is_traced(way)]
    if len(ways) > _MOST_WAYS or len(containers) > _MOST_CONTAINERS:
        raise refusal(tracer, f"makes a value of {len(ways)} kinds")
    return found


def split_ways(
    tracer: Watcher,
    union: Union,
    function: Callable[[Any], Any],
    record: Callable[[Any, Callable[[], Any], Callable[[], Any]], Any] | None = None,
    first: int = 0,
) -> Any:
    """Return what a function gives for the way that a value is, recorded for each of them.

    Args:
        tracer: Records.
        union: The value.
        function: Takes one way.
        record: Records a decision, given the test and its ways.
        first: The first way that it may be.
    """
    from .branches import record_branches

    way = union.ways[first]
    if first == len(union.ways) - 1:
        return function(way)
    test = tracer.call_function(operator.eq, (union.tag, first), {})
    record = record or (lambda asked, then, orelse: record_branches(tracer, asked, then, orelse))
    return record(test, lambda: function(way), lambda: split_ways(tracer, union, function, record, first + 1))


def _materialized(tracer: Watcher, union: Union, first: int = 0) -> Any:
    """Return the node that gives what a value is, for others than the program."""
    if first == len(union.ways) - 1:
        return tracer.create_arg(union.ways[first])
    test = tracer.create_node("call_function", operator.eq, (tracer.create_arg(union.tag), first), {})
    levels = [Level(tracer.new_region_graph()) for _ in range(2)]
    for number, level in enumerate(levels):
        with tracer.in_region(level):
            result = (
                _materialized(tracer, union, first + 1) if number else tracer.create_arg(union.ways[first])
            )
            level.graph.output(map_arg((result,), level.local))
    regions = [Region(level.graph) for level in levels]
    operands = [tuple(level.captured) for level in levels]
    node = tracer.create_node("call_function", cond, (test, *regions, *operands), {})
    part = tracer.create_node("call_function", operator.getitem, (node, 0), {})
    tracer.note_mixed(part)
    return part
