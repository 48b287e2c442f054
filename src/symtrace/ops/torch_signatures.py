"""Torch's operators as Python signatures, for programs that bind arguments themselves."""

from __future__ import annotations

import inspect
import numbers
import types
import typing
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from ..errors import MutableOperationError, SymtraceWarning
from .schemas import schemas_of

__all__ = [
    "check_for_mutable_operation",
    "create_type_hint",
    "get_signature_for_torch_op",
    "python_type",
    "type_matches",
    "writing_overload",
]

_TYPES: dict[str, Any] = {
    "TensorType": torch.Tensor,
    "IntType": int,
    "SymIntType": int,
    "FloatType": float,
    "NumberType": numbers.Number,
    "BoolType": bool,
    "StringType": str,
    "ComplexType": complex,
    "DeviceObjType": torch.device,
    "GeneratorType": torch.Generator,
    "ScalarTypeType": torch.dtype,
    "LayoutType": torch.layout,
    "MemoryFormatType": torch.memory_format,
    "StreamObjType": torch.Stream,
    "NoneType": type(None),
}


def python_type(kind: Any) -> Any:
    """Return torch's type as an annotation of Python's, spelled as torch's own annotations are."""
    name = kind.kind()
    generic: Any = {"OptionalType": typing.Optional, "ListType": typing.List}.get(name)  # noqa: UP006
    if generic is not None:
        return generic[python_type(kind.getElementType())]
    if name == "TupleType":
        return typing.Tuple[tuple(python_type(item) for item in kind.elements())]  # noqa: UP006
    return _TYPES.get(name, typing.Any)


def _signature(schema: Any) -> inspect.Signature:
    parameters = []
    for index, argument in enumerate(schema.arguments):
        kind = (
            inspect.Parameter.KEYWORD_ONLY if argument.kwarg_only else inspect.Parameter.POSITIONAL_OR_KEYWORD
        )
        # The Python bindings call the first parameter `input` where the schema says `self`, and `from` is no
        # name.
        name = {"self": "input" if index == 0 else "self", "from": "from_"}.get(argument.name, argument.name)
        default = argument.default_value if argument.has_default_value() else inspect.Parameter.empty
        parameters.append(
            inspect.Parameter(name, kind, default=default, annotation=python_type(argument.type))
        )
    returned = [python_type(item.type) for item in schema.returns]
    result: Any = None
    if returned:
        result = returned[0] if len(returned) == 1 else types.GenericAlias(tuple, tuple(returned))
    return inspect.Signature(parameters, return_annotation=result)


def get_signature_for_torch_op(op: Callable[..., Any], return_schemas: bool = False) -> Any:
    """Return the signatures of an operator of torch.

    Args:
        op: A C function of torch, an `OpOverload` or a packet.
        return_schemas: Return torch's schemas too.

    Returns:
        A list with one `inspect.Signature` per overload, or None if nothing is known of `op`; with
        `return_schemas` a pair of that and the list of schemas.

    >>> get_signature_for_torch_op(torch.ops.aten.relu.default)
    [<Signature (input: torch.Tensor) -> torch.Tensor>]
    """
    is_operator = isinstance(
        op, types.BuiltinFunctionType | torch._ops.OpOverload | torch._ops.OpOverloadPacket
    )
    schemas = schemas_of(op) if is_operator else ()
    if not schemas:
        return (None, None) if return_schemas else None
    signatures = [_signature(schema) for schema in schemas]
    return (signatures, list(schemas)) if return_schemas else signatures


def writing_overload(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str | None:
    """Return the overload of an operator of torch that writes to its arguments in a call, or None.

    Only schemas are asked: a Python function that writes by calling another operator is not known to do so.

    Args:
        target: What is called.
        args: Arguments.
        kwargs: Keyword arguments.
    """
    if getattr(target, "__module__", None) == "_operator":  # `x += y` is Python's
        return None
    for schema in schemas_of(target):
        try:
            bound = _signature(schema).bind(*args, **kwargs)
        except (TypeError, ValueError):
            continue
        names = [
            argument.name
            for argument in schema.arguments
            if argument.alias_info and argument.alias_info.is_write
        ]
        if not any(("input" if name == "self" else name) in bound.arguments for name in names):
            return None
        return f"{schema.name}.{schema.overload_name}" if schema.overload_name else str(schema.name)
    return None


def check_for_mutable_operation(
    target: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> None:
    """Refuse a call of an operator of torch that writes to its arguments.

    Args:
        target: What is called.
        args: Arguments.
        kwargs: Keyword arguments.

    Raises:
        MutableOperationError: ST018, it does.
    """
    overload = writing_overload(target, args, kwargs)
    if overload is not None:
        raise MutableOperationError("ST018", call=overload)


def create_type_hint(x: Any) -> Any:
    """Return an annotation for a list or tuple of types: of their common type, or of `Any`.

    Args:
        x: Types in a list or tuple; anything else is returned as it is.

    >>> create_type_hint([int, bool])
    list[int]
    """
    if not isinstance(x, list | tuple):
        return x
    if not all(isinstance(item, type) for item in x):
        warnings.warn(f"no annotation can be made from {x!r}", SymtraceWarning, stacklevel=2)
        return x
    common: Any = typing.Any
    for candidate in x:
        if all(issubclass(item, candidate) for item in x):
            common = candidate
            break
    return list[common] if isinstance(x, list) else tuple[common, ...]


def type_matches(signature_type: Any, argument_type: Any) -> bool:
    """Tell whether an argument of one type may be passed where the other is declared, as torch's parser does
    it.

    Args:
        signature_type: The declared type.
        argument_type: Type of the argument.

    >>> type_matches(list[int], int), type_matches(int, float)
    (True, False)
    """
    if signature_type is argument_type:
        return True
    origin = typing.get_origin(signature_type)
    if origin is typing.Union or isinstance(signature_type, types.UnionType):
        return argument_type in typing.get_args(signature_type) or any(
            type_matches(item, argument_type) for item in typing.get_args(signature_type)
        )
    if origin is list:
        element = typing.get_args(signature_type)[0]
        if not isinstance(element, type):  # a type variable, or a nested container
            return False
        if typing.get_origin(argument_type) in (list, tuple):
            items = [item for item in typing.get_args(argument_type) if item is not Ellipsis]
            return bool(items) and all(isinstance(item, type) and issubclass(item, element) for item in items)
        # One number stands for a list of them.
        return element is int and argument_type is int
    if signature_type is int and argument_type is torch.dtype:
        return True
    if signature_type is numbers.Number and argument_type in (int, float):
        return True
    if isinstance(signature_type, type) and isinstance(argument_type, type):
        return issubclass(argument_type, signature_type)
    return False
