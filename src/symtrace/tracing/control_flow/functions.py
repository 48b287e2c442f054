"""From a frame to the function object that runs in it."""

from __future__ import annotations

import gc
import types
from types import CodeType, FrameType
from typing import Any

__all__ = ["function_of", "functions_of", "key_of", "maker_of", "with_inner"]


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
    return [function for function in functions if _encloses(function, frame)]


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
    while value is not None:
        value = getattr(value, "__func__", value)
        if type(value) is not types.FunctionType:
            return None
        if value.__code__ is code:
            return value
        value = value.__dict__.get("__wrapped__")
    return None


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
