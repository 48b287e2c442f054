"""Records both ways of a decision as regions of one node, and merges what they leave behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...errors import TraceError
from ...ir import Region, map_arg
from ...ops import program
from ...ops.control_flow import cond
from ..hooks import unwatched
from ..process_state import RandomStates
from ..since import last_node
from .containers import Variables, refuse_holders, refuse_seen, refuse_twice
from .levels import RecordedPath, erase_since, recorded, refusal
from .merging import AsList, Merger
from .places import Place, finding_places, put, with_places
from .unions import AsTag
from .variables import LOST

if TYPE_CHECKING:
    from ..watching import Watcher

__all__ = ["record_branches"]


def record_branches(
    tracer: Watcher,
    test: Any,
    then: Callable[..., Any],
    orelse: Callable[..., Any],
    held: Callable[[], Any] = tuple,
    values: tuple[Any, ...] = (),
    dead: frozenset[int] | None = None,
    *,
    is_state: bool = False,
) -> Any:
    """Record both ways of a decision, and return their result as one value.

    Args:
        tracer: Records.
        test: The value that decides.
        then: Runs the path for a true value, given `values`.
        orelse: Runs the other path.
        held: Gives variables of enclosing functions, whose containers a path must not change.
        values: Of variables that a path may change, or whose containers it may.
        dead: Where the result is the variables again, positions of those that nothing reads afterwards.
        is_state: The result is the state of a loop, with the variables in it.

    Raises:
        TraceError: ST033, the results are of kinds that can't stand for one another.
    """

    def record(places: tuple[Place, ...]) -> Any:
        if places:
            return _with_places(tracer, test, then, orelse, held, values, dead, is_state, places)
        return _recorded(_Decision(tracer, test, held, dead, is_state), then, orelse, values, tracer, test)

    places = () if dead is None else tuple(tracer.places)
    return finding_places(tracer, places, record, "changes a container on one way of a decision")


def _with_places(
    tracer: Watcher, test: Any, then: Any, orelse: Any, held: Any, values: Any, dead: Any, is_state: bool,
    places: tuple[Place, ...],
) -> Any:  # fmt: skip
    """Record a decision whose ways change places; the arguments are those of `record_branches`."""
    count, is_value = len(values), dead is None

    def way(function: Any) -> Any:
        def run(*given: Any) -> Any:
            after, there = with_places(places, lambda: function(*given[:count]))(given[count:][: len(places)])
            if is_value:
                return (*given[:count], *there, after)
            return (*after[:3], (*after[3], *there)) if is_state else (*after, *there)

        return run

    start = (*values, *[place.read() for place in places], *([None] if is_value else []))
    decision = _Decision(tracer, test, held, frozenset() if dead is None else dead, is_state, places)
    result = _recorded(decision, way(then), way(orelse), start, tracer, test)
    variables = result[3] if is_state else result
    put(tracer, places, variables[count:][: len(places)])
    if is_value:
        if result[-1] is LOST:
            raise refusal(tracer, "makes values of different kinds on two ways")
        return result[-1]
    return (*result[:3], variables[:count]) if is_state else result[:count]


def _recorded(
    decision: _Decision, then: Any, orelse: Any, values: tuple[Any, ...], tracer: Watcher, test: Any
) -> Any:
    """Record both ways, or take the one that a flag tells if both can't be kept."""
    last = last_node(tracer.graph)
    written = dict(tracer._written)
    is_flag = tracer.is_flag(test)
    with unwatched():
        random_states = RandomStates() if tracer.rests_on_flags(test) else None
    try:
        given: tuple[Any, ...] | None = values
        while given is not None:
            result, given = decision.record(then, orelse, given)
        drawn = _drawn(random_states)
        if drawn is not None:
            raise TraceError("ST026", what=f"draws from {drawn}")
        return result
    except TraceError:
        if random_states is None:
            raise
        _drawn(random_states)
        tracer.refusal = None
        tracer._written = written
        erase_since(tracer, last)
    # The flag of a module holds for many calls: the way it has now is taken, with a guard.
    taken = test if is_flag else tracer.taken_by_flags(test)
    return (then if taken else orelse)(*values)


def _drawn(before: RandomStates | None) -> str | None:
    """Put the states of generators back, and name the one outside of torch that was drawn from."""
    with unwatched():
        return None if before is None else before.restore()


def _as_output(tracer: Watcher, value: Any) -> Any:
    if type(value) is AsList:
        return _listed(tracer, value)
    return value.recorded(tracer) if type(value) is AsTag else value


def _listed(tracer: Watcher, value: AsList) -> Any:
    """Return a list as one of the graph."""
    tracer.refuse_none_in(value.items)
    node = tracer.create_node("call_function", program.new_list, (tracer.create_arg(value.items),), {})
    return tracer.renewed([], node)


class _Decision:
    """A decision that is being recorded; the arguments are those of `record_branches`."""

    def __init__(
        self,
        tracer: Watcher,
        test: Any,
        held: Callable[[], Any],
        dead: frozenset[int] | None,
        is_state: bool,
        places: tuple[Place, ...] = (),
    ) -> None:
        self._places = places
        self._tracer = tracer
        self._test = test
        self._held = held
        self._dead = dead
        self._is_state = is_state

    def record(self, then: Any, orelse: Any, values: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...] | None]:
        """Return the result, or else variables to try again with."""
        tracer = self._tracer
        variables = Variables(tracer, values, self._held, self._places)
        facts = tracer.implied_by(self._test)
        first, second = [
            variables.run(
                lambda given: recorded(tracer, lambda: way(*tracer.settle(known, given)))  # noqa: B023 - runs at once
            )
            for way, known in zip((then, orelse), facts, strict=True)
        ]
        if first.raised and second.raised:
            raise refusal(tracer, "raises on both ways of a decision on traced values")
        grown = variables.grown(facts, (first.raised, second.raised), goes_on=self._dead is not None)
        if grown is not None:
            return None, grown
        merger = Merger(
            tracer,
            (first.raised, second.raised),
            variables.existing(),
            variables.copied(),
            tracer.rests_on_flags(self._test),
            facts,
        )
        own = [self._own(variables, path, index) for index, path in enumerate((first, second))]
        shape = self._merge(merger, own)
        ways = [self._variables_of(path) for path in (first, second)]
        known = (
            own,
            *own,
            ways,
            *ways,
            first.value,
            second.value,
            merger.rebuilt,
            *merger.rebuilt,
            merger.made,
        )
        if self._dead is None:
            refuse_twice(tracer, [*merger.rebuilt, *merger.made], own)
        for one in merger.rebuilt:
            if not variables.is_kept(one, ways):
                refuse_holders(tracer, one, (*variables.known, *known), callers=True, places=variables.places)
        refuse_seen(tracer, merger.made, known)
        if not merger.outputs[0] and not (first.does_something() or second.does_something()):
            result = shape
        else:
            result = self._node(merger, shape, (first, second))
        if first.raised or second.raised:
            tracer.settle(facts[first.raised])
        if self._dead is None:
            written = result
        elif self._is_state:
            written = (*result[:3], variables.write_back(result[3], ways))
        else:
            written = variables.write_back(result, ways)
        tracer._assigned.settle(len(tracer.levels))
        return written, None

    def _own(self, variables: Variables, path: RecordedPath, which: int) -> Any:
        """Return what a path gives, with the containers of the program where they are as they were."""
        if path.raised:
            return None
        value = variables.own(path.value, which)
        if self._dead is None:
            return value
        if self._is_state:
            return (*value[:3], variables.separate(value[3], which, self._dead))
        return variables.separate(value, which, self._dead)

    def _variables_of(self, path: RecordedPath) -> Any:
        """Return the variables after a path; None where there are none."""
        if path.raised or self._dead is None:
            return None
        return path.value[3] if self._is_state else path.value

    def _merge(self, merger: Merger, values: list[Any]) -> Any:
        if self._dead is None:
            return merger.merge(values[0], values[1])
        if self._is_state:
            return merger.merge_states(values[0], values[1], self._dead)
        return merger.merge_variables(values[0], values[1], self._dead)

    def _node(self, merger: Merger, shape: Any, paths: tuple[RecordedPath, RecordedPath]) -> Any:
        tracer = self._tracer
        predicate = tracer.create_arg(self._test)
        regions = []
        for path, outputs in zip(paths, merger.outputs, strict=True):
            results: Any = (None,) * len(outputs)
            if not path.raised:
                with tracer.in_region(path.level):
                    given = [_as_output(tracer, one) for one in outputs]
                    results = map_arg(tuple(map(tracer.create_arg, given)), path.level.local)
            path.level.graph.output(results)
            regions.append(Region(path.level.graph))
        operands = [tuple(path.level.captured) for path in paths]
        node = tracer.create_node("call_function", cond, (predicate, *regions, *operands), {})
        levels = paths[0].level, paths[1].level
        tracer.forget_written(levels[0].written | levels[1].written)
        tracer.note_replaced({**levels[0].replaced, **levels[1].replaced}, node)
        merger.prefers_else = tracer.prefers_else(self._test)
        return merger.build(shape, node)
