"""What users declare about their own functions: effects, purity, randomness."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["declared", "has_side_effect", "on_change", "pure", "random"]

_F = TypeVar("_F", bound=Callable[..., Any])

_DECLARED: dict[Callable[..., Any], str] = {}
_LISTENERS: list[Callable[[Callable[..., Any]], None]] = []


def _declare(fn: _F, kind: str) -> _F:
    _DECLARED[fn] = kind
    for listener in _LISTENERS:
        listener(fn)
    return fn


def has_side_effect(fn: _F) -> _F:
    """Declare that calls of `fn` must never be removed, merged or reordered.

    Args:
        fn: A function that is used as the target of `call_function` nodes.

    Returns:
        `fn` itself, so that it serves as a decorator.

    >>> @has_side_effect
    ... def log(x):
    ...     print(x)
    """
    return _declare(fn, "impure")


def pure(fn: _F) -> _F:
    """Declare that `fn` depends on its arguments alone and changes nothing.

    A user's function counts as effectful until it is declared pure: unused calls of it stay, and passes
    do not move anything across it.

    Args:
        fn: A function that is used as the target of `call_function` nodes.

    Returns:
        `fn` itself, so that it serves as a decorator.

    >>> @pure
    ... def double(x):
    ...     return x * 2
    """
    return _declare(fn, "pure")


def random(fn: _F) -> _F:
    """Declare that `fn` draws random numbers and is otherwise pure.

    Args:
        fn: A function that is used as the target of `call_function` nodes.

    Returns:
        `fn` itself, so that it serves as a decorator.
    """
    return _declare(fn, "random")


def declared(fn: Callable[..., Any]) -> str | None:
    """Return `"impure"`, `"pure"` or `"random"` as declared for `fn`, or None."""
    return _DECLARED.get(fn)


def on_change(listener: Callable[[Callable[..., Any]], None]) -> None:
    """Call `listener(fn)` after each declaration."""
    _LISTENERS.append(listener)
