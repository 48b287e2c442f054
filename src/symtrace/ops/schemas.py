"""Torch's own schemas of a target, and the Python signatures that follow from them."""

from __future__ import annotations

import inspect
import types
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import torch

__all__ = ["Parameter", "Signature", "operator_name", "python_signature", "schemas_of", "signatures_of"]

_POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD


@dataclass(frozen=True)
class Parameter:
    """One parameter of a signature.

    Attributes:
        name: Keyword under which callers pass it.
        keyword_only: It can't be passed by position.
        required: It has no default.
        default: Value when it is left out.
        type: Torch's type (`torch._C.JitType`) or a Python annotation, or None when unknown.
        writes: The operator writes to the value.
        length: Number of items of a list that one number can stand for, or None.
    """

    name: str
    keyword_only: bool = False
    required: bool = True
    default: Any = None
    type: Any = None
    writes: bool = False
    length: int | None = None


@dataclass(frozen=True)
class Signature:
    """The parameters of one overload.

    Attributes:
        parameters: In order, keyword-only ones last.
        text: The schema as torch prints it, for messages.
    """

    parameters: tuple[Parameter, ...]
    text: str

    @cached_property
    def positional(self) -> tuple[Parameter, ...]:
        """The parameters that may be passed by position."""
        return tuple(parameter for parameter in self.parameters if not parameter.keyword_only)

    @cached_property
    def fewest(self) -> int | None:
        """How many arguments a call without keywords needs at least; None if it needs a keyword."""
        required = [i for i, parameter in enumerate(self.parameters) if parameter.required]
        if any(self.parameters[i].keyword_only for i in required):
            return None
        return required[-1] + 1 if required else 0

    @property
    def writes(self) -> bool:
        """Whether the overload writes to an argument."""
        return any(parameter.writes for parameter in self.parameters)


# torch.jit._builtins._find_builtin is torch's only map from a builtin (`torch.add`, `torch._C._nn.gelu`)
# to the name of its operator; checked on torch 2.13 and 2.14.
def _find_builtin(target: Callable[..., Any]) -> str | None:
    from torch.jit._builtins import _find_builtin as find

    find_builtin: Callable[[Any], str | None] = find
    try:
        return find_builtin(target)
    except TypeError:  # unhashable
        return None


def _is_tensor_method(target: Any) -> bool:
    name = getattr(target, "__name__", None)
    return isinstance(name, str) and getattr(torch.Tensor, name, None) is target


def operator_name(target: Any) -> str | None:
    """Return the qualified name of the operator behind `target`, such as `"aten::add"`, or None.

    Args:
        target: An `OpOverload`, a packet, a builtin of torch, a method of Tensor or the name of one.
    """
    if isinstance(target, str):
        return f"aten::{target}"
    if isinstance(target, torch._ops.OpOverload):
        return target._schema.name
    if isinstance(target, torch._ops.OpOverloadPacket):
        return target._qualified_op_name
    if _is_tensor_method(target):
        return f"aten::{target.__name__}"
    if isinstance(target, types.BuiltinFunctionType):
        return _find_builtin(target)
    return None


def schemas_of(target: Any) -> tuple[Any, ...]:
    """Return torch's `FunctionSchema` objects for `target`, in torch's order; empty when it has none.

    Args:
        target: An `OpOverload`, a packet, a builtin of torch, a method of Tensor or the name of one, or a
            function of `operator`, which has the schemas of what it calls on tensors.

    >>> import torch
    >>> [s.overload_name for s in schemas_of(torch.ops.aten.add.Tensor)]
    ['Tensor']
    """
    if isinstance(target, torch._ops.OpOverload):
        return (target._schema,)
    name = operator_name(target)
    if name is None and getattr(target, "__module__", None) == "_operator":
        name = _OF_OPERATOR.get(target.__name__)
    return () if name is None else _schemas_by_name(name)


_OF_OPERATOR = {
    **{
        name: f"aten::{name}"
        for name in ("add", "sub", "mul", "matmul", "neg", "pow", "abs", "eq", "ne", "lt", "le", "gt", "ge")
    },
    "truediv": "aten::div",
    "floordiv": "aten::floor_divide",
    "mod": "aten::remainder",
    "and_": "aten::bitwise_and",
    "or_": "aten::bitwise_or",
    "xor": "aten::bitwise_xor",
    "invert": "aten::bitwise_not",
    "lshift": "aten::bitwise_left_shift",
    "rshift": "aten::bitwise_right_shift",
    **{f"i{name}": f"aten::{name}_" for name in ("add", "sub", "mul", "pow")},
    "itruediv": "aten::div_",
    "ifloordiv": "aten::floor_divide_",
    "imod": "aten::remainder_",
    "iand": "aten::bitwise_and_",
    "ior": "aten::bitwise_or_",
    "ixor": "aten::bitwise_xor_",
    "setitem": "aten::index_put_",
}
"""Operators that the functions of `operator` call on tensors."""


@lru_cache(maxsize=4096)
def _schemas_by_name(name: str) -> tuple[Any, ...]:
    return tuple(torch._C._jit_get_schemas_for_operator(name))


def _from_schema(schema: Any) -> Signature:
    parameters = []
    for index, argument in enumerate(schema.arguments):
        info = argument.alias_info
        parameters.append(
            Parameter(
                # the Python bindings call the first parameter `input` where the schema says `self`
                name="input" if index == 0 and argument.name == "self" else argument.name,
                keyword_only=argument.kwarg_only,
                required=not argument.has_default_value(),
                default=argument.default_value,
                type=argument.real_type,
                writes=info is not None and info.is_write,
                length=argument.N,
            )
        )
    return Signature(tuple(parameters), str(schema))


@lru_cache(maxsize=4096)
def _signatures_by_name(name: str) -> tuple[Signature, ...]:
    return tuple(_from_schema(schema) for schema in _schemas_by_name(name))


_PYTHON_SIGNATURES: weakref.WeakKeyDictionary[Any, Signature | None] = weakref.WeakKeyDictionary()


def python_signature(target: Callable[..., Any]) -> Signature | None:
    """Return the signature of a Python function, or None when it has none that can be matched by name.

    Functions with positional-only parameters, `*args` or `**kwargs` have none.
    """
    target = _dispatched(target)
    if not isinstance(target, types.FunctionType):
        return _inspect(target)
    if target not in _PYTHON_SIGNATURES:
        _PYTHON_SIGNATURES[target] = _inspect(target)
    return _PYTHON_SIGNATURES[target]


def _inspect(target: Callable[..., Any]) -> Signature | None:
    try:
        parameters = inspect.signature(target, follow_wrapped=False).parameters.values()
    except (TypeError, ValueError):
        return None
    result = []
    for parameter in parameters:
        if parameter.kind not in (_POSITIONAL, inspect.Parameter.KEYWORD_ONLY):
            return None
        required = parameter.default is inspect.Parameter.empty
        annotation = None if parameter.annotation is inspect.Parameter.empty else parameter.annotation
        result.append(
            Parameter(
                name=parameter.name,
                keyword_only=parameter.kind is inspect.Parameter.KEYWORD_ONLY,
                required=required,
                default=None if required else parameter.default,
                type=annotation,
            )
        )
    return Signature(tuple(result), f"{getattr(target, '__name__', target)}{inspect.signature(target)}")


# torch._jit_internal.boolean_dispatched maps functions such as F.max_pool2d, whose own signature is
# `(*args, **kwargs)`, to their two implementations, which share one signature; checked on 2.13 and 2.14.
def _dispatched(target: Callable[..., Any]) -> Callable[..., Any]:
    from torch._jit_internal import boolean_dispatched

    try:
        choices = boolean_dispatched.get(target)
    except TypeError:  # not weakly referenceable
        return target
    return target if choices is None else choices["if_false"]


def signatures_of(target: Any) -> tuple[Signature, ...]:
    """Return the signatures under which `target` can be called; empty when nothing is known.

    Args:
        target: As for `schemas_of`, or a Python function.

    >>> import torch
    >>> [p.name for p in signatures_of(torch.nn.functional.relu)[0].parameters]
    ['input', 'inplace']
    """
    if isinstance(target, torch._ops.OpOverload):
        return (_from_schema(target._schema),)
    name = operator_name(target)
    if name is not None:
        found = _signatures_by_name(name)
        if found:
            return found
    if isinstance(target, types.FunctionType):
        signature = python_signature(target)
        return () if signature is None else (signature,)
    return ()
