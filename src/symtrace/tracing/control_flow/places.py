"""Places that a way of a decision, or a round of a loop, changes though they are no variables of the function itself.

Such are variables of enclosing functions, attributes of the program's objects, and items of containers in containers.
Each is carried like a variable: put in place before a way runs, read afterwards, and put back until the ways meet.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..since import last_node
from .levels import erase_since, refusal
from .variables import LOST, UNDEFINED, Maybe

if TYPE_CHECKING:
    from ..watching import Watcher

__all__ = ["Box", "Found", "Place", "boxed", "finding_places", "holders_of", "put", "unboxed", "with_places"]


@dataclass(frozen=True, eq=False)
class Place:
    """Where a value is kept.

    Attributes:
        holder: A cell, or a dict or list.
        key: Of an item.
        owner: The object whose attributes the dict is, if it is one's.
    """

    holder: Any
    key: Any = None
    owner: Any = None

    def read(self) -> Any:
        """Return the value, `UNDEFINED` if there is none."""
        if type(self.holder) is types.CellType:
            try:
                return self.holder.cell_contents
            except ValueError:
                return UNDEFINED
        if issubclass(type(self.holder), dict):
            return dict.get(self.holder, self.key, UNDEFINED)
        return self.holder[self.key]

    def write(self, value: Any) -> None:
        """Put a value there."""
        if type(self.holder) is types.CellType:
            if value is UNDEFINED:
                del self.holder.cell_contents
            else:
                self.holder.cell_contents = value
        elif value is UNDEFINED:
            dict.pop(self.holder, self.key, None)
        else:
            self.holder[self.key] = value

    def is_like(self, other: Place) -> bool:
        """Tell whether two are one place."""
        return self.holder is other.holder and (self.key is other.key or self.key == other.key)


class Found(Exception):
    """Places change that were not known of; the decision or loop is recorded again with them.

    Attributes:
        places: The places.
    """

    def __init__(self, places: list[Place]) -> None:
        super().__init__()
        self.places = places

    def added_to(self, places: tuple[Place, ...]) -> tuple[Place, ...] | None:
        """Return all places, or None if none is new."""
        new = [one for one in self.places if not any(one.is_like(other) for other in places)]
        return (*places, *new) if new else None


_TRIES = 12


def finding_places(
    tracer: Watcher, places: tuple[Place, ...], record: Callable[[tuple[Place, ...]], Any], what: str
) -> Any:
    """Return what is recorded, again with each place that it is found to change.

    Args:
        tracer: Records.
        places: Those that are known.
        record: Records a decision or loop, given the places.
        what: What the program does, if that has no end.

    Raises:
        TraceError: ST033, it has none.
    """
    for _ in range(_TRIES):
        last = last_node(tracer.graph)
        try:
            return record(places)
        except Found as found:
            more = found.added_to(places)
            if more is None:
                break
            erase_since(tracer, last)
            tracer.places += more[len(places) :]  # what is inside need not find them again
            places = more
    raise refusal(tracer, what)


@dataclass(frozen=True, eq=False)
class Box:
    """Stands in the state of a loop for a container that each round has itself, no copy of it.

    Attributes:
        value: The container.
    """

    value: Any


def boxed(values: tuple[Any, ...], places: tuple[Place, ...], boxes: dict[int, Box]) -> tuple[Any, ...]:
    """Return variables with boxes for the containers that hold places.

    Args:
        values: The variables.
        places: The places.
        boxes: Those made before, by the identity of the container; receives those that are made.
    """
    holders = {id(one.holder) for one in places}
    return tuple([
        boxes.setdefault(id(one), Box(one)) if type(one) in (dict, list) and _holds(one, holders) else one
        for one in values
    ])  # fmt: skip


def unboxed(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return variables with the containers themselves in place of boxes."""
    return tuple([one.value if type(one) is Box else one for one in values])


def _holds(container: Any, holders: set[int]) -> bool:
    if id(container) in holders:
        return True
    items = container.values() if type(container) is dict else container
    return any(type(one) in (dict, list) and _holds(one, holders) for one in items)


def holders_of(places: tuple[Place, ...]) -> tuple[Any, ...]:
    """Return the objects that hold what is in places."""
    return tuple([one for place in places for one in (place.holder, place.owner) if one is not None])


def with_places(places: tuple[Place, ...], function: Callable[[], Any]) -> Callable[[tuple[Any, ...]], Any]:
    """Return a function that runs another with values in places, and gives its result and what is there afterwards."""

    def run(values: tuple[Any, ...]) -> Any:
        before = [place.read() for place in places]
        for place, value in zip(places, values, strict=True):
            place.write(value)
        try:
            result = function()
            return result, tuple([place.read() for place in places])
        finally:
            for place, value in zip(places, before, strict=True):
                place.write(value)

    return run


def put(tracer: Watcher, places: tuple[Place, ...], values: tuple[Any, ...]) -> None:
    """Put what is there after the ways have met in places.

    Raises:
        TraceError: ST033, there is no one value for a place.
    """
    for place, value in zip(places, values, strict=True):
        if value is LOST:
            tracer.want_optionals()
            raise refusal(tracer, "puts values of different kinds into a container or variable on two ways")
        if (
            type(value) is Maybe and type(place.holder) is not types.CellType
        ):  # variables are checked when read
            raise refusal(tracer, "adds to a container, or assigns a variable, on one way of a decision only")
        place.write(value)
