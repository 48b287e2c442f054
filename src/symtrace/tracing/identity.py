"""Questions that Python answers without asking a value: `is`, and patterns of sequences and mappings in `match`.

Functions that ask one of a local variable are run with a trace function, which looks at the variable first.
"""

from __future__ import annotations

import dis
import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

__all__ = ["Question", "questions_of", "watching_questions"]

Question = tuple[str, tuple[str, ...]]
"""What is asked, `"is"` or `"match"`, and the local variables it is asked of."""

_Ask = Callable[[str, list[Any]], None]


@functools.lru_cache(maxsize=4096)
def questions_of(code: CodeType) -> dict[int, Question]:
    """Return the questions that a function asks of its local variables, by the offset of the instruction."""
    if not any(name in _OPCODES for name in code.co_code[::2]):
        return {}
    found: dict[int, Question] = {}
    before: list[tuple[str, ...] | None] = []
    names: list[str] = []
    for item in dis.get_instructions(code):
        name = item.opname
        if name in ("CACHE", "EXTENDED_ARG", "NOP"):
            continue
        if name == "IS_OP":
            operands = [operand for operand in before[-2:] if operand is not None]
            variables = tuple(variable for operand in operands for variable in operand)
            if variables and len(operands) == len(before[-2:]):
                found[item.offset] = "is", variables[-2:]
        elif name in ("MATCH_SEQUENCE", "MATCH_MAPPING"):
            if names and names[-1].startswith(("CALL", "PRECALL")):
                found[item.offset] = "match", ()
            subject = next((operand for operand in reversed(before[-4:]) if operand), None)
            if subject is not None and item.offset not in found:
                found[item.offset] = "match", subject[-1:]
        before.append(_loaded(item))
        if not name.startswith(("COPY", "DUP_TOP")):
            names.append(name)
    return found


_OPCODES = frozenset(
    dis.opmap[name] for name in ("IS_OP", "MATCH_SEQUENCE", "MATCH_MAPPING") if name in dis.opmap
)


def _loaded(item: dis.Instruction) -> tuple[str, ...] | None:
    """Return the local variables that an instruction loads, none for a constant; None for anything else."""
    if item.opname.startswith(("LOAD_FAST", "LOAD_DEREF")):
        return item.argval if type(item.argval) is tuple else (item.argval,)
    return () if item.opname in ("LOAD_CONST", "LOAD_GLOBAL", "LOAD_SMALL_INT") else None


@contextmanager
def watching_questions(ask: _Ask) -> Iterator[Callable[[], None]]:
    """Have the questions of functions that are called from now on put to `ask`, once the yielded function is called.

    Args:
        ask: Takes what is asked and the values of the variables; what it raises, the program raises.
    """
    before = sys.gettrace()

    def local(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "opcode":
            question = questions_of(frame.f_code).get(frame.f_lasti)
            if question is not None:
                held = frame.f_locals
                ask(question[0], [held[name] for name in question[1] if name in held])
        return local

    def entered(frame: FrameType, event: str, argument: Any) -> Any:
        if not questions_of(frame.f_code):
            return None
        frame.f_trace_opcodes = True
        return local

    def start() -> None:
        if before is None:  # a debugger that is at work stays
            sys.settrace(entered)

    try:
        yield start
    finally:
        if before is None:
            sys.settrace(None)
