"""From values in the user's program to arguments of a node."""

from __future__ import annotations

import dataclasses
import enum
import functools
import types
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from ..ops import program
from .blame import trace_error

__all__ = ["ATOMS", "convert_container", "convert_object", "holds"]

ATOMS = frozenset({
    int, float, str, bool, complex, bytes, type(None), type(...), torch.dtype, torch.device, torch.memory_format,
    torch.layout, torch.Generator, torch.Size, range, type, types.BuiltinFunctionType,
})  # fmt: skip
"""Types whose values are arguments as they are."""


def convert_container(value: Any, convert: Callable[[Any], Any], call: Callable[..., Any]) -> Any:
    """Return a list, dict or tuple of a class of its own as an argument.

    Args:
        value: The container.
        convert: Converts what is in it.
        call: Records a call, and returns its node.
    """
    cls = type(value)
    if issubclass(cls, tuple):
        items = [convert(item) for item in value]
        if hasattr(value, "_fields"):
            holds_nodes = any(a is not b for a, b in zip(items, value, strict=True))
            return call(cls, tuple(items)) if holds_nodes else value
        if all(a is b for a, b in zip(items, value, strict=True)):
            return value
        return call(torch.Size, (items,)) if cls is torch.Size else tuple(items)
    if issubclass(cls, list):
        return _rebuilt(value, cls(list(value)), [convert(item) for item in value], call)
    if dataclasses.is_dataclass(cls):
        return _dataclass(value, convert, call)
    factory = value.default_factory if issubclass(cls, defaultdict) else _NO_FACTORY
    content = {key: convert(item) for key, item in value.items()}
    if factory is not _NO_FACTORY:
        return call(cls, (factory, content))
    return _rebuilt(value, cls(dict(value)), content, call)


_NO_FACTORY = object()


def _rebuilt(value: Any, trial: Any, content: Any, call: Callable[..., Any]) -> Any:
    """Record `type(value)(content)`, if that builds the same value again."""
    plain = dict if isinstance(value, dict) else list
    if (
        type(trial) is not type(value)
        or not _same(plain(trial), plain(value))
        or vars_of(trial) != vars_of(value)
    ):
        raise trace_error("ST017", kind=type(value).__qualname__)
    return call(type(value), (content,))


def _same(first: Any, second: Any) -> bool:
    if isinstance(first, dict):
        return list(first) == list(second) and all(first[key] is second[key] for key in first)
    return len(first) == len(second) and all(a is b for a, b in zip(first, second, strict=True))


def holds(value: Any, is_traced: Callable[[Any], bool]) -> bool:
    """Tell whether there are traced values in containers, and in the attributes of plain objects in them."""
    seen: set[int] = set()
    stack = [value]
    while stack:
        item = stack.pop()
        if is_traced(item):
            return True
        cls = type(item)
        if cls in ATOMS or id(item) in seen:
            continue
        seen.add(id(item))
        if issubclass(cls, list | tuple | set | frozenset):
            stack.extend(item)
        elif issubclass(cls, dict):
            stack.extend(item.values())
        elif cls is slice:
            stack.extend((item.start, item.stop, item.step))
        elif not issubclass(cls, nn.Module | torch.Tensor | type | types.ModuleType):
            stack.extend(vars_of(item).values())
    return False


def vars_of(value: Any) -> dict[str, Any]:
    """Return the attributes of an object, if it has any, those in slots included."""
    found = dict(getattr(value, "__dict__", {}))
    for base in type(value).__mro__:
        slots = vars(base).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                found[name] = getattr(value, name)
    return found


def _bound_values(value: Any) -> list[Any]:
    """Return what a function holds besides its code: cells, defaults, the arguments of a partial call, its object."""
    if isinstance(value, functools.partial):
        return [value.args, value.keywords, _bound_values(value.func)]
    if isinstance(value, types.MethodType):
        return [value.__self__, vars_of(value.__self__), _bound_values(value.__func__)]
    if not isinstance(value, types.FunctionType):
        return []
    cells = []
    for cell in value.__closure__ or ():
        try:
            cells.append(cell.cell_contents)
        except ValueError:  # not assigned yet
            continue
    return [cells, value.__defaults__, value.__kwdefaults__]


def _dataclass(value: Any, convert: Callable[[Any], Any], call: Callable[..., Any]) -> Any:
    fields = {}
    for field in dataclasses.fields(value):
        item = getattr(value, field.name)
        if field.init and not (item is None and field.default is None):
            fields[field.name] = convert(item)
    return call(type(value), (), fields)


def convert_object(
    value: Any, convert: Callable[[Any], Any], call: Callable[..., Any], holds_values: Callable[[Any], bool]
) -> Any:
    """Return any other object as an argument: itself, unless it holds traced values, and then one built anew.

    Args:
        value: The object.
        convert: Converts what is in it.
        call: Records a call, and returns its node.
        holds_values: Tells whether there are traced values in containers and objects.

    Raises:
        TraceError: ST017, it holds traced values and can't be built again.
    """
    if isinstance(value, enum.Enum | nn.Module | torch.Tensor):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _dataclass(value, convert, call)
    held = vars_of(value)
    if holds_values(held) and _is_plain_object(value):
        return call(program.build_object, (type(value), {key: convert(item) for key, item in held.items()}))
    if holds_values([held, _bound_values(value)]) or (
        isinstance(value, set | frozenset) and holds_values(list(value))
    ):
        raise trace_error("ST017", kind=type(value).__qualname__)
    return value


def _is_plain_object(value: Any) -> bool:
    """Tell whether an object is no more than its class and its attributes."""
    cls: Any = type(value)
    plain: Any = object
    return (
        cls.__reduce_ex__ is plain.__reduce_ex__
        and cls.__reduce__ is plain.__reduce__
        and cls.__new__ is plain.__new__
        and not isinstance(value, type | types.FunctionType | types.MethodType | types.ModuleType)
        and not hasattr(cls, "__setstate__")
        and not any(vars(base).get("__slots__") for base in cls.__mro__)
    )
