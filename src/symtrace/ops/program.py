"""Functions that captured programs call for what Python does beside calling operators: modes, state,
guards.
"""

from __future__ import annotations

import numbers
import operator
from typing import Any, get_type_hints

import torch
import torch.utils._pytree as pytree  # the public home of pytrees, underscore and all (torch 2.13, 2.14)

from .._base.frozen import immutable_dict, immutable_list
from ..diagnostics import Label, Location
from ..errors import GuardError
from .effect import ALIAS, CHECK, Effect

__all__ = [
    "IN_PLACE",
    "UNASSIGNED",
    "assigned",
    "build_object",
    "call",
    "call_with",
    "call_with_several",
    "container_class",
    "enter_mode",
    "exit_mode",
    "greatest",
    "guard",
    "is_given",
    "least",
    "new_dict",
    "new_error",
    "new_list",
    "present",
    "raise_error",
    "sorted_by",
    "stand_in",
    "text",
    "transform",
    "write_attribute",
]


def enter_mode(manager: type[Any], *args: Any, **kwargs: Any) -> Any:
    """Enter a context such as `torch.no_grad()` and return it, for `exit_mode`.

    Args:
        manager: Class of the context manager.
        *args: Its arguments.
        **kwargs: Its keyword arguments.
    """
    context = manager(*args, **kwargs)
    context.__enter__()
    return context


def exit_mode(context: Any) -> None:
    """Leave a context that `enter_mode` entered."""
    context.__exit__(None, None, None)


def write_attribute(owner: Any, name: str, value: Any) -> None:
    """Set an attribute of a module, as an assignment in the captured program did."""
    setattr(owner, name, value)


def guard(value: Any, expected: Any, condition: str, file: str = "", line: int = 0) -> None:
    """Check an assumption that was made at capture.

    Args:
        value: What it is now.
        expected: What it was at capture.
        condition: The assumption in words.
        file: File of the user's line that made it.
        line: The line.

    Raises:
        GuardError: ST301, it is not so for this call.
    """
    if value is expected:
        return
    if hasattr(type(value), "__graph_node__"):  # the captured program is being captured again
        value.tracer.call_function(guard, (value, expected, condition, *((file, line) if file else ())), {})
        return
    if type(value) is type(expected) and value == expected:
        return
    is_other_kind = isinstance(expected, _PLAIN) and isinstance(value, _COMPARABLE)
    if is_other_kind or expected is None or value is None or value != expected:
        raise _failure(value, expected, condition, file, line)


_PLAIN = (numbers.Number, str, bytes)
_COMPARABLE = (*_PLAIN, torch.Tensor)
"""What may equal a plain value of another class and is another value: 1, 1.0, True and a tensor of 1 are four."""


def _failure(value: Any, expected: Any, condition: str, file: str, line: int) -> GuardError:
    location = Location(file, line) if file else None
    subject = condition.removesuffix(f" is {expected!r}")
    if subject == condition:
        text = f"expected {expected!r}, got {_short(value)}"
    else:  # the value of an argument, given as `concrete_args` or left out
        text = f"{subject} has been specialized to have value {expected!r}, but got {_short(value)}"
    labels = (Label(text),)
    return GuardError("ST301", location=location, labels=labels, condition=condition)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


IN_PLACE = {
    "__iadd__": operator.iadd,
    "__iand__": operator.iand,
    "__ifloordiv__": operator.ifloordiv,
    "__ilshift__": operator.ilshift,
    "__imatmul__": operator.imatmul,
    "__imod__": operator.imod,
    "__imul__": operator.imul,
    "__ior__": operator.ior,
    "__ipow__": operator.ipow,
    "__irshift__": operator.irshift,
    "__isub__": operator.isub,
    "__itruediv__": operator.itruediv,
    "__ixor__": operator.ixor,
}
"""Augmented assignments by the name of their method."""


def build_object(cls: type[Any], attributes: dict[str, Any]) -> Any:
    """Return an object of a class with attributes of its own, as the captured program has made one.

    Args:
        cls: A class whose objects are no more than their attributes.
        attributes: Their values by name.
    """
    built = object.__new__(cls)
    built.__dict__.update(attributes)
    return built


def raise_error(error: BaseException) -> None:
    """Raise an exception, as a `raise` statement in the captured program did.

    Args:
        error: The exception.
    """
    raise error


def new_error(kind: Any, args: Any, kwargs: Any) -> BaseException:
    """Return a new exception that `raise_error` raises.

    Args:
        kind: Its class.
        args: The arguments.
        kwargs: The keyword arguments.
    """
    return kind(*args, **kwargs)  # type: ignore[no-any-return]


def text(*parts: Any) -> str:
    """Return what an f-string gives.

    Args:
        *parts: Texts, and for each value a tuple of it, of the number of the character that converts it, -1 for none,
            and of how it is formatted.
    """
    return "".join([part if type(part) is str else _formatted(*part) for part in parts])


def _formatted(value: Any, conversion: int, spec: str) -> str:
    if conversion > 0:
        value = ascii(value) if conversion == 97 else repr(value) if conversion == 114 else str(value)
    return format(value, spec)


def new_list(items: Any) -> list[Any]:
    """Return a new list, for a program that goes on to change it."""
    return list(items)


def new_dict(items: Any) -> dict[Any, Any]:
    """Return a new dict, for a program that keeps it in several places."""
    return dict(items)


def sorted_by(items: Any, keys: Any, reverse: bool = False) -> list[Any]:
    """Return items in the order of their keys, as `sorted` with a key does.

    Args:
        items: The items.
        keys: As many keys.
        reverse: The largest first.
    """
    order = sorted(range(len(items)), key=list(keys).__getitem__, reverse=reverse)
    return [items[index] for index in order]


def least(items: Any, keys: Any, _: bool = False) -> Any:
    """Return the first item with the least key, as `min` with a key does.

    Args:
        items: The items.
        keys: As many keys.
    """
    return items[min(range(len(items)), key=list(keys).__getitem__)]


def greatest(items: Any, keys: Any, _: bool = False) -> Any:
    """Return the first item with the greatest key, as `max` with a key does.

    Args:
        items: The items.
        keys: As many keys.
    """
    return items[max(range(len(items)), key=list(keys).__getitem__)]


def _chooses(args: Any, kwargs: Any) -> Effect:
    return ALIAS


for _choosing in (sorted_by, least, greatest):
    setattr(_choosing, "__symtrace_effect__", _chooses)  # noqa: B010 - functions have no such attribute by type


def assigned(value: Any, name: str) -> Any:
    """Return the value of a variable that not every path assigns.

    Raises:
        UnboundLocalError: The path that was taken has not.
    """
    if value is UNASSIGNED:
        raise UnboundLocalError(
            f"cannot access local variable '{name}' where it is not associated with a value"
        )
    return value


def present(value: Any, error: BaseException) -> None:
    """Check a value that may be None where the program does what can't be done with None.

    Args:
        value: The value.
        error: What is raised if it is None.
    """
    if value is None:
        raise error


setattr(present, "__symtrace_effect__", lambda args, kwargs: CHECK)  # noqa: B010


class _Unassigned:
    """Stands for a variable without a value."""

    def __repr__(self) -> str:
        return "UNASSIGNED"

    def __reduce__(self) -> str:
        return "UNASSIGNED"


UNASSIGNED = _Unassigned()
"""What a path leaves in a variable that it does not assign."""


def is_given(value: Any) -> bool:
    """Tell whether an optional argument was given."""
    if hasattr(type(value), "__graph_node__"):
        return value.tracer.call_function(is_given, (value,), {})  # type: ignore[no-any-return]
    return value is not None


def container_class(value: Any) -> Any:
    """Return the class of a container; an immutable one of a graph counts as what it stands for."""
    if hasattr(type(value), "__graph_node__"):
        return value.tracer.call_function(container_class, (value,), {})
    kind = type(value)
    return _IMMUTABLE.get(kind, kind)


_IMMUTABLE: dict[type, type] = {immutable_list: list, immutable_dict: dict}


def call(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a value."""
    return function(*args, **kwargs)


def stand_in() -> Any:
    """Stand for an argument of a function while it is traced; no captured program has it."""
    raise AssertionError("a stand-in is no part of a program")


def _closed(function: Any, captures: tuple[Any, ...]) -> Any:
    """Return a function of nested arguments for a captured one, which takes its captures and then the leaves."""
    run = function.forward  # compiled now: under torch's compiler it could not be

    def inner(*args: Any, **kwargs: Any) -> Any:
        return run(*captures, *pytree.tree_leaves((args, kwargs)))

    return inner


def transform(
    kind: Any,
    function: Any,
    captures: tuple[Any, ...],
    settings: tuple[Any, ...],
    named: dict[str, Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Call `kind(function, *settings, **named)(*args, **kwargs)`, where `kind` is one such as `torch.func.vmap`.

    Args:
        kind: Makes a function of a function.
        function: A captured function, which takes `captures` and then the leaves of its arguments.
        captures: Values from outside that it uses.
        settings: Further arguments of `kind`.
        named: Keyword arguments of `kind`.
        args: Arguments of the call.
        kwargs: Keyword arguments of the call.
    """
    return kind(_closed(function, tuple(captures)), *settings, **named)(*args, **kwargs)


def call_with(
    kind: Any, function: Any, captures: tuple[Any, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call `kind(function, *args, **kwargs)` with a captured function; see `transform`."""
    return kind(_closed(function, tuple(captures)), *args, **kwargs)


def call_with_several(
    kind: Any,
    before: tuple[Any, ...],
    functions: tuple[Any, ...],
    captures: tuple[Any, ...],
    operands: tuple[Any, ...],
) -> Any:
    """Call `kind(*before, *functions, operands)` with captured functions; see `transform`."""
    closed = [_closed(function, tuple(captures)) for function in functions]
    return kind(*before, *closed, tuple(operands))


def _leave_to_python(*functions: Any) -> None:
    """Have TorchScript call functions as the Python functions that they are, with annotations that it can read."""
    for function in functions:
        function.__annotations__ = get_type_hints(function)
        torch.jit.ignore(function)  # type: ignore[no-untyped-call]


_leave_to_python(guard, is_given)
