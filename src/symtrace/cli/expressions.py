"""Python values as source text, for files that are written by `symtrace code`."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import math
import types
from collections.abc import Callable
from typing import Any

from .._base.qualified import qualified_name, resolve_qualified
from ..errors import UsageError

# A tensor with more numbers than this is no reading matter.
LONGEST_TENSOR = 256

__all__ = ["Writer", "quoted"]


def quoted(text: str) -> str:
    """Return the string as a literal, in double quotes where that needs no escape."""
    plain = repr(text)
    return plain if '"' in plain or "\\" in plain else f'"{plain[1:-1]}"'


class Writer:
    """Turns values into expressions, and remembers which modules these need to be imported."""

    def __init__(self) -> None:
        self.imports: set[str] = {"torch"}

    def expression(self, value: Any, what: str) -> str:
        """Return source text that makes `value` again.

        Args:
            value: The value.
            what: What it is, for the error.

        Raises:
            UsageError: There is no such text (ST409).
        """
        import torch
        from torch.utils import _pytree as pytree

        if value is type(None):
            return "type(None)"
        if value is None or value is Ellipsis or isinstance(value, bool):
            return repr(value)
        if isinstance(value, enum.Enum):
            return f"{self._named(type(value), what)}[{value.name!r}]"
        for kind, write in _WRITERS.items():
            if type(value) is kind:
                return write(self, value, what)
        if isinstance(value, torch.dtype | torch.layout | torch.memory_format):
            return str(value)
        if isinstance(value, torch.device):
            return f'torch.device("{value}")'
        if isinstance(value, torch.Size):
            return f"torch.Size({list(value)})"
        if isinstance(value, pytree.TreeSpec):
            self.imports.add(pytree.__name__)
            return f"{pytree.__name__}.treespec_loads({pytree.treespec_dumps(value)!r})"
        if isinstance(value, torch.Tensor):
            return self._tensor(value, what)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return self._call(type(value), list(value), {}, what)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.init}
            return self._call(type(value), [], fields, what)
        if type(value).__module__ == "torch._ops":
            return f"torch.ops.{str(value).replace('::', '.')}"
        return self._named(value, what)

    def sequence(self, values: Any, what: str) -> str:
        """Return the elements as source text, joined by commas."""
        return ", ".join(self.expression(value, what) for value in values)

    def _call(self, function: Any, args: list[Any], kwargs: dict[str, Any], what: str) -> str:
        parts = [self.expression(arg, what) for arg in args]
        parts += [f"{key}={self.expression(value, what)}" for key, value in kwargs.items()]
        return f"{self._named(function, what)}({', '.join(parts)})"

    def _named(self, value: Any, what: str) -> str:
        """Return the dotted name under which an importable object is found."""
        if isinstance(value, types.ModuleType):
            self.imports.add(value.__name__)
            return value.__name__
        name = _importable_name(value)
        if name is None:
            described = getattr(value, "__qualname__", None) or f"an object of class `{type(value).__name__}`"
            raise UsageError("ST409", what=what, reason=f"`{described}` can't be imported by its name")
        module = name.rpartition(".")[0]
        while module and not _is_module(module):
            module = module.rpartition(".")[0]
        if module:
            self.imports.add(module)
        return name

    def _tensor(self, value: Any, what: str) -> str:
        import torch

        plain = value.detach()
        if plain.is_sparse or plain.is_quantized or plain.dtype.is_complex or plain.numel() > LONGEST_TENSOR:
            raise UsageError("ST409", what=what, reason="a tensor of this size or kind has no short text")
        if not plain.numel():
            return f"torch.empty({tuple(plain.shape)}, dtype={plain.dtype})"
        numbers = plain.tolist() if plain.dtype == torch.float64 else _shortened(plain.tolist())
        return f"torch.tensor({self.expression(numbers, what)}, dtype={plain.dtype})"


def _shortened(numbers: Any) -> Any:
    """Return nested lists of numbers with the nine digits that tell any two float32 apart."""
    if isinstance(numbers, list):
        return [_shortened(number) for number in numbers]
    return float(f"{numbers:.9g}") if isinstance(numbers, float) else numbers


def _importable_name(value: Any) -> str | None:
    candidates = [qualified_name(value)] if callable(value) else []
    module, qualname = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if module and qualname:
        candidates.append(f"{module}.{qualname}" if module != "builtins" else qualname)
    for name in candidates:
        if name.startswith("__main__.") or "<" in name:
            continue
        parts = name.split(".")
        shorter = [".".join([*parts[:count], parts[-1]]) for count in range(1, len(parts) - 1)]
        for spelling in (*shorter, name):  # `torch.nn.Linear` rather than `torch.nn.modules.linear.Linear`
            try:
                if resolve_qualified(spelling) is value:
                    return spelling
            except LookupError:
                continue
    return None


def _is_module(name: str) -> bool:
    import sys

    return name in sys.modules


def _number(writer: Writer, value: Any, what: str) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, complex):
        return f"complex({_number(writer, value.real, what)}, {_number(writer, value.imag, what)})"
    return repr(value)


def _tuple(writer: Writer, value: Any, what: str) -> str:
    return f"({writer.sequence(value, what)}{',' if len(value) == 1 else ''})"


def _dict(writer: Writer, value: Any, what: str) -> str:
    pairs = [f"{writer.expression(k, what)}: {writer.expression(v, what)}" for k, v in value.items()]
    return "{" + ", ".join(pairs) + "}"


def _ordered_dict(writer: Writer, value: Any, what: str) -> str:
    writer.imports.add("collections")
    return f"collections.OrderedDict({_dict(writer, value, what)})"


def _set(writer: Writer, value: Any, what: str) -> str:
    return f"{type(value).__name__}([{writer.sequence(sorted(value, key=repr), what)}])"


def _slice(writer: Writer, value: Any, what: str) -> str:
    return f"{type(value).__name__}({writer.sequence((value.start, value.stop, value.step), what)})"


def _partial(writer: Writer, value: Any, what: str) -> str:
    writer.imports.add("functools")
    parts = [writer.expression(part, what) for part in (value.func, *value.args)]
    parts += [f"{key}={writer.expression(v, what)}" for key, v in value.keywords.items()]
    return f"functools.partial({', '.join(parts)})"


_WRITERS: dict[type, Callable[[Writer, Any, str], str]] = {
    int: _number,
    float: _number,
    complex: _number,
    str: lambda writer, value, what: quoted(value),
    bytes: _number,
    tuple: _tuple,
    list: lambda writer, value, what: f"[{writer.sequence(value, what)}]",
    dict: _dict,
    set: _set,
    frozenset: _set,
    slice: _slice,
    range: _slice,
    functools.partial: _partial,
    collections.OrderedDict: _ordered_dict,
}
