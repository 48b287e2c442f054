"""Where a node comes from."""

from __future__ import annotations

import linecache
from dataclasses import dataclass, field
from types import CodeType

__all__ = ["Frame", "Origin"]


@dataclass(frozen=True)
class Frame:
    """One call on the stack of the user's program: a code object and the line it was executing."""

    code: CodeType | None
    file: str
    line: int
    function: str

    def __reduce__(self) -> tuple[object, ...]:
        return Frame, (None, self.file, self.line, self.function)


@dataclass(frozen=True)
class Origin:
    """The user's frames that created a node, outermost first, and the passes that derived it since.

    Attributes:
        frames: Innermost last.
        module_path: Path of the module whose forward was running, `""` for the root.
        history: Names of passes, oldest first.
    """

    frames: tuple[Frame, ...] = ()
    module_path: str = ""
    history: tuple[str, ...] = field(default=())

    def format(self) -> str:
        """Return the frames in the form of a traceback."""
        lines = []
        for frame in self.frames:
            lines.append(f'  File "{frame.file}", line {frame.line}, in {frame.function}\n')
            text = linecache.getline(frame.file, frame.line).strip()
            if text:
                lines.append(f"    {text}\n")
        return "".join(lines)
