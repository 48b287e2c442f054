"""Numbers of a program that is captured with examples: their value is known, and what is done with them is recorded.

They are torch's symbolic numbers by class, so that every function of torch takes them where it takes a number, and
Python asks them wherever it needs the number itself.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from ..frames import is_internal

if TYPE_CHECKING:
    from .tracer import ExampleTracer

__all__ = ["NUMBERS", "TracedBool", "TracedFloat", "TracedInt", "is_number", "wrap_number"]


class _CNode:
    """What C code asks a symbolic number that reaches it unseen: the plain number, with a guard."""

    def __init__(self, number: Any) -> None:
        self._number = number

    def is_int(self) -> bool:
        return isinstance(self._number, TracedInt)

    def is_float(self) -> bool:
        return isinstance(self._number, TracedFloat)

    def is_bool(self) -> bool:
        return isinstance(self._number, TracedBool)

    def is_symbolic(self) -> bool:
        return True

    def is_constant(self) -> bool:
        return False

    def is_nested_int(self) -> bool:
        return False

    def maybe_as_int(self) -> int | None:
        return None

    def constant_int(self) -> int | None:
        return None

    def has_hint(self) -> bool:
        return True

    def guard_int(self, file: str = "", line: int = 0) -> Any:
        return self._number._pin("int")

    def int_(self) -> Any:
        return self._number._pin("int")

    guard_float = guard_bool = guard_size_oblivious = expect_true = guard_int
    bool_ = float_ = int_

    def _graph_repr(self) -> str:
        return repr(self._number._value)

    str = _graph_repr


class _Traced:
    """What the numbers have in common.

    Attributes:
        tracer: Records.
        is_open: Whether it depends on data, or on a flag that tells whether a module is training.
    """

    tracer: ExampleTracer
    is_open: bool
    _value: Any
    _other: Any
    _source: Any

    def _set(self, tracer: ExampleTracer, source: Any, value: Any, other: Any) -> None:
        self.is_open = type(value) is not type(other) or value != other  # whether data has a say in it
        self.tracer = tracer
        self._source = source  # a node, or the node and index that it is read from
        self._value = value
        self._other = other  # what it would be if the data were different; the same if only sizes decide it
        self.__dict__["node"] = _CNode(self)

    @property
    def __class__(self) -> Any:
        frame = sys._getframe(1)  # which may only be where a function in C was called that looks at classes
        is_asked = "__class__" in frame.f_code.co_names and not is_internal(frame)
        return self.tracer.type_of(self) if is_asked else type(self)

    @__class__.setter
    def __class__(self, value: Any) -> None:
        raise TypeError("the class of a number can't be changed")

    def __graph_node__(self) -> Any:
        return self.tracer.node_of_number(self)

    def _pin(self, asked_for: str) -> Any:
        return self.tracer.pin(self, asked_for)

    def __array_ufunc__(self, function: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        given = [arg._pin("numpy") if isinstance(arg, _Traced) else arg for arg in args]
        return getattr(function, method)(*given, **kwargs)

    def __int__(self) -> int:
        return int(self.tracer.convert(self, "int"))

    def __index__(self) -> int:
        return int(self._pin("index"))

    def __float__(self) -> float:
        return float(self.tracer.convert(self, "float"))

    def __complex__(self) -> complex:
        return complex(self._pin("complex"))

    def __bool__(self) -> bool:
        return self.tracer.decide(self)

    def __hash__(self) -> int:
        return hash(self._pin("hash"))

    def __repr__(self) -> str:
        return self.tracer.number_text(self, "")

    def __str__(self) -> str:
        return self.tracer.number_text(self, "")

    def __format__(self, spec: str) -> str:
        return self.tracer.number_text(self, spec)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self._value), (self._pin("pickle"),)

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __copy__(self) -> Any:
        return self

    def __pos__(self) -> Any:
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("tracer", "is_open", "_value", "_other", "_source"):
            raise AttributeError(name)
        return getattr(self._pin(name), name)


def is_number(value: Any) -> bool:
    """Tell whether a value is a plain or traced number."""
    return isinstance(value, int | float | complex | _Traced)


def _binary(function: Callable[..., Any], is_reflected: bool = False) -> Any:
    def method(self: Any, other: Any) -> Any:
        if not is_number(other):
            return NotImplemented
        args = (other, self) if is_reflected else (self, other)
        return self.tracer.call_function(function, args, {})

    return method


def _unary(function: Callable[..., Any]) -> Any:
    def method(self: Any, *args: Any) -> Any:
        return self.tracer.call_function(function, (self, *args), {})

    return method


_OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
    "floordiv": operator.floordiv, "mod": operator.mod, "pow": operator.pow, "lshift": operator.lshift,
    "rshift": operator.rshift, "and": operator.and_, "or": operator.or_, "xor": operator.xor, "divmod": divmod,
}  # fmt: skip
_COMPARISONS: dict[str, Callable[..., Any]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip
_UNARY: dict[str, Callable[..., Any]] = {
    "neg": operator.neg, "invert": operator.invert, "abs": abs, "round": round, "floor": math.floor, "ceil": math.ceil,
    "trunc": math.trunc,
}  # fmt: skip


def _pinned_method(name: str) -> Any:
    """Return a method of plain numbers, in the place of one of torch's symbolic numbers."""
    return property(lambda self: getattr(self._pin(name), name))


for _name in ("as_integer_ratio", "bit_length", "conjugate", "hex", "is_integer"):
    setattr(_Traced, _name, _pinned_method(_name))
for _name, _function in _OPERATORS.items():
    setattr(_Traced, f"__{_name}__", _binary(_function))
    setattr(_Traced, f"__r{_name}__", _binary(_function, is_reflected=True))
for _name, _function in _COMPARISONS.items():
    setattr(_Traced, f"__{_name}__", _binary(_function))
for _name, _function in _UNARY.items():
    setattr(_Traced, f"__{_name}__", _unary(_function))


class TracedInt(_Traced, torch.SymInt):
    """An int."""

    def __init__(self, tracer: ExampleTracer, source: Any, value: int, other: int) -> None:
        self._set(tracer, source, value, other)

    @property
    def real(self) -> Any:
        """The number itself."""
        return self


class TracedFloat(_Traced, torch.SymFloat):
    """A float."""

    def __init__(self, tracer: ExampleTracer, source: Any, value: float, other: float) -> None:
        self._set(tracer, source, value, other)


class TracedBool(_Traced, torch.SymBool):
    """A bool."""

    def __init__(self, tracer: ExampleTracer, source: Any, value: bool, other: bool) -> None:
        self._set(tracer, source, value, other)


NUMBERS: dict[type, Any] = {int: TracedInt, float: TracedFloat, bool: TracedBool}
"""The traced class for each class of number."""


def wrap_number(tracer: Any, source: Any, value: Any, other: Any, is_open: bool = False) -> Any:
    """Return the traced number for `value`, which `source` computes."""
    number = NUMBERS[type(value)](tracer, source, value, other)
    number.is_open = number.is_open or is_open
    return number
