"""Functions that captured programs call for what Python does beside calling operators: modes, state,
guards.
"""

from __future__ import annotations

import operator
from typing import Any, get_type_hints

import torch

from ..diagnostics import Label, Location
from ..errors import GuardError

__all__ = ["IN_PLACE", "build_object", "enter_mode", "exit_mode", "guard", "is_given", "write_attribute"]


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
    if expected is None or value is None or value != expected:
        raise _failure(value, expected, condition, file, line)


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


def is_given(value: Any) -> bool:
    """Tell whether an optional argument was given."""
    if hasattr(type(value), "__graph_node__"):
        return value.tracer.call_function(is_given, (value,), {})  # type: ignore[no-any-return]
    return value is not None


def _leave_to_python(*functions: Any) -> None:
    """Have TorchScript call functions as the Python functions that they are, with annotations that it can read."""
    for function in functions:
        function.__annotations__ = get_type_hints(function)
        torch.jit.ignore(function)  # type: ignore[no-untyped-call]


_leave_to_python(guard, is_given)
