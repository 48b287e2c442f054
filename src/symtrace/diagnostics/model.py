"""Data of one occurrence: where it happened, what it says, what to do."""

from __future__ import annotations

import linecache
import re
from dataclasses import dataclass, field
from itertools import islice
from types import CodeType, FrameType
from typing import Any

from .registry import Definition, definition

__all__ = ["Diagnostic", "Label", "Location"]

_BUILT_IN = re.compile(r"<built-in (?:function|method) (\w+)(?: of [^<>]*)?>")
_FUNCTION = re.compile(r"<(?:bound method|function) ([^\s<>]+(?:<locals>\.[^\s<>]+)*)(?: at 0x[0-9a-f]+)?>")
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


@dataclass(frozen=True)
class Location:
    """A place in the user's text.

    Attributes:
        file: Path as Python knows it.
        line: Line number, from 1.
        column: Column, from 1, or 0 when unknown; counted in UTF-8 bytes, as Python records it.
        function: Name of the enclosing function, or `""`.
        end_column: Column after the last one that is meant, or 0 when unknown or on a later line.
    """

    file: str
    line: int
    column: int = 0
    function: str = ""
    end_column: int = 0

    @property
    def text(self) -> str:
        """The source line, stripped, or `""` when there is no source."""
        return linecache.getline(self.file, self.line).strip()

    @property
    def span(self) -> tuple[int, int] | None:
        """Start and end of the meant part within `text`, in characters, or `None` when unknown."""
        raw = linecache.getline(self.file, self.line).rstrip()
        data = raw.encode("utf-8", "surrogatepass")
        if not 0 < self.column <= len(data):
            return None
        indent = len(raw) - len(raw.lstrip())
        start = len(data[: self.column - 1].decode("utf-8", "replace")) - indent
        if self.end_column > self.column:
            end = len(data[: self.end_column - 1].decode("utf-8", "replace")) - indent
        else:
            end = start + 1
        return (start, end) if start >= 0 else None

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}"
        return f"{where}:{self.column}" if self.column else where

    @staticmethod
    def of_frame(frame: FrameType) -> Location:
        """Return the line that `frame` is executing, with the columns where Python records them."""
        code = frame.f_code
        line = frame.f_lineno or code.co_firstlineno
        column, end_column = _columns(code, frame.f_lasti)
        return Location(code.co_filename, line, column, code.co_name, end_column)


def _columns(code: CodeType, lasti: int) -> tuple[int, int]:
    positions = getattr(code, "co_positions", None)  # Python 3.11 and later
    if positions is None or lasti < 0:
        return 0, 0
    entry = next(islice(positions(), lasti // 2, None), None)
    if entry is None:
        return 0, 0
    line, end_line, column, end_column = entry
    if column is None:
        return 0, 0
    return column + 1, end_column + 1 if end_column is not None and end_line == line else 0


@dataclass(frozen=True)
class Label:
    """A remark on a second place that explains the first.

    Attributes:
        message: One line of text.
        location: Where it applies, if anywhere.
    """

    message: str
    location: Location | None = None


@dataclass(frozen=True)
class Diagnostic:
    """One occurrence of a defined fault.

    Attributes:
        definition: What the code means in general.
        message: The filled-in message.
        location: The user's line, if known.
        labels: Further remarks, such as where a value came from.
        hints: Remedies, most useful first.
    """

    definition: Definition
    message: str
    location: Location | None = None
    labels: tuple[Label, ...] = ()
    hints: tuple[str, ...] = ()
    fields: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def code(self) -> str:
        """The code of the definition."""
        return self.definition.code

    @staticmethod
    def of(
        code: str,
        *,
        location: Location | None = None,
        labels: tuple[Label, ...] = (),
        hints: tuple[str, ...] | None = None,
        **fields: Any,
    ) -> Diagnostic:
        """Fill the definition of `code` with `fields`.

        Raises:
            KeyError: The code is unknown, or the message needs a field that is not given.
        """
        entry = definition(code)
        if hints is None:
            hints = tuple(text.format_map(fields) for text in entry.help)
        message = _without_addresses(entry.message.format_map(fields))
        return Diagnostic(entry, message, location, labels, hints, fields)


def _without_addresses(text: str) -> str:
    """Shorten the `repr` of functions in `text` to their names, so that messages say the same at each run."""
    if "<" not in text or ">" not in text:
        return text
    text = _BUILT_IN.sub(r"\1", text)
    text = _FUNCTION.sub(r"\1", text)
    return _ADDRESS.sub("", text)
