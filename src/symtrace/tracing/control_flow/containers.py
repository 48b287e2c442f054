"""Lists and dicts that a path of a decision, or a round of a loop, may change: each path has copies of its own."""

from __future__ import annotations

import copy
import functools
import gc
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from torch import nn

from ..frames import is_internal, is_internal_file
from ..scanning import content_of
from ..snapshot import Snapshot
from .levels import refusal
from .places import Found, Place, holders_of, unboxed
from .trees import is_block
from .unions import Union
from .variables import LOST, is_named_tuple, is_record

if TYPE_CHECKING:
    from ..optionals import Facts
    from ..watching import Watcher

__all__ = [
    "Variables",
    "changed",
    "is_alike",
    "put_in",
    "refuse_holders",
    "refuse_kept",
    "refuse_seen",
    "refuse_twice",
    "watched",
]

_COPIED = (list, dict, set)
_ASSIGNS = "assigns a variable of several functions, or a global, on one way of a decision or in a loop"
_CHANGES = "changes a container on one way of a decision or in a loop"


class _Cell(NamedTuple):
    """A variable of an enclosing function, and what it was; its class tells it from what the program holds."""

    cell: types.CellType
    before: Any


class _Watched:
    """What containers, objects and variables of enclosing functions are before a path is recorded.

    Args:
        values: Variables, with what they hold.
        held: Gives those of enclosing functions.
    """

    def __init__(self, values: tuple[Any, ...], held: Callable[[], tuple[Any, ...]]) -> None:
        self._held = held
        self._free = _given(held)
        self._snapshot = Snapshot(nn.Module(), None)
        self._cells: list[_Cell] = []
        for cell in getattr(held, "__closure__", None) or ():
            self._cells.append(_Cell(cell, Place(cell).read()))
        ways = [way for value in values if type(value) is Union for way in value.ways]
        for value in (*unboxed(values), *ways, *self._free):
            self._snapshot.watch("a variable", value)
            self._watch_cells(value)

    def _watch_cells(self, value: Any) -> None:
        """Watch what functions among the variables have around them, which they may change when they are called."""
        stack, seen = [value], set()
        while stack:
            one = stack.pop()
            kind = type(one)
            if kind is functools.partial:
                stack += [one.func, *one.args, *one.keywords.values()]
            elif kind is types.MethodType:
                stack.append(one.__func__)
            elif kind in (list, tuple):
                stack += [item for item in one if _is_function(item)]
            elif kind is dict:
                stack += [item for item in one.values() if _is_function(item)]
            elif (
                kind is types.FunctionType
                and id(one) not in seen
                and not is_internal_file(one.__code__.co_filename)
            ):
                seen.add(id(one))
                for cell in one.__closure__ or ():
                    content = content_of(cell)
                    self._cells.append(_Cell(cell, Place(cell).read()))
                    self._snapshot.watch("a variable", content)
                    stack.append(content)

    def restore(self) -> Any:
        """Put all back, and return what had changed: a list of places that can be carried; None if nothing."""
        places = self._places()
        change = self._restored()
        return places if places and change is not None else change

    def _places(self) -> list[Place] | None:
        """Return the places that have changed; None if there are others, too."""
        changed_items = self._snapshot.changed_items()
        if changed_items is None:
            return None
        found = []
        for holder, key, owner in changed_items:
            if holder is not None:
                found.append(Place(holder, key, owner))
                continue
            held = [Place(*one) for one in self._snapshot.holders_of(key)]
            held += [Place(cell) for cell, before in self._cells if before is key]
            held = [
                one for index, one in enumerate(held) if not any(one.is_like(other) for other in held[:index])
            ]
            if len(held) != 1 or type(held[0].holder) is set:
                return None
            found += held
        for cell, before in self._cells:
            if Place(cell).read() is not before and not any(one.holder is cell for one in found):
                found.append(Place(cell))
        return found

    def _restored(self) -> Any:
        """Put all back, and return what had changed, or None."""
        change: Any = self._snapshot.restore()
        for cell, before in self._cells:
            if Place(cell).read() is not before:
                change = _ASSIGNS
                Place(cell).write(before)
        now = _given(self._held)
        if change is None and any(one is not before for one, before in zip(now, self._free, strict=False)):
            change = _ASSIGNS
        return change


def _is_function(value: Any) -> bool:
    """Tell whether a value is a function of Python, or one that is partly applied or bound."""
    return type(value) in (types.FunctionType, types.MethodType, functools.partial)


def _given(held: Callable[[], tuple[Any, ...]]) -> tuple[Any, ...]:
    try:
        return tuple(held())
    except NameError:  # one of them has no value yet
        return ()


def watched(values: tuple[Any, ...], held: Callable[[], Any]) -> _Watched:
    """Return what containers and objects are before a path is recorded, on which they must not change.

    Args:
        values: Variables.
        held: Gives those of enclosing functions.
    """
    return _Watched(values, held)


class Variables:
    """The variables before a decision.

    Args:
        tracer: Records.
        values: Their values.
        held: Gives the values of those of enclosing functions.

        places: What the paths change beside them, whose values are among `values`.

    Attributes:
        before: Their values.
        known: Objects that may hold containers among them.
        places: What the paths change beside them.
    """

    __slots__ = ("_copies", "_held", "_tracer", "_whole", "before", "known", "places")

    def __init__(
        self,
        tracer: Watcher,
        values: tuple[Any, ...],
        held: Callable[[], Any],
        places: tuple[Place, ...] = (),
    ) -> None:
        self._tracer = tracer
        self._held = held
        self._whole = frozenset(id(one.holder) for one in places)
        self.before = values
        self.known = (values, *holders_of(places))
        self.places = places
        self._copies: tuple[tuple[Any, ...], ...] = ()

    def run(self, record: Callable[[tuple[Any, ...]], Any]) -> Any:
        """Record one path.

        Args:
            record: Records it, given the variables.

        Raises:
            TraceError: ST033, the path changes something that is no variable's own.
        """
        watch = watched(self.before, self._held)
        copies = _copied(self.before, self._whole)
        self._copies = (*self._copies, copies)
        change = None
        self._tracer.versions.append(tuple(zip(self.before, copies, strict=True)))
        try:
            path = record(copies)
        finally:
            self._tracer.versions.pop()
            change = watch.restore()
        if type(change) is list:
            raise Found(change)
        if change is not None:
            raise refusal(self._tracer, change if type(change) is str else _CHANGES)
        return path

    def grown(
        self, facts: tuple[Facts, Facts], raised: tuple[bool, bool], *, goes_on: bool
    ) -> tuple[Any, ...] | None:
        """Return the variables with traced lists for those that get other lengths on the two ways; None if none do.

        Args:
            facts: What each way knows of values that may be None.
            raised: Whether each way ends in an exception, so that its lists are of no account.
            goes_on: Whether the variables are read after the decision.

        Raises:
            TraceError: ST033, others hold a container that a path changes.
        """
        replacements: dict[int, Any] = {}
        for index, (before, *after) in enumerate(zip(self.before, *self._copies, strict=True)):
            if type(before) not in _COPIED or not any(changed(before, one) for one in after):
                continue
            lengths = {len(one) for one, is_lost in zip(after, raised, strict=True) if not is_lost}
            grows = type(before) is list and len(lengths) > 1
            if type(before) is set or (grows and max(lengths) <= len(before)):
                raise refusal(self._tracer, _CHANGES)
            refuse_holders(self._tracer, before, self.known, callers=grows or not goes_on, places=self.places)
            if grows:
                way = max(range(2), key=lambda one: len(after[one]))
                new = after[way][len(before) :]
                replacements[index] = self._tracer.growing_list(before, new, facts[way])
        if not replacements:
            return None
        return tuple([replacements.get(index, one) for index, one in enumerate(self.before)])

    def existing(self) -> frozenset[int]:
        """Return the identities of the lists and dicts that were there before."""
        return frozenset(id(part) for part in _containers_in(self.before, []))

    def copied(self) -> frozenset[int]:
        """Return the identities of the copies that the paths were given."""
        return frozenset(id(one) for copies in self._copies for one in copies if type(one) in _COPIED)

    def own(self, value: Any, which: int) -> Any:
        """Return what a path gives, with the containers of the program in place of copies that are as they were."""
        copies, replaced = self._copies[which], {}
        for before, one in zip(self.before, copies, strict=True):
            if (type(before) in _COPIED and not changed(before, one)) or (
                type(before) is Union and type(one) is Union and is_alike(before.ways, one.ways)
            ):
                replaced[id(one)] = before
        return _exchanged(value, replaced)

    def separate(self, values: Any, which: int, dead: frozenset[int]) -> Any:
        """Return the variables after a path, those marked as lost that hold a container of another one.

        Args:
            values: The variables.
            which: The path.
            dead: Positions of those that nothing reads afterwards.
        """
        owners: dict[int, int] = {}
        for index, pair in enumerate(zip(self.before, self._copies[which], strict=True)):
            for one in pair:
                if type(one) in _COPIED or is_record(type(one)):
                    owners.setdefault(id(one), index)
        result = list(values)
        for index, value in enumerate(values):
            if index in dead or value is self.before[index] or value is self._copies[which][index]:
                continue
            for part in _containers_in(value, []):
                if owners.setdefault(id(part), index) != index:
                    result[index] = LOST
        return tuple(result)

    def write_back(self, result: tuple[Any, ...], ways: list[Any]) -> tuple[Any, ...]:
        """Return the variables after the decision; containers that have changed in place are the same objects.

        Args:
            result: The merged variables.
            ways: Those after each path, None for one that raises.
        """
        final = list(result)
        for index, before in enumerate(self.before):
            if type(before) not in _COPIED or not self._was_changed(index):
                continue
            if self._is_kept(index, ways):
                if final[index] is LOST:
                    self._tracer.want_optionals()
                    raise refusal(self._tracer, "puts values of different kinds into a container on two ways")
                put_in(before, final[index])
                final[index] = before
            else:
                refuse_holders(self._tracer, before, self.known, callers=True, places=self.places)
        return tuple(final)

    def is_kept(self, container: Any, ways: list[Any]) -> bool:
        """Tell whether a container is that of a variable, and still is after each path."""
        return any(
            one is container and ways != [None, None] and self._is_kept(index, ways)
            for index, one in enumerate(self.before)
        )

    def _is_kept(self, index: int, ways: list[Any]) -> bool:
        return all(
            way is None or way[index] is copies[index] for way, copies in zip(ways, self._copies, strict=True)
        )

    def _was_changed(self, index: int) -> bool:
        return any(changed(self.before[index], copies[index]) for copies in self._copies)


def _exchanged(value: Any, replaced: dict[int, Any]) -> Any:
    """Return a value with some containers replaced; the value itself if there are none in it."""
    if id(value) in replaced:
        return replaced[id(value)]
    kind = type(value)
    if kind is tuple or kind is list:
        items = [_exchanged(item, replaced) for item in value]
        return value if all(a is b for a, b in zip(items, value, strict=True)) else kind(items)
    if kind is dict:
        items = [_exchanged(item, replaced) for item in value.values()]
        is_same = all(a is b for a, b in zip(items, value.values(), strict=True))
        return value if is_same else dict(zip(value, items, strict=True))
    return value


def _copied(values: tuple[Any, ...], whole: frozenset[int]) -> tuple[Any, ...]:
    """Return values with copies of containers, save for those that hold places, which are carried one by one."""
    memo: dict[int, Any] = {}

    def copied(one: Any) -> Any:
        if type(one) is Union:
            return Union(one.tag, _deep(one.ways))
        return copy.copy(one) if type(one) in _COPIED and id(one) not in whole else one

    return tuple([memo.setdefault(id(one), copied(one)) for one in values])


def _deep(value: Any) -> Any:
    """Return a value with the containers in it copied."""
    if type(value) in (tuple, list, set):
        return type(value)([_deep(item) for item in value])
    return {key: _deep(item) for key, item in value.items()} if type(value) is dict else value


def is_alike(one: Any, two: Any) -> bool:
    """Tell whether two values are one, or containers of what is alike."""
    if type(one) is not type(two) or type(one) not in (tuple, list, set, dict):
        return one is two
    if type(one) is dict:
        return list(one) == list(two) and all(is_alike(one[key], two[key]) for key in one)
    return len(one) == len(two) and all(map(is_alike, one, two))


def put_in(container: Any, new: Any) -> None:
    """Give a list or dict the items of another."""
    if type(container) is list:
        container[:] = new
    else:
        container.clear()
        container.update(new)


def changed(value: Any, other: Any) -> bool:
    """Tell whether two containers differ in their items."""
    if len(value) != len(other):
        return True
    if type(value) is set:
        return {id(one) for one in value} != {id(one) for one in other}
    if type(value) is dict and list(value) != list(other):
        return True
    parts = (value.values(), other.values()) if type(value) is dict else (value, other)
    return any(a is not b for a, b in zip(*parts, strict=True))


def _containers_in(value: Any, found: list[Any]) -> list[Any]:
    """Return the lists and dicts in a value, itself included."""
    kind = type(value)
    if kind is Union:
        return _containers_in(value.ways, found)
    if kind in (list, dict) or is_record(kind):
        found.append(value)
    if kind in (list, tuple, dict) or is_record(kind) or is_named_tuple(kind):
        parts = value.values() if kind is dict else vars(value).values() if is_record(kind) else value
        for item in parts:
            _containers_in(item, found)
    return found


def refuse_holders(
    tracer: Watcher,
    container: Any,
    known: tuple[Any, ...],
    *,
    callers: bool,
    places: tuple[Place, ...] = (),
) -> None:
    """Stop where a container changes under control flow that others hold, who would not see it.

    Args:
        tracer: Records.
        container: The container.
        known: Objects that may hold it.
        callers: Whether callers that hold it count as well.
        places: Those that are carried.

    Raises:
        TraceError: ST033.

    Cost: a look at all objects there are.
    """
    frames = _frames(tracer)
    ours = {id(one) for one in known} | _versions(tracer, places)
    if tracer._snapshot.watches(container) or _is_held(container, ours, frames):
        raise refusal(tracer, _CHANGES + ", which something else holds as well")
    holders: list[tuple[types.FrameType, str]] = []
    place = next((one for one in places if one.read() is container), None)
    is_cell = place is not None and type(place.holder) is types.CellType
    for frame in frames:
        if not is_internal(frame):
            code = frame.f_code
            for name, value in frame.f_locals.items():
                if is_cell and (name in code.co_cellvars or name in code.co_freevars):
                    continue  # the variable itself: another one would hold the container, too
                if value is container and place is not None:
                    raise refusal(tracer, _CHANGES + ", which a variable holds as well")
                if value is container and not any(_is_handed(one, (frame, name)) for one in holders):
                    holders.append((frame, name))
    own = [one for one in holders if one[0] is holders[0][0]]
    if len(own) > 1 or (callers and len(holders) > 1):
        raise refusal(tracer, _CHANGES + ", which the caller or another variable holds as well")


def refuse_seen(tracer: Watcher, made: list[Any], known: tuple[Any, ...]) -> None:
    """Stop where one of the containers that two paths give, in whose place a merged one stands, is held elsewhere.

    Args:
        tracer: Records.
        made: The containers.
        known: Objects that may hold them.

    Raises:
        TraceError: ST033.

    Cost: a look at all objects there are.
    """
    if not made:
        return
    kept = tracer._assigned.keeps(made)
    if kept is not None:
        raise refusal(
            tracer, f"keeps a container in `{kept}` on one way of a decision, and uses it afterwards"
        )
    frames = _frames(tracer)
    ours = {id(one) for one in (*known, *made)} | {id(vars(one)) for one in made if is_record(type(one))}
    inside = {id(one) for one in made}
    for frame in frames:
        if not is_internal(frame) and any(id(value) in inside for value in frame.f_locals.values()):
            raise refusal(tracer, _CHANGES + ", which a variable holds as well")
    for one in made:
        if tracer._snapshot.watches(one) or _is_held(one, ours, frames):
            raise refusal(tracer, _CHANGES + ", which something else holds as well")


def refuse_kept(tracer: Watcher, containers: list[Any]) -> None:
    """Stop where an attribute that was assigned holds one of some containers, in whose place another stands.

    Raises:
        TraceError: ST033.
    """
    kept = tracer._assigned.keeps(containers)
    if kept is not None:
        what = f"keeps a container in `{kept}` on one way of a decision or in a loop, and uses it afterwards"
        raise refusal(tracer, what)


def refuse_twice(tracer: Watcher, made: list[Any], values: list[Any]) -> None:
    """Stop where a container in whose place a merged one stands is in the result of a path more than once.

    Args:
        tracer: Records.
        made: The containers.
        values: What the paths give.

    Raises:
        TraceError: ST033.
    """
    for value in values:
        found = [id(one) for one in _containers_in(value, [])]
        if any(found.count(id(one)) > 1 for one in made):
            raise refusal(tracer, "gives a container twice on one way of a decision")


def _versions(tracer: Watcher, places: tuple[Place, ...]) -> set[int]:
    """Return the identities of what stands for the containers that hold places, on ways around and before them."""
    found = {id(place.holder) for place in places}
    for pairs in reversed(tracer.versions):
        for before, given in pairs:
            if id(before) in found or id(given) in found:
                found |= {id(before), id(given)}
    return found


def _is_handed(inner: tuple[types.FrameType, str], outer: tuple[types.FrameType, str]) -> bool:
    """Tell whether a variable is that of a block, which is given it by the function around and hands it back."""
    code = inner[0].f_code
    is_inner = is_block(code) and code in outer[0].f_code.co_consts
    return is_inner and inner[1] == outer[1] and inner[1] in code.co_varnames[: code.co_argcount]


def _frames(tracer: Watcher) -> list[types.FrameType]:
    found = []
    frame: Any = sys._getframe(2)
    while frame is not None and frame is not tracer._outside:
        found.append(frame)
        frame = frame.f_back
    return found


def _is_held(value: Any, known: set[int], frames: list[types.FrameType]) -> bool:
    """Tell whether an object refers to a value, frames, ours and tuples that merely pass it on left aside.

    Each look at what refers to something is one at all objects there are, so that several are asked for at once.
    """
    holders = gc.get_referrers(value)
    ours = known | {id(frame.f_locals) for frame in frames} | {id(holders)}
    cells: list[types.CellType] = []
    tuples: list[tuple[Any, ...]] = []
    for holder in holders:
        kind = type(holder)
        if id(holder) in ours or kind is types.FrameType or kind.__module__.startswith("symtrace."):
            continue
        if kind is types.CellType:
            cells.append(holder)
        elif kind is tuple:
            tuples.append(holder)
        else:
            return True
    ours |= {id(cells), id(tuples)}
    if tuples and any(type(one) in _COPIED and id(one) not in ours for one in gc.get_referrers(*tuples)):
        return True
    return bool(cells) and _are_seen(cells)


def _are_seen(cells: list[types.CellType]) -> bool:
    """Tell whether a function of the program has one of some variables of another one."""
    closures = [one for one in gc.get_referrers(*cells) if type(one) is tuple]
    if not closures:
        return False
    functions = [one for one in gc.get_referrers(*closures) if type(one) is types.FunctionType]
    return not all(map(_is_made_by_lifting, functions))


def _is_made_by_lifting(function: types.FunctionType) -> bool:
    code = function.__code__
    return is_block(code) or is_internal_file(code.co_filename)
