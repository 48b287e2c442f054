"""Where a node comes from."""

from __future__ import annotations

import linecache
from types import CodeType
from typing import NamedTuple

__all__ = ["Frame", "Origin", "line_at"]


def line_at(code: CodeType, instruction: int) -> int:
    """Return the line of the instruction at a byte offset."""
    if instruction < 0:
        return code.co_firstlineno
    for start, end, line in code.co_lines():
        if start <= instruction < end and line is not None:
            return line
    return code.co_firstlineno


class Frame(NamedTuple):
    """One call on the stack of the user's program.

    The line is looked up when it is asked for, since that costs a walk over the table of lines.

    Attributes:
        code: What was running, or None in a graph that was loaded.
        instruction: Byte offset of the instruction; in a loaded graph, unused.
        stored: File, line and function of a graph that was loaded.
    """

    code: CodeType | None
    instruction: int = 0
    stored: tuple[str, int, str] | None = None

    @property
    def file(self) -> str:
        """Path of the source file."""
        return (
            self.stored[0]
            if self.code is None and self.stored
            else self.code.co_filename
            if self.code
            else ""
        )

    @property
    def line(self) -> int:
        """Line number, from 1."""
        if self.code is None:
            return self.stored[1] if self.stored else 0
        return line_at(self.code, self.instruction)

    @property
    def function(self) -> str:
        """Name of the function."""
        return self.stored[2] if self.code is None and self.stored else self.code.co_name if self.code else ""

    def __reduce__(self) -> tuple[object, ...]:
        return Frame, (None, 0, (self.file, self.line, self.function))

    def __deepcopy__(self, memo: dict[int, object]) -> Frame:
        return self


class Origin(NamedTuple):
    """The user's frames that created a node, outermost first, and the passes that derived it since.

    Attributes:
        frames: Innermost last.
        module_path: Path of the module whose forward was running, `""` for the root.
        history: Names of passes, oldest first.
        is_stack: Whether `frames` is the whole stack of the user's program rather than its innermost frame.
    """

    frames: tuple[Frame, ...] = ()
    module_path: str = ""
    history: tuple[str, ...] = ()
    is_stack: bool = False

    def format(self) -> str:
        """Return the frames in the form of a traceback."""
        lines = []
        for frame in self.frames:
            lines.append(f'  File "{frame.file}", line {frame.line}, in {frame.function}\n')
            text = linecache.getline(frame.file, frame.line).strip()
            if text:
                lines.append(f"    {text}\n")
        return "".join(lines)
