"""The user's stack frames, and what the bytecode at a frame's instruction is about to do."""

from __future__ import annotations

import bisect
import dis
import functools
import os
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType, FunctionType, MethodType

import torch

from ..ir import Frame
from .code_cache import cached_by_code

__all__ = [
    "asks_for_class",
    "branches_on",
    "called_by_getattr",
    "handles_exceptions",
    "is_assert",
    "is_compared_by_identity",
    "is_internal",
    "is_internal_file",
    "is_own",
    "is_programs",
    "is_programs_code",
    "is_unpacking_mapping",
    "is_users_call",
    "last_line",
    "last_user_frame",
    "looks_up",
    "returned_length",
    "runs_operator",
    "unpacked_length",
    "untraced",
    "user_frame",
    "user_frames",
]

_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_PYTHON = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_TORCH = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep


@functools.lru_cache(maxsize=1024)
def is_internal_file(file: str) -> bool:
    """Tell whether a file is one of torch or symtrace."""
    return file.startswith((_OWN, _TORCH, "<frozen")) or file.endswith("contextlib.py")


def is_internal(frame: FrameType) -> bool:
    """Tell whether a frame runs code of torch or symtrace."""
    return is_internal_file(frame.f_code.co_filename)


def is_own(frame: FrameType) -> bool:
    """Tell whether a frame runs code of symtrace."""
    return frame.f_code.co_filename.startswith(_OWN)


def is_programs(frame: FrameType) -> bool:
    """Tell whether a frame runs code of the program's own: not torch's, symtrace's or Python's."""
    return is_programs_code(frame.f_code)


def is_programs_code(code: CodeType) -> bool:
    """Tell whether code is of the program's own: not torch's, symtrace's or Python's."""
    return not (is_internal_file(code.co_filename) or _is_pythons(code.co_filename))


def user_frame(depth: int = 1) -> FrameType | None:
    """Return the innermost frame on the stack that is neither torch's nor symtrace's."""
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None:
        if not is_internal_file(frame.f_code.co_filename):
            return frame
        frame = frame.f_back
    return None


def user_frames(depth: int = 1, stop: FrameType | None = None) -> tuple[Frame, ...]:
    """Return the user's frames on the stack up to `stop`, outermost first."""
    found = []
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None and frame is not stop:
        if not is_internal_file(frame.f_code.co_filename):
            found.append(Frame(frame.f_code, frame.f_lasti))
        frame = frame.f_back
    return tuple(reversed(found))


_OF_PYTHON = (FunctionType, MethodType)


@contextmanager
def untraced() -> Iterator[None]:
    """Keep a trace function of this thread out of code that is none of the program's, which it would only slow down."""
    before = sys.gettrace()
    if before is None or type(before) not in _OF_PYTHON:  # one in C, as of coverage, would lose its place
        yield
        return
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(before)


@cached_by_code
def _instructions(code: CodeType) -> tuple[list[int], list[dis.Instruction]]:
    """Return the instructions and where each starts, prefixes such as EXTENDED_ARG included."""
    starts: list[int] = []
    listed: list[dis.Instruction] = []
    for item in dis.get_instructions(code):
        if len(starts) == len(listed):
            starts.append(item.offset)
        if item.opname != "EXTENDED_ARG":
            listed.append(item)
    return starts, listed


def _index_at(code: CodeType, offset: int) -> int:
    """Return which instruction a byte offset lies in: it may be that of a prefix or of an inline cache."""
    return bisect.bisect_right(_instructions(code)[0], offset) - 1


def _running(frame: FrameType) -> dis.Instruction | None:
    index = _index_at(frame.f_code, frame.f_lasti)
    return _instructions(frame.f_code)[1][index] if index >= 0 else None


_COMPARISONS = {
    "==": ("eq",),
    "!=": ("ne",),
    "<": ("lt", "gt"),
    "<=": ("le", "ge"),
    ">": ("gt", "lt"),
    ">=": ("ge", "le"),
}


def is_assert(frame: FrameType, made_by: object = None) -> bool:
    """Tell whether the value that `frame` is turning into a bool has to be true for an `assert` to pass.

    Args:
        frame: The frame that asks for the bool itself.
        made_by: The function or name of the method that gave the value. From Python 3.13 on, one instruction
            compares and asks for the bool, and this tells its result from what it compared on the way to it.
    """
    listed = _instructions(frame.f_code)[1]
    index = _index_at(frame.f_code, frame.f_lasti)
    if index < 0:
        return False
    asks = listed[index]
    if asks.opname == "COMPARE_OP":
        comparison = asks.argrepr.removeprefix("bool(").removesuffix(")")
        name = str(getattr(made_by, "__name__", made_by)).partition(".")[0]
        if comparison == asks.argrepr or name not in _COMPARISONS.get(comparison, ()):
            return False
    if asks.opname in ("COMPARE_OP", "TO_BOOL"):
        index += 1
    jump = listed[index]
    if jump.opname.startswith("POP_JUMP") and jump.opname.endswith("IF_TRUE"):
        return _fails(listed, index + 1)
    if jump.opname.startswith("POP_JUMP") and jump.opname.endswith("IF_FALSE"):
        # Of `assert a and b`, and at the end of a loop.
        return _fails(listed, _index_at(frame.f_code, jump.argval))
    return False


def _fails(listed: list[dis.Instruction], index: int) -> bool:
    """Tell whether the instructions at `index` raise what a failed `assert` raises."""
    while listed[index].opname in ("NOP", "NOT_TAKEN"):
        index += 1
    item = listed[index]
    # Python 3.14 loads AssertionError as a common constant.
    return item.opname == "LOAD_ASSERTION_ERROR" or (
        item.opname == "LOAD_COMMON_CONSTANT" and "AssertionError" in item.argrepr
    )


def called_by_getattr(frame: FrameType) -> bool:
    """Tell whether `frame` lets a function, such as `getattr`, read an attribute rather than reading it itself.

    A class pattern of a `match` statement counts: it too asks whether there is such an attribute.
    """
    while frame.f_code.co_name in ("__getattr__", "__getattribute__") and frame.f_back is not None:
        frame = frame.f_back  # it passes the question on
    item = _running(frame)
    return item is not None and item.opname.startswith(("CALL", "PRECALL", "MATCH_CLASS"))


def asks_for_class(frame: FrameType) -> bool:
    """Tell whether `frame` reads `value.__class__`, or matches a value against a class in a `match` statement."""
    return _asks_for_class(frame.f_code, frame.f_lasti)


@cached_by_code
def _asks_for_class(code: CodeType, offset: int) -> bool:
    if is_internal_file(code.co_filename):
        return False
    index = _index_at(code, offset)
    if index < 0:
        return False
    item = _instructions(code)[1][index]
    return item.opname == "MATCH_CLASS" or (
        item.opname.startswith(("LOAD_ATTR", "LOAD_METHOD")) and item.argval == "__class__"
    )


def looks_up(frame: FrameType) -> bool:
    """Tell whether `frame` looks for a value in a set or among the keys of a dict."""
    item = _running(frame)
    return item is not None and item.opname in (
        "CONTAINS_OP",
        "BINARY_SUBSCR",
        "BINARY_OP",
        "CALL",
        "CALL_METHOD",
    )


def is_users_call(frame: FrameType | None) -> bool:
    """Tell whether the user's code calls, itself or through Python's own library, rather than torch's or symtrace's."""
    while frame is not None and _is_pythons(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None or is_internal_file(frame.f_code.co_filename):
        return False
    while frame is not None and not frame.f_code.co_filename.startswith(_OWN):
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return False  # a module that is imported meanwhile
        frame = frame.f_back
    return True


@functools.lru_cache(maxsize=1024)
def _is_pythons(file: str) -> bool:
    return (file.startswith(_PYTHON) and "site-packages" not in file) or file.startswith("<frozen")


def is_unpacking_mapping(frame: FrameType) -> bool:
    """Tell whether `frame` is unpacking a value with `**`, in a call or a dict display."""
    item = _running(frame)
    return item is not None and item.opname in ("DICT_MERGE", "DICT_UPDATE")


def last_user_frame(error: BaseException) -> FrameType | None:
    """Return the innermost frame of the user's in the traceback of an exception."""
    trace, found = error.__traceback__, None
    while trace is not None:
        if not is_internal_file(trace.tb_frame.f_code.co_filename):
            found = trace.tb_frame
        trace = trace.tb_next
    return found


def last_line(error: BaseException) -> int:
    """Return the line at which `last_user_frame` stood."""
    trace, line = error.__traceback__, 0
    while trace is not None:
        if not is_internal_file(trace.tb_frame.f_code.co_filename):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def unpacked_length(frame: FrameType) -> int | None:
    """Return how many values `frame` is unpacking a value into, or None if it does something else with it."""
    item = _running(frame)
    return item.arg if item is not None and item.opname == "UNPACK_SEQUENCE" else None


def handles_exceptions(frame: FrameType) -> bool:
    """Tell whether an exception raised where `frame` is running would be handled in it, or pass a `with` block."""
    code = frame.f_code
    if sys.version_info >= (3, 11):
        # The table of handlers; `dis` reads it under a private name only, from 3.11 to 3.14.
        table = dis._parse_exception_table(code)  # type: ignore[attr-defined]
        return any(entry.start <= frame.f_lasti < entry.end and entry.depth >= 0 for entry in table)
    return any(item.opname in ("SETUP_FINALLY", "SETUP_WITH") for item in _instructions(code)[1])


def runs_operator(frame: FrameType) -> bool:
    """Tell whether `frame` is applying an operator: arithmetic, a comparison, an augmented assignment."""
    return _runs_operator(frame.f_code, frame.f_lasti)


@cached_by_code
def _runs_operator(code: CodeType, offset: int) -> bool:
    index = _index_at(code, offset)
    if index < 0:
        return False
    name = _instructions(code)[1][index].opname
    return name.startswith(("BINARY_", "INPLACE_", "UNARY_", "COMPARE_OP"))


@cached_by_code
def returned_length(code: CodeType) -> int | None:
    """Return how many values a function returns, where each `return` writes out a tuple as long; else None."""
    listed = _instructions(code)[1]
    found: set[int | None] = set()
    for position, item in enumerate(listed):
        if item.opname == "RETURN_CONST" or item.opname == "RETURN_VALUE":
            before = listed[position - 1] if position else item
            is_tuple = item.opname == "RETURN_VALUE" and before.opname == "BUILD_TUPLE"
            found.add(before.arg if is_tuple else None)
    return found.pop() if len(found) == 1 else None


def is_compared_by_identity(frame: FrameType) -> bool:
    """Tell whether `frame` is about to compare, with `is`, the value that its instruction gives.

    A variable counts that the value is assigned to and that is compared later on.
    """
    return _is_compared(frame.f_code, frame.f_lasti)


@cached_by_code
def _is_compared(code: CodeType, offset: int) -> bool:
    listed = _single(_instructions(code)[1][_index_at(code, offset) + 1 :])
    if not listed:
        return False
    if _leads_to_is(listed, 0):
        return True
    stored, variable = listed[0]
    return stored in ("STORE_FAST", "STORE_NAME", "STORE_DEREF") and any(
        argument == variable and name.startswith("LOAD_") and _leads_to_is(listed, position + 1)
        for position, (name, argument) in enumerate(listed)
        if position > 0
    )


def _single(listed: list[dis.Instruction]) -> list[tuple[str, object]]:
    """Return names and arguments; what Python 3.13 and later do with two variables at once is taken apart."""
    found: list[tuple[str, object]] = []
    for item in listed:
        if item.opname in ("CACHE", "NOP", "NOT_TAKEN"):
            continue
        if item.opname.count("_FAST") == 2 and isinstance(item.argval, tuple):
            first, second = item.argval
            starts, ends = item.opname.startswith("STORE"), item.opname.endswith("STORE_FAST")
            found.append(("STORE_FAST" if starts else "LOAD_FAST", first))
            found.append(("STORE_FAST" if ends else "LOAD_FAST", second))
        else:
            found.append((item.opname, item.argval))
    return found


def _leads_to_is(listed: list[tuple[str, object]], index: int) -> bool:
    """Tell whether the value on top of the stack is an operand of an `is` in the instructions at `index`."""
    pushed = 0
    for name, _ in listed[index : index + 8]:
        if name == "IS_OP":
            return pushed <= 1
        if name.endswith("_NONE"):
            return pushed == 0
        if name.startswith("LOAD_") and name not in ("LOAD_ATTR", "LOAD_METHOD"):
            pushed += 1
        elif name != "LOAD_ATTR":
            return False
    return False


_DECIDING = ("POP_JUMP", "JUMP_IF", "UNARY_NOT", "TO_BOOL")


@cached_by_code
def _branching(code: CodeType) -> frozenset[str]:
    """Return the names of the attributes, or methods without arguments, by whose truth code goes a way."""
    instructions = [item for item in _instructions(code)[1] if item.opname not in ("PRECALL", "PUSH_NULL")]
    found = set()
    for index, item in enumerate(instructions):
        if item.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            after = instructions[index + 1]
            if after.opname.startswith("CALL") and after.arg == 0:
                after = instructions[index + 2]
            if after.opname.startswith(_DECIDING):
                found.add(str(item.argval))
    return frozenset(found)


def branches_on(code: CodeType, names: Collection[str]) -> bool:
    """Tell whether code goes one way or another by an attribute or a method of one of some names."""
    return any(name in code.co_names and name in _branching(code) for name in names)
