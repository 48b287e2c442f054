"""From a frame to the function object that runs in it."""

from __future__ import annotations

import functools
import gc
import types
from types import CodeType, FrameType
from typing import Any

__all__ = ["around", "function_of", "functions_of", "key_of", "maker_of", "makers_of", "with_inner"]

_COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
"""Names of code that is part of the text of a function around it."""


def function_of(frame: FrameType) -> types.FunctionType | None:
    """Return the function whose code a frame is running, or None if it is not the only one."""
    functions = functions_of(frame)
    return functions[0] if len(functions) == 1 else None


def functions_of(frame: FrameType) -> list[types.FunctionType]:
    """Return the functions that may be the one that runs in a frame: of its code, and with its enclosing variables.

    Cost: that of looking at the class or globals where it is defined; else of a search through all objects.
    """
    code = frame.f_code
    first = frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None
    places: list[Any] = [vars(cls) for cls in type(first).__mro__] if first is not None else []
    for place in (*places, frame.f_globals):
        found = _with_code(place.get(code.co_name), code)
        if found is not None:
            return [found]
    functions = [
        item for item in gc.get_referrers(code) if type(item) is types.FunctionType and item.__code__ is code
    ]
    return [_original(function) for function in functions if _encloses(function, frame)]


def _original(function: types.FunctionType) -> types.FunctionType:
    """Return the function that one is a copy of, made so that `*args` and `**kwargs` are ordinary parameters."""
    found = getattr(function, "__wrapped__", None)
    if type(found) is types.FunctionType and key_of(found.__code__) == key_of(function.__code__):
        return found
    return function


def _encloses(function: types.FunctionType, frame: FrameType) -> bool:
    """Tell whether the variables around a function have the values that a frame sees."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            if cell.cell_contents is not frame.f_locals.get(name):
                return False
        except ValueError:  # it has no value yet
            if name in frame.f_locals:
                return False
    return True


def _with_code(value: Any, code: CodeType) -> types.FunctionType | None:
    """Return the function with some code that a class or module has under a name, decorators looked through."""
    if isinstance(value, property):
        found = (_with_code(one, code) for one in (value.fget, value.fset, value.fdel))
        return next((one for one in found if one is not None), None)
    if isinstance(value, functools.cached_property):
        value = value.func
    while value is not None:
        value = getattr(value, "__func__", value)
        if type(value) is not types.FunctionType:
            return None
        if value.__code__ is code:
            return value
        value = value.__dict__.get("__wrapped__")
    return None


def around(frame: FrameType) -> FrameType | None:
    """Return the frame of the function whose text a comprehension is part of, for that of one; None if it is over."""
    current: FrameType | None = frame
    while current is not None and current.f_code.co_name in _COMPREHENSIONS:
        code, current = current.f_code, current.f_back
        while current is not None and code not in current.f_code.co_consts:
            current = current.f_back
    return current


def makers_of(code: CodeType) -> list[types.FunctionType]:
    """Return the functions that make a function with some code each time they run.

    Cost: a look at all objects there are.
    """
    return [
        one
        for one in gc.get_objects()  # code objects tell nobody what they refer to
        if type(one) is types.FunctionType and any(const is code for const in one.__code__.co_consts)
    ]


def key_of(code: CodeType) -> tuple[str, int, str]:
    """Return what tells code that was compiled from the same text."""
    return code.co_filename, code.co_firstlineno, code.co_name


def maker_of(frame: FrameType, outside: FrameType | None) -> FrameType | None:
    """Return the frame that makes the function of a frame anew each time, if it runs inside of `outside`."""
    key = key_of(frame.f_code)
    current = frame.f_back
    while current is not None and current is not outside:
        if _makes(current.f_code, key):
            return maker_of(current, outside) or current
        current = current.f_back
    return None


def _makes(code: CodeType, key: Any) -> bool:
    return any(
        isinstance(const, CodeType) and (key_of(const) == key or _makes(const, key))
        for const in code.co_consts
    )


def with_inner(code: CodeType, keys: set[Any], lift: Any) -> CodeType:
    """Return code with some of the functions that it makes lifted."""
    consts = []
    for const in code.co_consts:
        if isinstance(const, CodeType):
            if key_of(const) in keys:
                const = lift(const) or const
            const = with_inner(const, keys, lift)
        consts.append(const)
    return code.replace(co_consts=tuple(consts))
