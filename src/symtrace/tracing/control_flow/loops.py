"""Records a loop as one node: its body as a region, the variables that it changes as carried values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...ir import Node, Region, map_arg
from ...ops import program
from ...ops.control_flow import for_each, while_loop
from ..snapshot import Entries, Items
from .containers import changed, put_in, refuse_holders, refuse_kept, watched
from .iterables import Open
from .levels import Level, refusal, result_or_raised
from .places import Box, Found, Place, boxed, finding_places, holders_of, put, unboxed, with_places
from .variables import HOLE, LOST, UNDEFINED, Maybe, flatten, unflatten

if TYPE_CHECKING:
    from ..watching import Watcher

__all__ = ["record_loop"]

_TRIES = 12


def record_loop(
    tracer: Watcher,
    items: Open | None,
    predicate: Any,
    body: Callable[[Any, Any], tuple[Any, Any]],
    state: Any,
    held: Callable[[], Any] = tuple,
    dead: frozenset[int] = frozenset(),
) -> Any:
    """Record a loop, and return the state after it.

    Args:
        tracer: Records.
        items: What a `for` goes through; None for a `while`.
        predicate: Whether a `while` runs its body at all.
        body: Takes an item and the state; gives whether to go on, and the next state.
        state: Before the loop: whether it went to its end, whether it has returned, what, and the variables.
        held: Gives variables of enclosing functions, whose containers the loop must not change.
        dead: Positions of variables that nothing reads after the loop.

    Raises:
        TraceError: ST033, the state can't be carried from round to round.
    """

    def record(places: tuple[Place, ...]) -> Any:
        recorded = _with_places if places else _recorded
        return recorded(tracer, items, predicate, body, state, held, dead, places)

    what = "changes a container in a loop on traced values that is no variable's own"
    return finding_places(tracer, tuple(tracer.places), record, what)


def _recorded(
    tracer: Watcher, items: Any, predicate: Any, body: Any, state: Any, held: Any, dead: frozenset[int],
    places: tuple[Place, ...],
) -> Any:  # fmt: skip
    """Record a loop; the arguments are those of `record_loop`."""
    before = state
    for _ in range(_TRIES):
        loop = _Loop(tracer, items, body, before, held, dead, places)
        try:
            return loop.record(predicate)
        except _Other as found:
            before = found.state
    raise refusal(tracer, "carries values through a loop that change their structure in each round")


def _with_places(
    tracer: Watcher, items: Any, predicate: Any, body: Any, state: Any, held: Any, dead: frozenset[int],
    places: tuple[Place, ...],
) -> Any:  # fmt: skip
    """Record a loop whose rounds change places; the arguments are those of `record_loop`."""
    count = len(state[3])
    boxes: dict[int, Box] = {}

    def turn(item: Any, given: Any) -> Any:
        own = (*given[:3], unboxed(given[3][:count]))
        (go_on, after), there = with_places(places, lambda: body(item, own))(given[3][count:])
        return go_on, (*after[:3], (*boxed(after[3], places, boxes), *there))

    start = (*boxed(state[3], places, boxes), *[place.read() for place in places])
    result = _recorded(tracer, items, predicate, turn, (*state[:3], start), held, dead, places)
    put(tracer, places, result[3][count:])
    return (*result[:3], unboxed(result[3][:count]))


class _Again(Exception):
    """What was assumed of the leaves does not hold for all rounds."""


class _Other(Exception):
    """The state has another structure than was assumed.

    Attributes:
        state: Before the loop, as the next try takes it.
    """

    def __init__(self, state: Any) -> None:
        super().__init__()
        self.state = state


@dataclass(frozen=True, slots=True)
class _Kept:
    """A list or dict among the variables, which each round has a copy of.

    Attributes:
        position: Of the variable.
        before: The container itself.
        given: The copy that a round is given.
        items: What the copy was made with.
        place: Where the container is, if that is inside of another one.
    """

    position: int
    before: Any
    given: Any
    items: Any
    place: Place | None = None


class _Loop:
    """A loop that is being recorded, again and again until each round leaves the state as the next one takes it."""

    __slots__ = ("_after", "_before", "_body", "_dead", "_fillers", "_held", "_items", "_kept", "_known", "_leaves",
                 "_level", "_places", "_replaced", "_samples", "_structure", "_tracer", "_written")  # fmt: skip

    def __init__(
        self,
        tracer: Watcher,
        items: Open | None,
        body: Any,
        state: Any,
        held: Any,
        dead: frozenset[int],
        places: tuple[Place, ...],
    ) -> None:
        self._known = (state[3], *holders_of(places))
        self._places = places
        self._tracer = tracer
        self._items = items
        self._body = body
        self._before = state
        self._held = held
        self._dead = dead
        self._leaves: list[Any] = []
        self._structure = flatten(state, self._leaves)
        self._samples: dict[int, Any] = {}
        self._fillers: dict[int, Any] = {}
        for index, leaf in enumerate(self._leaves):
            if type(leaf) is Maybe:
                self._fillers[index] = leaf
            value = leaf.value if type(leaf) is Maybe else leaf
            if tracer.is_traced(value):
                self._samples[index] = tracer.sample_of(value)
        self._written: set[Any] = set()
        self._replaced: dict[int, Any] = {}
        self._after: Any = state
        self._level: Level
        self._kept: list[_Kept] = []

    def record(self, predicate: Any) -> Any:
        """Record it, and return the state after it."""
        for _ in range(_TRIES):
            try:
                go_on, after = self._round()
            except _Again:
                continue
            return self._finish(predicate, go_on, after)
        raise refusal(self._tracer, "carries values through a loop that change their kind in each round")

    # ------------------------------------------------------------------ one round

    def _round(self) -> tuple[Any, list[Any]]:
        """Record the body once; return whether to go on, and the leaves after it."""
        tracer = self._tracer
        level = self._level = Level(tracer.new_region_graph())
        watch = watched(self._before[3], self._held)
        try:
            with tracer.in_region(level):
                item = None
                if self._items is not None:
                    item = self._items.item(tracer, level.graph.create_node("placeholder", "item", (), {}))
                values = self._taken(level)
                given = unflatten(self._structure, iter(values))
                self._keep(given[3])
                if self._written:
                    tracer.forget_written(self._written)
                tracer.versions.append(tuple(zip(self._before[3], given[3], strict=True)))
                try:
                    result, raised = result_or_raised(tracer, lambda: self._body(item, given))
                finally:
                    tracer.versions.pop()
                go_on, state = (False, given) if raised else result
        finally:
            change = watch.restore()
        if type(change) is list:
            raise Found(change)
        if change is not None:
            what = "changes a container in a loop on traced values that is no variable's own"
            raise refusal(tracer, change if type(change) is str else what)
        self._replaced.update(level.replaced)
        if level.written - self._written:
            self._written |= level.written
            raise _Again
        if any(before is LOST for before in self._before[3]):
            pairs = zip(self._before[3], state[3], strict=True)
            state = (*state[:3], tuple([LOST if before is LOST else after for before, after in pairs]))
        if state[2] is HOLE:  # returns nothing in this round, so far
            state = (*state[:2], self._before[2], state[3])
        self._after = state
        self._find_places()
        self._refuse_shared(state[3])
        self._fit_structures(state)
        leaves: list[Any] = []
        if flatten(state, leaves) != self._structure:
            raise refusal(tracer, "changes the structure of a container in a loop on traced values")
        differs = [self._differs(index, *pair) for index, pair in enumerate(zip(values, leaves, strict=True))]
        if any(differs):
            raise _Again
        return go_on, leaves

    def _taken(self, level: Level) -> list[Any]:
        """Return the leaves as a round takes them: placeholders for those that are carried."""
        values = list(self._leaves)
        for index, sample in sorted(self._samples.items()):
            node = level.graph.create_node("placeholder", f"carried_{index}", (), {})
            value = self._tracer.renewed_or_none(sample, node)
            if self._leaves[index] is HOLE:
                value = HOLE
            elif index in self._fillers:
                value = Maybe(value)
            values[index] = value
        return values

    def _find_places(self) -> None:
        """Have containers in containers that a round changes carried by their places."""
        found = [one.place for one in self._kept if one.place is not None and changed(one.given, one.items)]
        for one in self._kept:
            if type(one.given) is dict or len(one.given) == len(one.items):
                pairs = one.items.items() if type(one.given) is dict else enumerate(one.items)
                now = one.given.get if type(one.given) is dict else one.given.__getitem__
                found += [
                    Place(one.before, key)
                    for key, item in pairs
                    if type(item) in (list, dict) and now(key) is not item
                ]
        if found and all(type(one.holder) in (list, dict) for one in found):
            raise Found(found)

    def _keep(self, given: tuple[Any, ...]) -> None:
        self._kept = []
        for position, (before, now) in enumerate(zip(self._before[3], given, strict=True)):
            _pair(position, before, now, self._kept)

    def _refuse_shared(self, after: tuple[Any, ...]) -> None:
        """Stop where two variables hold one container after a round: the next one would be given two."""
        owners: dict[int, int] = {}
        for position, value in enumerate(after):
            found: list[_Kept] = []
            _pair(position, value, value, found)
            for one in found:
                if owners.setdefault(id(one.given), position) != position:
                    raise refusal(
                        self._tracer, "has two variables hold one container in a loop on traced values"
                    )

    def _differs(self, index: int, before: Any, after: Any) -> bool:
        """Tell whether the next try has to take a leaf for something else."""
        if after is before or before is LOST or (after is UNDEFINED and index not in self._samples):
            return False
        if type(after) is Maybe:
            if index in self._samples and index not in self._fillers and before is not HOLE:
                self._fillers[index] = UNDEFINED
                return True
            after = after.value
        if index in self._samples:
            return (
                after is not UNDEFINED
                and after is not HOLE
                and self._joins(index, self._samples[index], after)
            )
        if before is UNDEFINED or before is HOLE:
            return self._is_new(index, before, after)
        if not self._tracer.is_traced(after) and _equal(before, after):
            return False
        self._joins(index, before, after)
        return True

    def _joins(self, index: int, sample: Any, after: Any) -> bool:
        """Take a leaf for what is one of two values, and tell whether that is not what it was taken for."""
        joined = None if after is LOST else self._tracer.joined_or_none(sample, after)
        if joined is None:
            if sample is None or after is None or after is LOST:
                self._tracer.want_optionals()
            raise refusal(self._tracer, "carries values of different kinds through a loop")
        if index in self._samples and joined is self._samples[index]:
            return False
        self._samples[index] = joined
        return True

    def _is_new(self, index: int, before: Any, after: Any) -> bool:
        """Take a leaf that had no value for what a round gives it."""
        if not self._tracer.is_value(after):
            if before is UNDEFINED:
                self._leaves[index] = LOST
                return True
            if after is None:
                return False
            raise refusal(self._tracer, "returns something else than tensors and numbers from a loop")
        if before is UNDEFINED:
            if index - 3 in self._dead and len(self._leaves) == 3 + len(self._before[3]):
                return False
            self._fillers[index] = UNDEFINED
        self._samples[index] = self._tracer.sample_of(after)
        return True

    def _fit_structures(self, state: Any) -> None:
        """Have lists that grow recorded as lists, and variables that are new take the structure of their value."""
        again = False
        values: dict[int, Any] = {}
        for position, after in enumerate(state[3]):
            before = self._before[3][position]
            grown: list[Any] = []
            if type(before) is list and type(after) is list and len(after) > len(before):
                grown = after[len(before) :]
            elif type(before) is list and self._tracer._is_proxy(after):  # grown in a branch
                grown = self._tracer.samples_of(after) or before or [HOLE]
            if grown:
                values[position] = self._growing(position, before, grown)
                again = True
            elif (before is UNDEFINED or before is HOLE) and type(after) in (tuple, list, dict):
                values[position] = LOST if position in self._dead else _filled(after, before)
                again = True
        value = self._before[2]
        if value is HOLE and type(state[2]) in (tuple, list, dict):
            value = _filled(state[2], HOLE)
            again = True
        if again:
            variables = tuple([values.get(index, one) for index, one in enumerate(self._before[3])])
            raise _Other((*self._before[:2], value, variables))

    def _growing(self, position: int, before: list[Any], new: list[Any]) -> Any:
        kept = next(one for one in self._kept if one.position == position and one.before is before)
        if changed(kept.given, kept.items):
            refuse_holders(
                self._tracer, before, (self._before[3], *self._known), callers=True, places=self._places
            )
        return self._tracer.growing_list(before, new)

    # ------------------------------------------------------------------ the node

    def _finish(self, predicate: Any, go_on: Any, after: list[Any]) -> Any:
        tracer, level = self._tracer, self._level
        order = sorted(self._samples)
        written = self._changed_in_place()
        stops = go_on is not True
        with tracer.in_region(level):
            results = [self._argument(after[index], level) for index in order]
            if stops or self._items is None:
                results.insert(0, self._argument(go_on, level))
        level.graph.output(tuple(results))
        carried = tuple([self._argument(self._leaves[index], None) for index in order])
        region, operands = Region(level.graph), tuple(level.captured)
        if self._items is None:
            args: Any = (tracer.create_arg(predicate), region, carried, operands)
            node = tracer.create_node("call_function", while_loop, args, {})
        else:
            args = (self._items.argument(tracer), region, carried, operands, *([True] if stops else []))
            node = tracer.create_node("call_function", for_each, args, {})
        tracer.forget_written(level.written)
        tracer.note_replaced(self._replaced, node)
        return self._result(node, order, written)

    def _changed_in_place(self) -> list[_Kept]:
        """Return the containers that a round changes.

        Raises:
            TraceError: ST033, others hold one.
        """
        found = [one for one in self._kept if changed(one.given, one.items)]
        for one in found:
            if one.before is not self._before[3][one.position]:
                raise refusal(
                    self._tracer, "changes a container inside another one in a loop on traced values"
                )
            is_kept = self._after[3][one.position] is one.given
            refuse_holders(
                self._tracer,
                one.before,
                (self._before[3], *self._known),
                callers=not is_kept,
                places=self._places,
            )
        return [one for one in found if self._after[3][one.position] is one.given]

    def _result(self, node: Node, order: list[int], written: list[_Kept]) -> Any:
        tracer = self._tracer
        leaves = list(self._leaves)
        for position, index in enumerate(order):
            value = tracer.merged_or_none(self._samples[index], node, position)
            leaves[index] = Maybe(value) if index in self._fillers else value
        result = unflatten(self._structure, iter(leaves))
        variables = list(result[3])
        in_place = {one.position for one in written}
        start = len(_leaves_in(self._before[:3]))
        for position, before in enumerate(self._before[3]):
            end = start + len(_leaves_in(before))
            if position in in_place:
                put_in(before, variables[position])
                variables[position] = before
            elif not any(start <= index < end for index in order):
                variables[position] = before  # as it was, and the same object
            else:
                self._refuse_held(position)
            start = end
        tracer._assigned.settle(len(tracer.levels))
        return (*result[:3], tuple(variables))

    def _refuse_held(self, position: int) -> None:
        """Stop where a variable may still have a list or dict after the loop that something else holds as well."""
        known = [self._before[3], *self._known]
        refuse_kept(self._tracer, [one.given for one in self._kept if one.position == position])
        for one in self._kept:
            if one.position == position:
                refuse_holders(self._tracer, one.before, tuple(known), callers=True, places=self._places)
                known.append(one.before)

    def _argument(self, value: Any, level: Level | None) -> Any:
        if type(value) is Maybe:
            value = value.value
        if value is UNDEFINED:
            return program.UNASSIGNED
        if value is HOLE:
            return None
        found = self._tracer.create_arg(value)
        return found if level is None else map_arg(found, level.local)


def _pair(position: int, before: Any, given: Any, found: list[_Kept], place: Place | None = None) -> None:
    """Collect the lists and dicts in a value, with those in another value of the same structure."""
    kind = type(before)
    if kind is list or kind is dict:
        items = Items(given) if kind is list else Entries(given)
        found.append(_Kept(position, before, given, items, place))
    if kind in (list, tuple, dict):
        keys = list(before) if kind is dict else range(len(before))
        parts = (before.values(), given.values()) if kind is dict else (before, given)
        for key, one, other in zip(keys, *parts, strict=True):
            _pair(position, one, other, found, Place(before, key))


def _leaves_in(value: Any) -> list[Any]:
    found: list[Any] = []
    flatten(value, found)
    return found


def _filled(value: Any, leaf: Any) -> Any:
    """Return a value of the same structure with all leaves alike."""
    found: list[Any] = []
    structure = flatten(value, found)
    return unflatten(structure, iter([leaf] * len(found)))


def _equal(one: Any, two: Any) -> bool:
    try:
        return type(one) is type(two) and bool(one == two)
    except Exception:  # whatever a comparison of the user's raises, they are not known to be equal
        return False
