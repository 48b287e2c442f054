"""Matching of call arguments to the parameters that they mean."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch

from symtrace.errors import SymtraceError

from .schemas import Parameter, Signature, operator_name, python_signature, signatures_of

__all__ = ["AmbiguousOverloadError", "NormalizedArguments", "bind", "normalize_function", "normalize_module"]


class AmbiguousOverloadError(SymtraceError, RuntimeError):
    """Several overloads take the arguments, and no types were given to choose between them."""


class NormalizedArguments(NamedTuple):
    """Arguments of a call in their normal form.

    Attributes:
        args: Positional arguments.
        kwargs: Keyword arguments, in the order of the signature.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


# Torch's argument parser takes NumPy's names too.
_NUMPY_NAMES = {
    "dim": ("axis",),
    "keepdim": ("keepdims",),
    "input": ("self", "x", "a", "x1"),
    "other": ("x2",),
}


def bind(signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any] | None:
    """Match arguments to parameters; None when they do not fit.

    Args:
        signature: Parameters to match.
        args: Positional arguments.
        kwargs: Keyword arguments.

    Returns:
        Values of all parameters in their order, with defaults filled in.
    """
    positional = signature.positional
    if len(args) > len(positional):
        return None
    if not kwargs:
        if signature.fewest is None or len(args) < signature.fewest:
            return None
        rest = signature.parameters[len(args) :]
        return {
            **{p.name: v for p, v in zip(positional, args, strict=False)},
            **{p.name: p.default for p in rest},
        }
    given = {p.name: value for p, value in zip(positional, args, strict=False)}
    remaining = dict(kwargs)
    bound: dict[str, Any] = {}
    for parameter in signature.parameters:
        name = parameter.name
        if name in given:
            bound[name] = given[name]
            continue
        spelling = next((n for n in (name, *_NUMPY_NAMES.get(name, ())) if n in remaining), None)
        if spelling is not None:
            bound[name] = remaining.pop(spelling)
        elif parameter.required:
            return None
        else:
            bound[name] = parameter.default
    return None if remaining else bound


def normalize_function(
    target: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None = None,
    arg_types: tuple[Any, ...] | None = None,
    kwarg_types: Mapping[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> NormalizedArguments | None:
    """Return the arguments of a call in their normal form, with all defaults filled in.

    Args:
        target: Function that is called.
        args: Positional arguments.
        kwargs: Keyword arguments.
        arg_types: Types of `args`, to choose between overloads.
        kwarg_types: Types of `kwargs`, to choose between overloads.
        normalize_to_only_use_kwargs: Pass everything by keyword.

    Returns:
        The normal form, or None when nothing is known of `target` or the arguments do not fit.

    Raises:
        AmbiguousOverloadError: Several overloads fit and no types are given (ST201).

    >>> import torch
    >>> normalize_function(torch.flatten, ("x", 1)).kwargs
    {'end_dim': -1}
    """
    kwargs = {} if kwargs is None else kwargs
    if hasattr(target, "__symtrace_regions__"):
        return None  # whose arguments stand where generated code looks for them
    if isinstance(target, types.BuiltinFunctionType | torch._ops.OpOverload | torch._ops.OpOverloadPacket):
        known = signatures_of(target) if operator_name(target) is not None else ()
        candidates = [s for s in known if bind(s, args, kwargs) is not None]
        signature = _choose(target, candidates, args, kwargs, arg_types, kwarg_types or {})
    else:
        signature = python_signature(target)
    bound = None if signature is None else bind(signature, args, kwargs)
    return None if bound is None else _split(bound, len(args), normalize_to_only_use_kwargs)


def normalize_module(
    root: torch.nn.Module,
    target: str,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> NormalizedArguments | None:
    """Return the arguments of a call of a `torch.nn` layer in their normal form.

    Args:
        root: Module that holds the layer.
        target: Path of the layer in `root`.
        args: Positional arguments.
        kwargs: Keyword arguments.
        normalize_to_only_use_kwargs: Pass everything by keyword.

    Returns:
        The normal form, or None when the module is no layer of `torch.nn` or the arguments do not fit.

    Raises:
        AttributeError: There is no module at `target`.
    """
    module = root.get_submodule(target)
    if getattr(torch.nn, type(module).__name__, None) is not type(module):
        return None
    signature = python_signature(type(module).forward)
    if signature is None:
        return None
    bound = bind(Signature(signature.parameters[1:], signature.text), args, kwargs or {})
    return None if bound is None else _split(bound, len(args), normalize_to_only_use_kwargs)


def _split(bound: dict[str, Any], positional: int, only_kwargs: bool) -> NormalizedArguments:
    keep = 0 if only_kwargs else positional
    names = list(bound)
    return NormalizedArguments(
        tuple(bound[name] for name in names[:keep]), {name: bound[name] for name in names[keep:]}
    )


def _choose(
    target: Any,
    candidates: list[Signature],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    arg_types: tuple[Any, ...] | None,
    kwarg_types: Mapping[str, Any],
) -> Signature | None:
    if len(candidates) <= 1:
        return candidates[0] if candidates else None
    if arg_types is None and not kwarg_types:
        name = f"{getattr(target, '__module__', '')}.{getattr(target, '__name__', target)}"
        raise AmbiguousOverloadError("ST201", target=name, schemas="\n".join(s.text for s in candidates))
    for signature in candidates:
        types_of = bind(_untyped(signature), arg_types or (), kwarg_types)
        if types_of is not None and all(
            types_of[p.name] is _LEFT_OUT or _accepts(p.type, types_of[p.name]) for p in signature.parameters
        ):
            return signature
    return None


_LEFT_OUT = object()


def _untyped(signature: Signature) -> Signature:
    """Return the signature with every parameter optional, to match types of the arguments that were given."""
    return Signature(
        tuple(
            Parameter(p.name, p.keyword_only, required=False, default=_LEFT_OUT) for p in signature.parameters
        ),
        signature.text,
    )


_SCALARS: dict[str, tuple[type, ...]] = {
    "TensorType": (torch.Tensor,),
    "IntType": (int, torch.dtype, torch.layout, torch.memory_format, torch.SymInt),
    "SymIntType": (int, torch.SymInt),
    "FloatType": (float, int, torch.SymFloat),
    "NumberType": (int, float, complex, bool, torch.SymInt, torch.SymFloat),
    "BoolType": (bool,),
    "StringType": (str,),
    "DeviceObjType": (torch.device, str),
    "ComplexType": (complex,),
    "GeneratorType": (torch.Generator,),
    "ScalarTypeType": (torch.dtype,),
}


def _accepts(expected: Any, given: Any) -> bool:
    """Return whether a value of the Python type `given` fits where torch's type `expected` stands."""
    if given is typing.Any or expected is None:
        return True
    kind = expected.kind()
    if kind == "OptionalType":
        return given in (None, type(None)) or _accepts(expected.getElementType(), given)
    if kind == "ListType":
        element = expected.getElementType()
        if isinstance(given, tuple | list):
            return all(_accepts(element, item) for item in given)
        if typing.get_origin(given) in (list, tuple):
            return all(item is Ellipsis or _accepts(element, item) for item in typing.get_args(given))
        if given in (list, tuple, torch.Size):
            return True
        return element.kind() in ("IntType", "SymIntType", "FloatType") and _accepts(element, given)
    accepted = _SCALARS.get(kind)
    if accepted is None or not isinstance(given, type):
        return False
    return issubclass(given, accepted) and (given is not bool or bool in accepted)
