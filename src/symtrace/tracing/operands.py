"""What `is` compares, as the instructions in front of it tell: a variable, or a part of one."""

from __future__ import annotations

import dis
from types import CodeType, FrameType
from typing import Any, NamedTuple

import torch

from .code_cache import cached_by_code
from .proxy import Proxy

__all__ = ["UNSEEN", "Operand", "compares_results", "comparisons", "operand_value"]

UNSEEN = object()
"""The value of an operand that can't be read without asking something of a traced value, or of code of the program."""

_STEPS = 8


class Operand(NamedTuple):
    """One side of an `is`.

    Attributes:
        root: The local variable that it is read from; `""` for a constant or name of the module, None for the result of
            a call and the like.
        path: The attributes (names) and items (one-tuples of the key) that lead from it to the value.
    """

    root: str | None
    path: tuple[Any, ...] = ()


@cached_by_code
def comparisons(code: CodeType) -> dict[int, tuple[Operand, Operand]]:
    """Return what each `is` of a function compares, by the offset of the instruction; left out are those with None."""
    found: dict[int, tuple[Operand, Operand]] = {}
    if _IS not in code.co_code[::2]:
        return found
    before: list[tuple[str, Any]] = []
    for item in dis.get_instructions(code):
        if item.opcode == _IS:
            right, rest = _operand(before, len(before) - 1)
            left, rest = _operand(before, rest)
            if ("LOAD_CONST", None) not in (before[-1], *before[rest + 1 : rest + 2]):
                found[item.offset] = left, right
        if item.opname not in ("CACHE", "EXTENDED_ARG", "NOP"):
            before += _single(item)
    return found


_IS = dis.opmap["IS_OP"]


@cached_by_code
def compares_results(code: CodeType) -> bool:
    """Tell whether a function, or one that is defined in it, compares by `is` what calls and the like give."""
    pairs = [{left.root, right.root} for left, right in comparisons(code).values()]
    return any(None in roots and "" not in roots for roots in pairs) or any(
        type(const) is CodeType and compares_results(const) for const in code.co_consts
    )


def _single(item: dis.Instruction) -> list[tuple[str, Any]]:
    """Return name and argument; what Python 3.13 and later do with two variables at once is taken apart."""
    if item.opname.count("_FAST") == 2 and isinstance(item.argval, tuple):
        kind = "LOAD_FAST" if item.opname.startswith("LOAD") else "STORE_FAST"
        return [(kind, name) for name in item.argval]
    return [(item.opname, item.argrepr if item.opname == "BINARY_OP" else item.argval)]


def _operand(before: list[tuple[str, Any]], last: int) -> tuple[Operand, int]:
    """Return what the instructions up to one leave on the stack, and the last of those in front of them."""
    path: list[Any] = []
    while last >= 0 and len(path) < _STEPS:
        name, argument = before[last]
        if name.startswith(("LOAD_FAST", "LOAD_DEREF", "LOAD_CLASSDEREF")):
            return Operand(argument, tuple(reversed(path))), last - 1
        if name in ("LOAD_CONST", "LOAD_GLOBAL", "LOAD_SMALL_INT"):
            return Operand(""), last - 1
        if name == "LOAD_ATTR":
            path.append(argument)
            last -= 1
        elif name == "BINARY_SUBSCR" or (name == "BINARY_OP" and argument == "[]"):
            key = before[last - 1]
            if key[0] not in ("LOAD_CONST", "LOAD_SMALL_INT"):
                break
            path.append((key[1],))
            last -= 2
        else:
            break
    return Operand(None), -1


def operand_value(operand: Operand, frame: FrameType) -> Any:
    """Return the value of an operand in a frame that is about to compare it; `UNSEEN` where that is not known."""
    held = frame.f_locals
    if operand.root is None or operand.root not in held:
        return UNSEEN
    value = held[operand.root]
    for step in operand.path:
        if issubclass(type(value), Proxy | torch.Tensor):
            return UNSEEN
        value = _item(value, step[0]) if type(step) is tuple else _attribute(value, step)
        if value is UNSEEN:
            break
    return value


def _item(container: Any, key: Any) -> Any:
    if type(container) not in (list, tuple, dict) and not hasattr(type(container), "_fields"):
        return UNSEEN
    try:
        return container[key]
    except (LookupError, TypeError):
        return UNSEEN  # which the program is about to be told


def _attribute(owner: Any, name: str) -> Any:
    """Return an attribute that is there without running code of the program."""
    if name in getattr(type(owner), "_fields", ()):
        return getattr(owner, name)
    return getattr(owner, "__dict__", {}).get(name, UNSEEN)
