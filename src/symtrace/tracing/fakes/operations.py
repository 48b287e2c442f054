"""What is known of operations: which are recorded only, which only reckon with numbers, whose results sizes count."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from ...ops import program

__all__ = ["COUNTED", "PURE_NUMBERS", "SILENT", "SQUEEZING", "Part"]


class Part(NamedTuple):
    """A part of a value that is recorded only when it is used.

    Attributes:
        whole: The node or part that it is a part of.
        read: `operator.getitem` or `getattr`.
        key: Index, key or name.
    """

    whole: Any
    read: Callable[..., Any]
    key: Any


SILENT = frozenset({
    program.enter_mode, program.exit_mode, program.write_attribute, program.guard, program.stand_in,
    torch.set_rng_state,
})  # fmt: skip
"""Recorded only: what they do is done to the program that is captured, not to the one that runs at capture."""

PURE_NUMBERS = frozenset({
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, operator.neg, operator.and_,
    operator.or_, operator.xor, operator.invert, operator.lshift, operator.rshift, abs, round, divmod, int, float,
    bool, max, min, math.floor, math.ceil, math.trunc, math.sqrt, math.log, operator.getitem,
})  # fmt: skip


_SPLITS = (
    "split", "chunk", "unbind", "tensor_split", "unsafe_chunk", "unsafe_split", "split_with_sizes",
    "unsafe_split_with_sizes", "hsplit", "vsplit", "dsplit",
)  # fmt: skip
COUNTED: frozenset[Any] = frozenset(
    {*_SPLITS, torch.functional.split, *(getattr(torch, name) for name in _SPLITS if hasattr(torch, name))}
)
"""Operations whose results are as many as a size tells."""

SQUEEZING: frozenset[Any] = frozenset({"squeeze", "squeeze_", torch.squeeze})
"""Operations whose result has as many dimensions as sizes tell."""
