"""Tells an operator from the method that torch hands over for it: `x + y` from `x.add(y)`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ..frames import runs_operator, user_frame

__all__ = ["as_operator"]

_PLAIN: dict[str, Callable[..., Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "pow": operator.pow,
    "__floordiv__": operator.floordiv, "remainder": operator.mod, "matmul": operator.matmul, "neg": operator.neg,
    "__invert__": operator.invert, "__and__": operator.and_, "__or__": operator.or_, "__xor__": operator.xor,
    "bitwise_and": operator.and_, "bitwise_or": operator.or_, "bitwise_xor": operator.xor,
    "__lshift__": operator.lshift, "__rshift__": operator.rshift, "__eq__": operator.eq, "ne": operator.ne,
    "__add__": operator.add, "__sub__": operator.sub, "__mul__": operator.mul, "__truediv__": operator.truediv,
    "__pow__": operator.pow, "__mod__": operator.mod, "__matmul__": operator.matmul,
    "gt": operator.gt, "ge": operator.ge, "lt": operator.lt, "le": operator.le, "positive": operator.pos,
}  # fmt: skip
_REFLECTED: dict[str, Callable[..., Any]] = {
    "__rsub__": operator.sub, "__rdiv__": operator.truediv, "__rfloordiv__": operator.floordiv,
    "__rmod__": operator.mod, "__rpow__": operator.pow, "__rmatmul__": operator.matmul,
    "__rlshift__": operator.lshift, "__rrshift__": operator.rshift,
}  # fmt: skip
_ASSIGNING: dict[str, Callable[..., Any]] = {
    "add_": operator.iadd, "sub_": operator.isub, "mul_": operator.imul, "div_": operator.itruediv,
    "floor_divide_": operator.ifloordiv, "pow_": operator.ipow, "remainder_": operator.imod,
    "__iand__": operator.iand, "__ior__": operator.ior, "__ixor__": operator.ixor, "__ilshift__": operator.ilshift,
    "__irshift__": operator.irshift,
}  # fmt: skip
_NAMES = _PLAIN.keys() | _REFLECTED.keys() | _ASSIGNING.keys()


def as_operator(
    name: str, args: tuple[Any, ...], may_be_number: bool = False
) -> tuple[Callable[..., Any], tuple[Any, ...], str | None] | None:
    """Return the operator function that the user's line applies, with its operands, or None for a plain call.

    Args:
        name: Name of the method that torch handed over.
        args: Its arguments.
        may_be_number: Whether one of them is a tensor or a number, depending on the data.

    Returns:
        The function, its operands, and the name of the node where it isn't that of the function.
    """
    if name not in _NAMES:
        return None
    frame = user_frame(3)
    adds_up = may_be_number and name == "add" and frame is not None and name not in frame.f_code.co_names
    if frame is None or not (adds_up or runs_operator(frame)):  # it is `sum` that adds up
        return None
    if name in _PLAIN:
        return _PLAIN[name], args, None
    if name in _REFLECTED:
        return _REFLECTED[name], (args[1], args[0]), None
    function = _ASSIGNING[name]
    return function, args, function.__name__.removeprefix("i")
