"""Finds the line that changed what a capture can't keep: the program is run again, and looked at after each line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

from ..diagnostics import Location
from ..errors import TraceError
from .frames import is_programs
from .hooks import tracing_as
from .snapshot import Change

__all__ = ["Culprit", "refusal_of", "with_line"]


def refusal_of(change: Change) -> TraceError:
    """Return the refusal of what a program changed."""
    origin = None if change.node is None else change.node.origin
    location = Location(origin.frames[-1].file, origin.frames[-1].line) if origin is not None else None
    if change.verb is None:
        return TraceError("ST022", attribute=change.what, location=location)
    return TraceError("ST023", attribute=change.what, what=change.verb, location=location)


class Culprit:
    """Watches one thing while a program runs.

    Args:
        what: How the refusal names it.

    Attributes:
        location: The line that changed it, once that is known.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self.location: Location | None = None
        self._questions: list[Callable[[], bool]] = []
        self._last: tuple[CodeType, int] | None = None

    def ask(self, has_changed: Callable[[], bool]) -> None:
        """Ask, after each line, whether something has changed."""
        self._questions.append(has_changed)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch in this block; a debugger that is at work stays, and nothing is found."""
        if sys.gettrace() is not None:
            yield
            return
        sys.settrace(self._entered)
        try:
            yield
        finally:
            sys.settrace(None)

    def _entered(self, frame: FrameType, event: str, argument: Any) -> Any:
        if self.location is not None or not is_programs(frame):
            return None
        self._look()
        return self._line

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if self.location is None:
            self._look()
            self._last = frame.f_code, frame.f_lineno
        return self._line

    def _look(self) -> None:
        if self._last is None:
            return
        with tracing_as(None):
            if any(question() for question in self._questions):
                code, line = self._last
                self.location = Location(code.co_filename, line, function=code.co_name)


def with_line(error: TraceError, again: Callable[[Culprit], Any]) -> TraceError:
    """Return a refusal with the line that called for it.

    Args:
        error: A refusal of what was found changed once the program had run.
        again: Runs the program once more.
    """
    fields = error.diagnostic.fields
    culprit = Culprit(str(fields["attribute"] if "attribute" in fields else fields.get("what")))
    try:
        with culprit.watching():
            again(culprit)
    except Exception:
        pass
    if culprit.location is None:
        return error
    return type(error)(error.code, location=culprit.location, labels=error.diagnostic.labels, **fields)
