"""The user's stack frames, and what the bytecode at a frame's instruction is about to do."""

from __future__ import annotations

import dis
import functools
import os
import sys
from types import CodeType, FrameType

import torch

from ..ir import Frame

__all__ = [
    "called_by_getattr",
    "is_assert",
    "is_unpacking_mapping",
    "last_line",
    "last_user_frame",
    "unpacked_length",
    "user_frame",
    "user_frames",
]

_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_TORCH = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep


@functools.lru_cache(maxsize=1024)
def _is_internal_file(file: str) -> bool:
    return file.startswith((_OWN, _TORCH, "<frozen")) or file.endswith("contextlib.py")


def user_frame(depth: int = 1) -> FrameType | None:
    """Return the innermost frame on the stack that is neither torch's nor symtrace's."""
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None:
        if not _is_internal_file(frame.f_code.co_filename):
            return frame
        frame = frame.f_back
    return None


def user_frames(depth: int = 1, stop: FrameType | None = None) -> tuple[Frame, ...]:
    """Return the user's frames on the stack up to `stop`, outermost first."""
    found = []
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None and frame is not stop:
        if not _is_internal_file(frame.f_code.co_filename):
            found.append(Frame(frame.f_code, frame.f_lasti))
        frame = frame.f_back
    return tuple(reversed(found))


@functools.lru_cache(maxsize=256)
def _instructions(code: CodeType) -> tuple[dict[int, int], list[dis.Instruction]]:
    listed = [item for item in dis.get_instructions(code) if item.opname != "EXTENDED_ARG"]
    return {item.offset: index for index, item in enumerate(listed)}, listed


_FILLERS = frozenset({"CACHE", "TO_BOOL", "NOT_TAKEN", "NOP", "COPY", "PRECALL"})


def _following(frame: FrameType) -> list[dis.Instruction]:
    """Return the instruction that is running and those behind it, without fillers."""
    offsets, listed = _instructions(frame.f_code)
    index = offsets.get(frame.f_lasti)
    if index is None:
        return []
    tail = [item for item in listed[index + 1 : index + 8] if item.opname not in _FILLERS]
    return [listed[index], *tail]


def is_assert(frame: FrameType) -> bool:
    """Tell whether the value that `frame` is turning into a bool is the condition of an `assert`."""
    found = _following(frame)
    if found and not found[0].opname.startswith("POP_JUMP"):
        found = found[1:]
    if len(found) < 2 or not (found[0].opname.startswith("POP_JUMP") and found[0].opname.endswith("IF_TRUE")):
        return False
    raising = found[1]
    # Python 3.14 loads AssertionError as a common constant.
    return raising.opname == "LOAD_ASSERTION_ERROR" or (
        raising.opname == "LOAD_COMMON_CONSTANT" and "AssertionError" in raising.argrepr
    )


def called_by_getattr(frame: FrameType) -> bool:
    """Tell whether `frame` is calling a function, such as `getattr`, rather than reading an attribute itself."""
    found = _following(frame)
    return bool(found) and found[0].opname.startswith("CALL")


def is_unpacking_mapping(frame: FrameType) -> bool:
    """Tell whether `frame` is unpacking a value with `**`, in a call or a dict display."""
    found = _following(frame)
    return bool(found) and found[0].opname in ("DICT_MERGE", "DICT_UPDATE")


def last_user_frame(error: BaseException) -> FrameType | None:
    """Return the innermost frame of the user's in the traceback of an exception."""
    trace, found = error.__traceback__, None
    while trace is not None:
        if not _is_internal_file(trace.tb_frame.f_code.co_filename):
            found = trace.tb_frame
        trace = trace.tb_next
    return found


def last_line(error: BaseException) -> int:
    """Return the line at which `last_user_frame` stood."""
    trace, line = error.__traceback__, 0
    while trace is not None:
        if not _is_internal_file(trace.tb_frame.f_code.co_filename):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def unpacked_length(frame: FrameType) -> int | None:
    """Return how many values `frame` is unpacking a value into, or None if it does something else with it."""
    found = _following(frame)
    if found and found[0].opname.startswith("UNPACK_SEQUENCE"):
        return found[0].arg
    return None
