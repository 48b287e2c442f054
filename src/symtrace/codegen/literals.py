"""Values as source text."""

from __future__ import annotations

import enum
import math
import types
import typing
from typing import Any

import torch

from ..ir import Node
from .globals import Globals

__all__ = ["annotation_text", "value_text"]

_PLAIN = frozenset({int, str, bool, type(None), bytes})
_TORCH_CONSTANTS = (torch.dtype, torch.memory_format, torch.layout, torch.qscheme)


def value_text(value: Any, names: Globals) -> str:
    """Return source text that gives `value`; what has no literal becomes a global."""
    cls = type(value)
    if cls is Node:
        return str(value._name)
    if cls in _PLAIN:
        return repr(value)
    if cls is float or cls is complex:
        return _number_text(value, names)
    if isinstance(value, torch.Size):
        return f"{names.add('torch', torch)}.Size([{', '.join(map(repr, value))}])"
    if cls is tuple:
        items = [value_text(item, names) for item in value]
        return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
    if isinstance(value, list):
        return f"[{', '.join([value_text(item, names) for item in value])}]"
    if isinstance(value, dict):
        pairs = [f"{value_text(key, names)}: {value_text(item, names)}" for key, item in value.items()]
        return f"{{{', '.join(pairs)}}}"
    if cls is slice:
        items = [value_text(item, names) for item in (value.start, value.stop, value.step)]
        return f"{names.builtin('slice')}({', '.join(items)})"
    return _rare_text(value, names)


def _number_text(value: Any, names: Globals) -> str:
    if isinstance(value, complex):
        if all(math.isfinite(part) for part in (value.real, value.imag)):
            return f"{names.builtin('complex')}({value.real!r}, {value.imag!r})"
        return names.add("_complex", value)
    if math.isnan(value):
        return names.add("nan", math.nan)
    if math.isinf(value):
        return names.add("inf", math.inf) if value > 0 else f"-{names.add('inf', math.inf)}"
    return repr(value)


def _rare_text(value: Any, names: Globals) -> str:
    if isinstance(value, _TORCH_CONSTANTS) and str(value).startswith("torch."):
        return names.add("torch", torch) + str(value)[len("torch") :]
    if isinstance(value, torch.device):
        index = "" if value.index is None else f", index={value.index}"
        return f"{names.add('device', torch.device)}(type={value.type!r}{index})"
    if isinstance(value, enum.Enum) and value.name is not None and value.name.isidentifier():
        return f"{names.qualified(type(value))}.{value.name}"
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        items = [value_text(item, names) for item in value]
        return f"{names.qualified(type(value))}({', '.join(items)})"
    if isinstance(value, range) and type(value) is range:
        return f"{names.builtin('range')}({value.start}, {value.stop}" + (
            f", {value.step})" if value.step != 1 else ")"
        )
    if isinstance(value, type | types.FunctionType | types.BuiltinFunctionType) or hasattr(
        value, "_qualified_op_name"
    ):
        return names.qualified(value)
    return names.add(f"_{type(value).__name__}", value)


def annotation_text(annotation: Any, names: Globals) -> str:
    """Return source text of an annotation that evaluates to the same object again."""
    if annotation is None or annotation is type(None):
        return "None" if annotation is None else names.add("NoneType", annotation)
    if isinstance(annotation, str):
        return repr(annotation)
    if annotation is ...:
        return "..."
    origin = typing.get_origin(annotation)
    if origin is None:
        if isinstance(annotation, type):
            return names.qualified(annotation)
        name = getattr(annotation, "_name", None) or getattr(annotation, "__name__", None)
        if (
            getattr(annotation, "__module__", None) == "typing"
            and getattr(typing, str(name), None) is annotation
        ):
            return names.add(f"typing_{name}", annotation)
        return names.add("_annotation", annotation)
    return _generic_text(annotation, names)


def _items(args: tuple[Any, ...], names: Globals) -> str:
    return ",".join([annotation_text(arg, names) for arg in args]) or "()"


def _generic_text(annotation: Any, names: Globals) -> str:
    args = typing.get_args(annotation)
    if isinstance(annotation, types.UnionType):
        text = " | ".join(annotation_text(None if arg is type(None) else arg, names) for arg in args)
    elif isinstance(annotation, types.GenericAlias):
        text = f"{names.qualified(annotation.__origin__)}[{_items(args, names)}]"
    else:
        name = getattr(annotation, "_name", None) or (
            "Union" if typing.get_origin(annotation) is typing.Union else None
        )
        head = getattr(typing, str(name), None)
        if head is None or name in ("Callable", "Annotated", "Literal") or not (args or name == "Tuple"):
            return names.add("_annotation", annotation)
        if name == "Optional":
            args = tuple(arg for arg in args if arg is not type(None))
            if len(args) != 1:
                head, name = typing.Union, "Union"
                args = typing.get_args(annotation)
        text = f"{names.add(f'typing_{name}', head)}[{_items(args, names)}]"
    try:
        same = eval(text, dict(names.table)) == annotation
    except Exception:  # an annotation may be any object, and its text is only a convenience
        same = False
    return text if same else names.add("_annotation", annotation)
