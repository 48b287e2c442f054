"""Where something stands that moves on when it is asked: iterators, generators, files, generators of random numbers."""

from __future__ import annotations

import contextvars
import gc
import io
import types
from collections.abc import Iterator
from typing import Any

import torch

from .hooks import unwatched

__all__ = ["READING", "advanced", "moves_on", "position", "same_position"]

_UNSET = object()
_GENERATOR = torch.Generator  # for which another class stands during a capture
_FILES = (io.StringIO, io.BytesIO)


def moves_on(cls: type) -> bool:
    """Tell whether objects of a class stand somewhere."""
    return (
        hasattr(cls, "__next__")
        or cls in (contextvars.ContextVar, _GENERATOR)
        or cls.__name__ == "SimpleQueue"
        or issubclass(cls, io.IOBase)
        or cls.__module__.startswith("numpy.random.")
    )


def position(value: Any, context: contextvars.Context | None = None) -> Any:
    """Return where something stands, or None if that can't be told.

    Args:
        value: What.
        context: That for which a context variable is asked, by default the one at hand.
    """
    cls = type(value)
    if cls.__module__ == "numpy.random._generator":
        return value.bit_generator.state
    if cls.__module__ == "numpy.random.mtrand":
        return value.get_state(legacy=False)
    if cls is contextvars.ContextVar:
        return value.get(_UNSET) if context is None else context.get(value, _UNSET)
    if cls is _GENERATOR:
        with unwatched():
            return value.get_state().numpy().tobytes()
    if cls.__name__ == "SimpleQueue":
        return value.qsize()
    if issubclass(cls, io.IOBase):
        return None if value.closed else _position_in_file(value)
    if cls.__module__ == "itertools" and cls.__name__ in ("count", "repeat"):
        return repr(value)
    if cls is types.GeneratorType:
        frame = value.gi_frame
        return _UNSET if frame is None else (frame.f_lasti, *map(id, frame.f_locals.values()))
    hint = getattr(value, "__length_hint__", None)
    return _of_parts(value) if hint is None else hint()


def _position_in_file(value: Any) -> Any:
    if issubclass(type(value), _FILES):
        return value.tell(), value.getvalue()
    return value.tell() if value.seekable() else None


def _of_parts(value: Any, depth: int = 3) -> Any:
    """Return where the iterators stand that an iterator of C code, as `map` and `zip` make it, goes on from."""
    if depth == 0:
        return None
    found: list[Any] = []
    for part in gc.get_referents(value):
        for inner in part if type(part) in (tuple, list) else (part,):
            if hasattr(type(inner), "__next__"):
                found.append(
                    position(inner) if type(inner) is not type(value) else _of_parts(inner, depth - 1)
                )
        if type(part) is list:
            found.append(len(part))
    return tuple(found) or None


READING = frozenset({"getbuffer", "getvalue", "read", "readable", "readline", "readlines", "seek", "tell"})
"""Names by which a program reads what it has written to a file."""


def advanced(held: list[tuple[str, Any, Any]], reads_files: bool) -> Iterator[str]:
    """Yield the names of what has moved from where it stood, and put it back where that can be done.

    Args:
        held: Names, values, and where they stood.
        reads_files: Whether the program may read what it writes to files: else that is for others, like a print.
    """
    for name, value, before in held:
        if isinstance(value, io.IOBase) and not reads_files and not value.closed and value.writable():
            continue
        now = position(value)
        if before is None or same_position(now, before):
            continue
        cls = type(value)
        if cls.__module__ == "numpy.random._generator":
            value.bit_generator.state = before
        elif cls.__module__ == "numpy.random.mtrand":
            value.set_state(before)
        elif cls is _GENERATOR:
            with unwatched():
                value.set_state(torch.frombuffer(bytearray(before), dtype=torch.uint8))
        elif issubclass(cls, _FILES):
            value.seek(0)
            value.truncate()
            value.write(before[1])
            value.seek(before[0])
        elif cls is contextvars.ContextVar:
            _set_back(value, before)
        yield name


def same_position(one: Any, other: Any) -> bool:
    """Tell whether two positions are the same."""
    if type(one) is dict and type(other) is dict:
        return one.keys() == other.keys() and all(same_position(one[key], other[key]) for key in one)
    if hasattr(one, "tobytes") and hasattr(other, "tobytes"):
        return bool(one.tobytes() == other.tobytes())
    return one is other or (type(one) is type(other) and bool(one == other))


def _set_back(variable: contextvars.ContextVar[Any], before: Any) -> None:
    """Give a context variable its value back, or its default."""
    if before is _UNSET:
        try:
            before = contextvars.Context().run(variable.get)
        except LookupError:  # it has none, and can't be taken out of a context
            before = None
    variable.set(before)
