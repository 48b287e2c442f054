"""What is known of operations: which are recorded only, which only reckon with numbers, whose results sizes count."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from ...ops import program

__all__ = ["COUNTED", "PURE_NUMBERS", "SILENT", "SQUEEZING", "Part", "unchecked"]


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


def _split(shift: int) -> Callable[..., Any]:
    """Return what splits a tensor into as many parts as there are sizes, all of it, however large the sizes are."""

    def split(tensor: torch.Tensor, sizes: Any, dim: int = 0) -> Any:
        total, count = tensor.shape[dim], len(sizes)
        each = [total // count] * count
        each[-1] += total % count
        for first in range(0, count - 1, 2):
            moved = min(shift, each[first])
            each[first] -= moved
            each[first + 1] += moved
        return torch.split(tensor, each, dim)

    return split


_SPLIT_SIZES = frozenset(
    {"split", "split_with_sizes", torch.split, torch.split_with_sizes, torch.functional.split}
)


_LIKE_FIRST = frozenset({
    "index_add", "index_copy", "index_fill", "index_put", "scatter", "scatter_add", "scatter_reduce", "masked_scatter",
    "index_reduce",
})  # fmt: skip


_ASSIGNED = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift", "matmul",
)  # fmt: skip
_IN_PLACE = frozenset(name for one in _ASSIGNED for name in (f"i{one}", f"__i{one}__"))


def unchecked(target: Any) -> tuple[Callable[..., Any], Callable[..., Any]] | None:
    """Return what gives results like those of an operation for arguments whose sizes do not agree, if that is known.

    What the data decides is made up at capture, so that sizes that agree at each call need not agree there.

    Returns:
        A function for the example, and one for other data.
    """
    if target in _SPLIT_SIZES:
        return _split(0), _split(1)
    name = target if isinstance(target, str) else getattr(target, "__name__", "")
    if name == "multinomial":
        return _drawn, _drawn
    if target is operator.setitem:
        return _nothing, _nothing
    if name in _LIKE_FIRST or name in _IN_PLACE or (name.endswith("_") and not name.endswith("__")):
        return _first, _first
    return None


def _nothing(*args: Any) -> None:
    """Return what `setitem` gives."""


def _drawn(weights: torch.Tensor, count: Any, *args: Any, **kwargs: Any) -> torch.Tensor:
    """Return what `multinomial` gives, however few there are to draw from."""
    return weights.new_zeros((*weights.shape[:-1], int(count)), dtype=torch.long)


def _first(tensor: Any, *args: Any, **kwargs: Any) -> Any:
    return tensor
