"""One form for all spellings of a call.

`torch.flatten(x, 1)`, `torch.flatten(x, start_dim=1)`, `x.flatten(1)` and `x.flatten(1, -1)` mean the same
call. Two calls are the same if they have the same head and, for an overload that both fit, the same values.
"""

from __future__ import annotations

import math
import operator
import types
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
import torch.nn.functional as F

from .normalize import bind
from .schemas import Parameter, Signature, operator_name, python_signature, signatures_of

__all__ = ["Call", "call_form", "head_of", "same_literal"]

IsNode = Callable[[Any], bool]


@dataclass(frozen=True)
class Call:
    """A call in the form in which it is compared.

    Attributes:
        head: What is called; calls with different heads are never the same.
        forms: For each overload that the arguments fit, its index and the values of all parameters.
        commutes: The first two values of each form may be exchanged.
    """

    head: Hashable
    forms: tuple[tuple[int, tuple[Any, ...]], ...]
    commutes: bool = False


_HEADS: dict[tuple[str, Any, bool], Hashable] = {}


def head_of(op: str, target: Any, normalize: bool) -> Hashable:
    """Return what a `call_function` or `call_method` node calls, the same for all spellings.

    Args:
        op: Kind of the node.
        target: Target of the node.
        normalize: Let functions that compute the same have the same head, such as `F.relu` and `torch.relu`.
    """
    try:
        return _HEADS[op, target, normalize]
    except KeyError:
        pass
    except TypeError:  # unhashable callables are the same only if they are identical
        return (op, id(target))
    head = _head(op, target, normalize)
    if isinstance(head, str) or isinstance(target, types.BuiltinFunctionType):
        _HEADS[op, target, normalize] = head  # nothing of the user's: that must not live on in a cache
    return head


def _head(op: str, target: Any, normalize: bool) -> Hashable:
    if op == "call_function" and normalize:
        twin = _TWINS.get(target)
        if twin is not None:
            return twin.name
    if isinstance(target, torch._ops.OpOverload | torch._ops.OpOverloadPacket) and not normalize:
        return (op, target)
    name = operator_name(target)
    if name is not None and signatures_of(target):
        return _ALIASES.get(name, name) if normalize else name
    return (op, target)


def call_form(
    op: str, target: Any, args: Sequence[Any], kwargs: Mapping[str, Any], normalize: bool, is_node: IsNode
) -> Call:
    """Return the form in which a `call_function` or `call_method` node is compared.

    Args:
        op: Kind of the node.
        target: Target of the node.
        args: Positional arguments.
        kwargs: Keyword arguments.
        normalize: As for `head_of`; operands of commutative operators may then be exchanged too.
        is_node: Tells a node, whose value is not known, from a literal.
    """
    head = head_of(op, target, normalize)
    if normalize and op == "call_function" and target in _TWINS:
        twin = _TWINS[target]
        own = python_signature(target) if isinstance(target, types.FunctionType) else None
        bound: Any = None if own is None else bind(own, args, kwargs)
        if bound is not None:
            args, kwargs = (), {name: v for name, v in bound.items() if name not in twin.dropped}
            if any(bound[name] != value for name, value in twin.dropped.items() if value is not _ANY):
                return _raw((op, target), args, bound)
            if twin.name in _POOLS and kwargs.get("stride") is None:
                del kwargs["stride"]
    commutes = normalize and head in _COMMUTATIVE
    forms = []
    for index, signature in _signatures(head, target, "out" in kwargs):
        values = _values(signature, args, kwargs, is_node, commutes)
        if values is not None:
            forms.append((index, values))
    return Call(head, tuple(forms), commutes) if forms else _raw(head, args, kwargs)


def _signatures(head: Hashable, target: Any, with_out: bool) -> Sequence[tuple[int, Signature]]:
    if isinstance(head, str):
        return _overloads(head, with_out)
    return tuple(enumerate(signatures_of(target))) if callable(target) else ()


@lru_cache(maxsize=4096)
def _overloads(name: str, with_out: bool) -> tuple[tuple[int, Signature], ...]:
    """Return the overloads that Python reaches: those of TorchScript alone have no tensors."""
    found = enumerate(signatures_of(name.removeprefix("aten::")))
    return tuple(
        (index, signature)
        for index, signature in found
        if "Tensor" in signature.text and (with_out or not any(_is_out(p) for p in signature.parameters))
    )


def _is_out(parameter: Parameter) -> bool:
    return parameter.writes and parameter.keyword_only


def _raw(head: Hashable, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Call:
    """Return the form of a call whose signature is not known: nothing is exchanged."""
    names = tuple(sorted(kwargs))
    return Call(head, ((-1, (tuple(args), names, *(kwargs[name] for name in names))),))


def _values(
    signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any], is_node: IsNode, commutes: bool
) -> tuple[Any, ...] | None:
    args = _gathered(signature, args, is_node)
    bound = bind(signature, args, kwargs)
    if bound is None:
        return None
    given = list(bound.values())
    if commutes and len(given) > 1 and not is_node(given[0]) and is_node(given[1]):
        given[0], given[1] = given[1], given[0]
    values = []
    for parameter, value in zip(signature.parameters, given, strict=True):
        is_default = not parameter.required and value is parameter.default
        if not is_default and not _fits(parameter.type, value, is_node):
            return None
        values.append(_plain(parameter, value, is_node))
    return tuple(_with_stride(signature, values))


def _with_stride(signature: Signature, values: list[Any]) -> list[Any]:
    """Return the values of a pooling with the stride that it has where none is given: the size of its windows."""
    names = [parameter.name for parameter in signature.parameters]
    if "kernel_size" not in names or "stride" not in names:
        return values
    place = names.index("stride")
    if isinstance(values[place], list | tuple) and not values[place]:
        values[place] = values[names.index("kernel_size")]
    return values


def _gathered(signature: Signature, args: Sequence[Any], is_node: IsNode) -> Sequence[Any]:
    """Return `args` with trailing numbers gathered into the list that they stand for: `x.view(2, 3)`."""
    positional = signature.positional
    last = len(positional) - 1
    if last < 0 or len(args) <= last + 1 or not _is_number_list(positional[last].type):
        return args
    tail = tuple(args[last:])
    numbers = all(is_node(v) or (isinstance(v, int) and not isinstance(v, bool)) for v in tail)
    return (*args[:last], tail) if numbers else args


def _is_number_list(kind: Any) -> bool:
    if kind is None or not hasattr(kind, "kind"):
        return False
    if kind.kind() == "OptionalType":
        return _is_number_list(kind.getElementType())
    return kind.kind() == "ListType" and kind.getElementType().kind() in _NUMBERS


_NUMBERS = frozenset({"IntType", "SymIntType", "FloatType"})


def _fits(expected: Any, value: Any, is_node: IsNode) -> bool:
    """Return whether a literal can stand for a parameter; a node always can."""
    if is_node(value) or expected is None or not hasattr(expected, "kind"):
        return True
    kind = expected.kind()
    if kind == "OptionalType":
        return value is None or _fits(expected.getElementType(), value, is_node)
    if kind == "ListType":
        element = expected.getElementType()
        if isinstance(value, list | tuple):
            return all(_fits(element, item, is_node) for item in value)
        return element.kind() in _NUMBERS and _fits(element, value, is_node)
    if kind == "TensorType":
        return isinstance(value, torch.Tensor)
    if isinstance(value, bool):
        return kind in ("BoolType", "NumberType")
    if isinstance(value, int):
        return kind in _NUMBERS or kind == "NumberType"
    if isinstance(value, float):
        return kind in ("FloatType", "NumberType")
    if isinstance(value, complex):
        return kind in ("ComplexType", "NumberType")
    if isinstance(value, str):
        return kind in ("StringType", "DeviceObjType", "AnyType")
    return value is not None and kind not in ("BoolType", "StringType", "NumberType")


def _plain(parameter: Parameter, value: Any, is_node: IsNode) -> Any:
    """Return a value as torch reads it: a number may stand for a list, an integer for a float."""
    kind = parameter.type
    if is_node(value) or value is None or not hasattr(kind, "kind"):
        return value
    if kind.kind() == "OptionalType":
        kind = kind.getElementType()
    if kind.kind() == "ListType" and not isinstance(value, list | tuple):
        return (value,) * (parameter.length or 1)
    if kind.kind() == "FloatType" and type(value) is int:
        return float(value)
    return value


def same_literal(left: Any, right: Any) -> bool:
    """Return whether two literals mean the same: equal and of one type, lists and tuples alike.

    >>> same_literal(1, True), same_literal([1], (1,)), same_literal(float("nan"), float("nan"))
    (False, True, True)
    """
    if left is right:
        return True
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(same_literal, left, right))
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same_literal(left[key], right[key]) for key in left)
    if isinstance(left, slice):
        return all(
            same_literal(getattr(left, name), getattr(right, name)) for name in ("start", "stop", "step")
        )
    if isinstance(left, torch.Tensor):
        return False  # tensors that are not identical are different values to a graph
    if isinstance(left, float):
        same_sign = math.copysign(1.0, left) == math.copysign(1.0, right)
        return (left == right and same_sign) or (left != left and right != right)
    try:
        return bool(left == right)
    except Exception:
        return False


@dataclass(frozen=True)
class _Twin:
    """The operator that a function calls once the arguments in `dropped` have these values."""

    name: str
    dropped: Mapping[str, Any]


_ANY = object()

_POOLS = frozenset({"aten::max_pool1d", "aten::max_pool2d", "aten::max_pool3d"})


def _twins() -> dict[Any, _Twin]:
    table: dict[Any, _Twin] = {}
    for name in (
        "relu",
        "relu6",
        "elu",
        "selu",
        "celu",
        "leaky_relu",
        "silu",
        "mish",
        "hardswish",
        "hardsigmoid",
        "hardtanh",
    ):
        table[getattr(F, name)] = _Twin(f"aten::{name}", {"inplace": False})
    for name in _POOLS:
        name = name.removeprefix("aten::")
        table[getattr(F, name)] = _Twin(f"aten::{name}", {"return_indices": False})
    for name in ("softmax", "log_softmax"):
        table[getattr(F, name)] = _Twin(f"aten::{name}", {"_stacklevel": _ANY})
    for name in ("sigmoid", "tanh", "layer_norm", "group_norm", "prelu"):
        if isinstance(getattr(F, name), types.FunctionType):
            table[getattr(F, name)] = _Twin(f"aten::{name}", {})
    names = {
        "add": "add",
        "sub": "sub",
        "mul": "mul",
        "truediv": "div",
        "matmul": "matmul",
        "neg": "neg",
        "pow": "pow",
        "eq": "eq",
        "ne": "ne",
        "lt": "lt",
        "le": "le",
        "gt": "gt",
        "ge": "ge",
        "and_": "bitwise_and",
        "or_": "bitwise_or",
        "xor": "bitwise_xor",
        "invert": "bitwise_not",
        "abs": "abs",
        "lshift": "bitwise_left_shift",
        "rshift": "bitwise_right_shift",
        "mod": "remainder",
        "floordiv": "floor_divide",
        "iadd": "add_",
        "isub": "sub_",
        "imul": "mul_",
        "itruediv": "div_",
    }
    for name, twin in names.items():
        table[getattr(operator, name)] = _Twin(f"aten::{twin}", {})
    table[abs] = _Twin("aten::abs", {})
    return table


_TWINS = _twins()

_OTHER_NAMES = {
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan",
    "arctan2": "atan2", "arctanh": "atanh", "clip": "clamp", "concat": "cat", "concatenate": "cat", "divide": "div",
    "fix": "trunc", "ger": "outer", "greater": "gt", "greater_equal": "ge", "inverse": "linalg_inv", "less": "lt",
    "less_equal": "le", "moveaxis": "movedim", "multiply": "mul", "negative": "neg", "not_equal": "ne",
    "row_stack": "vstack", "subtract": "sub", "swapaxes": "transpose", "swapdims": "transpose", "true_divide": "div",
    "special_expit": "sigmoid", "special_erf": "erf", "special_erfc": "erfc", "special_exp2": "exp2",
    "special_expm1": "expm1", "special_log1p": "log1p", "special_round": "round", "special_sinc": "sinc",
    "special_softmax": "softmax", "special_log_softmax": "log_softmax", "special_logsumexp": "logsumexp",
}  # fmt: skip
"""Further names that torch gives to operators."""

_ALIASES = {
    f"aten::{name}{end}": f"aten::{other}{end}" for name, other in _OTHER_NAMES.items() for end in ("", "_")
}

_COMMUTATIVE = frozenset(
    f"aten::{name}"
    for name in ("add", "mul", "eq", "ne", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor",
                 "logical_and", "logical_or", "logical_xor", "hypot", "logaddexp", "fmax", "fmin")
)  # fmt: skip
