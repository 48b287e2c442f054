"""What the functions of a program name: read from their code, without running them."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from torch import nn

__all__ = ["CACHED", "content_of", "is_transform", "is_users", "names_used", "plain_function"]

CACHED: type = type(functools.lru_cache(lambda: None))
"""The class of what `functools.lru_cache` makes, which lives in C and is called by it."""

_TRANSFORMS = ("_functorch/apis.py", "_functorch/eager_transforms.py")
"""Files of torch where functions are made of functions of the program's."""

_FOREIGN = frozenset(sys.stdlib_module_names) | {"torch", "numpy", "symtrace"}


@functools.lru_cache(maxsize=1024)
def is_users(module: str | None) -> bool:
    """Tell whether a module is the program's, by its name; what was made by `exec` may have none, and is."""
    return module is None or module == "__main__" or module.partition(".")[0] not in _FOREIGN


def is_transform(function: types.FunctionType) -> bool:
    """Tell whether a function is one that `torch.func` makes of another, such as the result of `torch.func.vmap`."""
    return function.__code__.co_filename.endswith(_TRANSFORMS)


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
        current = plain_function(stack.pop())
        if type(current) is CACHED:
            current = getattr(current, "__wrapped__")  # noqa: B009 - of a class that has no stub
        if type(current) is not types.FunctionType or id(current) in seen:
            continue
        seen.add(id(current))
        if not is_users(current.__module__) and not is_transform(current):
            continue
        visit(current)
        if hasattr(current, "__wrapped__"):
            stack.append(current.__wrapped__)
        for cell in current.__closure__ or ():
            stack.append(content_of(cell))
        table = current.__globals__
        codes = [current.__code__]
        while codes:
            code = codes.pop()
            codes.extend(constant for constant in code.co_consts if type(constant) is types.CodeType)
            places = [*_places(code.co_names, table, owner)]
            yield table, "", code
            for name in code.co_names:
                yield table, name, code
                stack.append(table.get(name))
                for place in places:
                    for holder, members in place:
                        value = members.get(name)
                        if value is None:
                            continue
                        stack.append(value)
                        if type(value) is CACHED or members is holder:
                            yield holder, name, code
                        break


def plain_function(value: Any) -> Any:
    """Return the function in a method, a property, a partial call and the like."""
    for name in ("__func__", "fget", "func"):
        inner = getattr(value, name, None) if type(value) is not types.FunctionType else None
        if type(inner) is types.FunctionType:
            return inner
    return value


def content_of(cell: Any) -> Any:
    """Return what the variable of an enclosing function holds, or None if it was not assigned yet."""
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return None


_Tables = list[tuple[Any, Any]]


def _places(names: tuple[str, ...], table: dict[str, Any], owner: nn.Module | None) -> Iterator[_Tables]:
    """Yield where the names of functions may be looked up: for each place, the dicts or classes and their members."""
    places: list[Any] = [] if owner is None else [owner]
    for name in names:
        places.append(table.get(name))
        if owner is not None:
            places += owner.__dict__.get(name), owner._modules.get(name)
    seen: set[int] = set()
    for place in places:
        cls = type(place)
        if cls in _NO_PLACES or id(place) in seen:
            continue
        seen.add(id(place))
        if cls is types.ModuleType:
            if is_users(place.__name__):
                yield [(vars(place), vars(place))]
        elif issubclass(cls, type):
            yield _members(place)
        elif is_users(cls.__module__):
            own = getattr(place, "__dict__", None)
            functions = (
                {name: own[name] for name in names if type(own.get(name)) in (types.FunctionType, CACHED)}
                if type(own) is dict
                else {}
            )
            yield [(own, functions), *_members(cls)]


_NO_PLACES = frozenset({
    int, float, str, bool, complex, bytes, type(None), tuple, list, dict, types.FunctionType, types.BuiltinFunctionType,
})  # fmt: skip


def _members(cls: type) -> _Tables:
    return [(base, vars(base)) for base in cls.__mro__ if is_users(base.__module__)]
