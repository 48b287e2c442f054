"""What the functions of a program name: read from their code, without running them."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from torch import nn

__all__ = ["CACHED", "is_users", "names_used"]

CACHED: type = type(functools.lru_cache(lambda: None))
"""The class of what `functools.lru_cache` makes, which lives in C and is called by it."""

_FOREIGN = frozenset(sys.stdlib_module_names) | {"torch", "numpy", "symtrace"}


@functools.lru_cache(maxsize=1024)
def is_users(module: str | None) -> bool:
    """Tell whether a module is the program's, by its name."""
    return module is not None and (module == "__main__" or module.partition(".")[0] not in _FOREIGN)


def names_used(
    function: Any,
    seen: set[int],
    owner: nn.Module | None = None,
    visit: Callable[[types.FunctionType], None] = lambda function: None,
) -> Iterator[tuple[Any, str, types.CodeType]]:
    """Yield the globals of a function, and of the functions it may call, with each name that they use, and where.

    Each code comes once with an empty name, too. Functions with a cache come with the class or dict that holds them.

    Followed are functions by the names of globals and of variables around the function, and methods by their names on
    the module itself, on what is in it, and on modules, classes and objects that are named beside them.

    Args:
        function: Where to start.
        seen: Identities of functions that were looked at before.
        owner: The module whose method it is.
        visit: Called with each function.
    """
    stack = [function]
    while stack:
        current = _plain(stack.pop())
        if type(current) is CACHED:
            current = getattr(current, "__wrapped__")  # noqa: B009 - of a class that has no stub
        if type(current) is not types.FunctionType or id(current) in seen:
            continue
        seen.add(id(current))
        if not is_users(current.__module__):
            continue
        visit(current)
        if hasattr(current, "__wrapped__"):
            stack.append(current.__wrapped__)
        for cell in current.__closure__ or ():
            stack.append(_content(cell))
        table = current.__globals__
        codes = [current.__code__]
        while codes:
            code = codes.pop()
            codes.extend(constant for constant in code.co_consts if type(constant) is types.CodeType)
            places = list(_places(code.co_names, table, owner))
            yield table, "", code
            for name in code.co_names:
                yield table, name, code
                stack.append(table.get(name))
                for place in places:
                    holder, value = _member(place, name)
                    stack.append(value)
                    if type(value) is CACHED or (type(place) is types.ModuleType and holder is not None):
                        yield holder, name, code


def _plain(value: Any) -> Any:
    """Return the function in a method, a property, a partial call and the like."""
    for name in ("__func__", "fget", "func"):
        inner = getattr(value, name, None) if type(value) is not types.FunctionType else None
        if type(inner) is types.FunctionType:
            return inner
    return value


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return None


def _places(names: tuple[str, ...], table: dict[str, Any], owner: nn.Module | None) -> Iterator[Any]:
    """Yield what the names may be looked up on."""
    if owner is not None:
        yield owner
    for name in names:
        yield table.get(name)
        if owner is not None:
            yield owner.__dict__.get(name)
            yield owner._modules.get(name)


def _member(place: Any, name: str) -> tuple[Any, Any]:
    """Return the dict or class in which a place has a name that may be a function's, and what it has."""
    if place is None:
        return None, None
    cls = type(place)
    if cls is types.ModuleType:
        return (vars(place), vars(place).get(name)) if is_users(place.__name__) else (None, None)
    if not is_users(cls.__module__) and not issubclass(cls, type):
        return None, None
    if not issubclass(cls, type):
        own = getattr(place, "__dict__", None)
        if type(own) is dict and type(own.get(name)) in (types.FunctionType, CACHED):
            return own, own[name]
    for base in place.__mro__ if issubclass(cls, type) else cls.__mro__:
        if not is_users(base.__module__):
            continue
        found = vars(base).get(name)
        if found is not None:
            return base, found
    return None, None
