"""Variables at the joints of control flow: those without a value, and the leaves of those that have one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ...errors import TraceError
from ..blame import here

__all__ = [
    "HOLE", "LOST", "UNDEFINED", "Maybe", "Structure", "flatten", "is_named_tuple", "is_record", "map_leaves",
    "renewed", "unflatten",
]  # fmt: skip


class _Mark:
    """A variable that has no value that could be used.

    Args:
        text: What it is.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text

    def __getattr__(self, name: str) -> Any:
        raise TraceError("ST033", location=here(2), what=f"uses {self._text}")


UNDEFINED = _Mark("a variable that is not assigned on this path")
"""No value yet, as Python has it."""
LOST = _Mark("a variable that has values of different kinds, depending on the path")
"""Some paths give it a value that can't be merged."""
HOLE = _Mark("a result of a path that does not end here")
"""Stands for the result of a function where it has not returned; nothing reads it."""


@dataclass(frozen=True)
class Maybe:
    """The value of a variable that not every path assigns; it is checked where it is read.

    Attributes:
        value: The traced value.
    """

    value: Any


@dataclass(frozen=True)
class Structure:
    """How leaves make up a value.

    Attributes:
        kind: `tuple`, `list`, `dict` or a class of named tuples; None for a leaf.
        parts: Structures of the items.
        keys: Keys of a dict.
    """

    kind: type | None = None
    parts: tuple[Structure, ...] = ()
    keys: tuple[Any, ...] = ()


_LEAF = Structure()


def flatten(value: Any, leaves: list[Any]) -> Structure:
    """Return the structure of a value, and append its leaves to `leaves`."""
    kind = type(value)
    if kind is tuple or kind is list or is_named_tuple(kind):
        return Structure(kind, tuple([flatten(item, leaves) for item in value]))
    if kind is dict:
        return Structure(kind, tuple([flatten(item, leaves) for item in value.values()]), tuple(value))
    leaves.append(value)
    return _LEAF


def unflatten(structure: Structure, leaves: Iterator[Any]) -> Any:
    """Return a value of some structure."""
    if structure.kind is None:
        return next(leaves)
    items = [unflatten(part, leaves) for part in structure.parts]
    if structure.kind is dict:
        return dict(zip(structure.keys, items, strict=True))
    return structure.kind(*items) if is_named_tuple(structure.kind) else structure.kind(items)


def is_named_tuple(kind: type) -> bool:
    """Tell whether a class is one of tuples with names, which its fields alone make up."""
    return (
        issubclass(kind, tuple)
        and hasattr(kind, "_fields")
        and kind.__new__.__module__.startswith("namedtuple_")
    )


def is_record(kind: type) -> bool:
    """Tell whether a class is a dataclass whose objects are no more than their attributes."""
    return dataclasses.is_dataclass(kind) and kind.__base__ is object and "__slots__" not in vars(kind)


def renewed(record: Any, attributes: dict[str, Any]) -> Any:
    """Return another object of the class of a dataclass's object."""
    made = object.__new__(type(record))
    vars(made).update(attributes)
    return made


def map_leaves(value: Any, function: Callable[[Any], Any]) -> Any:
    """Return a value with each leaf replaced; the value itself if none changes."""
    leaves: list[Any] = []
    structure = flatten(value, leaves)
    results = [function(leaf) for leaf in leaves]
    if all(a is b for a, b in zip(leaves, results, strict=True)):
        return value
    return unflatten(structure, iter(results))
