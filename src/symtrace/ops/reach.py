"""Which functions of users reach no more than what they are given, by what their code names."""

from __future__ import annotations

import dis
import types
from collections.abc import Iterator
from typing import Any

import torch

__all__ = ["reaches_only_arguments"]

_CONSTANTS = (int, float, complex, str, bytes, type(None), type(...), torch.dtype, torch.device, torch.Size)
_MODULES = ("torch", "math", "cmath", "operator")
_WAYS_OUT = frozenset({
    "globals", "locals", "vars", "eval", "exec", "compile", "open", "input", "breakpoint", "super",
    "ops", "grad_fn", "next_functions", "variable", "sys", "modules",
})  # fmt: skip
"""Names that lead to what a function was not given: operators of users, and the parameters behind a gradient."""
_OPENING = frozenset({"IMPORT_NAME", "IMPORT_FROM"})


def reaches_only_arguments(target: Any) -> bool:
    """Tell whether a function, or `apply` of a `torch.autograd.Function`, can write to its arguments at most.

    Its code, and that of the functions it names, is read and not run: all that it names has to be a constant, of torch
    or Python's mathematics, or such a function itself. "No" is the answer where it is not certain.

    Args:
        target: What is called.

    >>> held = [0]
    >>> reaches_only_arguments(lambda x: torch.tanh(x) * 2), reaches_only_arguments(lambda x: held.append(x))
    (True, False)
    """
    owner = getattr(target, "__self__", None)
    if _is_function_class(owner) and getattr(target, "__name__", "") == "apply":
        target = owner
    elif not isinstance(target, types.FunctionType):
        return False
    seen: set[int] = set()
    stack: list[Any] = [target]
    while stack:
        value = stack.pop()
        if id(value) in seen or isinstance(value, _CONSTANTS):
            continue
        seen.add(id(value))
        found = _named_by(value)
        if found is None:
            return False
        stack += found
    return True


def _named_by(value: Any) -> list[Any] | None:
    """Return what a value leads to, or None if that is not known."""
    if isinstance(value, tuple | frozenset):
        return list(value)
    if isinstance(value, staticmethod | classmethod):
        return [value.__func__]
    if isinstance(value, types.ModuleType):
        return [] if value.__name__ == "builtins" or _is_known(value.__name__) else None
    if isinstance(value, types.MethodDescriptorType):
        return _named_by(value.__objclass__)
    if isinstance(value, types.BuiltinFunctionType):  # a method of an object leads to the object
        return None if value.__self__ is None else _named_by(value.__self__)
    if isinstance(value, types.MethodType):
        return [value.__func__, value.__self__]
    if (
        type(value).__module__ == torch.no_grad.__module__
    ):  # what decorates a function switches, and holds a flag
        return []
    if isinstance(value, types.FunctionType):
        return _named_by_function(value)
    if isinstance(value, type):
        return _named_by_class(value)
    return None


def _is_known(module: str) -> bool:
    return module.lstrip("_").partition(".")[0] in _MODULES


def _is_function_class(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, torch.autograd.Function)


def _named_by_class(value: type) -> list[Any] | None:
    if value.__module__ == "builtins" or _is_known(value.__module__):
        return []
    if not _is_function_class(value):
        return None
    return [
        held
        for base in value.__mro__
        if not _is_known(base.__module__) and base is not object
        for name, held in vars(base).items()
        if name not in _OF_CLASSES and name not in ("backward", "vjp", "jvp", "vmap", "_backward_cls")
    ]


_OF_CLASSES = frozenset(
    {"__module__", "__doc__", "__dict__", "__weakref__", "__qualname__", "__firstlineno__"}
)


def _named_by_function(function: types.FunctionType) -> list[Any] | None:
    found = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    for cell in function.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:  # bound later, to what is not known
            return None
    if _is_known(str(function.__globals__.get("__name__"))):
        return found
    for code in _codes(function.__code__):
        for name in code.co_names:
            if name in _WAYS_OUT or (name.startswith("__") and name not in function.__globals__):
                return None
            if name in function.__globals__:
                found.append(function.__globals__[name])
        if any(instruction.opname in _OPENING for instruction in dis.get_instructions(code)):
            return None
    return found


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)
