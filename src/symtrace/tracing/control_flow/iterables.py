"""What a `for` on traced values goes through."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from .levels import refusal

if TYPE_CHECKING:
    from ...ir import Node
    from ..watching import Watcher

__all__ = ["Open", "OpenCall", "OpenValue", "as_open"]


class Open:
    """An iterable of a length that only the run tells."""

    def argument(self, tracer: Watcher) -> Any:
        """Return it as an argument of a node."""
        raise NotImplementedError

    def item(self, tracer: Watcher, node: Node) -> Any:
        """Return the traced item that a node stands for."""
        raise NotImplementedError


class OpenValue(Open):
    """A traced value, or anything else whose items are alike.

    Args:
        value: The value.
    """

    def __init__(self, value: Any) -> None:
        self._value = value

    def argument(self, tracer: Watcher) -> Any:
        """Return it as an argument of a node."""
        return tracer.create_arg(self._value)

    def item(self, tracer: Watcher, node: Node) -> Any:
        """Return the traced item that a node stands for."""
        return tracer.item_of(self._value, node)


class OpenCall(Open):
    """`range`, `zip`, `enumerate` or `reversed` of traced values.

    Args:
        function: Which.
        args: Its arguments.
        kwargs: Its keyword arguments.
        parts: The iterables among its arguments.
    """

    def __init__(
        self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], parts: tuple[Open, ...]
    ) -> None:
        self._function = function
        self._args = args
        self._kwargs = kwargs
        self._parts = parts

    def argument(self, tracer: Watcher) -> Any:
        """Return it as an argument of a node."""
        given = [
            arg.argument(tracer) if isinstance(arg, Open) else tracer.create_arg(arg) for arg in self._args
        ]
        return tracer.create_node(
            "call_function", self._function, tuple(given), tracer.create_arg(self._kwargs)
        )

    def item(self, tracer: Watcher, node: Node) -> Any:
        """Return the traced item that a node stands for."""
        if self._function is range:
            return tracer.renewed(0, node)
        if self._function is reversed:
            return self._parts[0].item(tracer, node)
        parts = [
            tracer.create_node("call_function", operator.getitem, (node, index), {})
            for index in range(len(self._parts) + (self._function is enumerate))
        ]
        if self._function is enumerate:
            return tracer.renewed(0, parts[0]), self._parts[0].item(tracer, parts[1])
        return tuple([part.item(tracer, one) for part, one in zip(self._parts, parts, strict=True)])


def as_open(tracer: Watcher, value: Any) -> Open | None:
    """Return a value as an iterable of unknown length, or None if Python can go through it."""
    if isinstance(value, Open):
        return value
    return OpenValue(value) if tracer.is_open_iterable(value) else None


def call(tracer: Watcher, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Open | None:
    """Return `function(*args, **kwargs)` as an `Open`; None if it is not one of unknown length."""
    if function is range:
        if not any(tracer._is_proxy(arg) and tracer.is_open(arg) for arg in args):
            return None
        return OpenCall(range, args, kwargs, ())
    parts = args[:1] if function is enumerate else args
    opened = [as_open(tracer, part) for part in parts]
    if all(part is None for part in opened):
        return None
    given = tuple([
        one if one is not None else _alike(tracer, part) for one, part in zip(opened, parts, strict=True)
    ])  # fmt: skip
    return OpenCall(function, (*given, *args[len(parts) :]), kwargs, given)


def _alike(tracer: Watcher, value: Any) -> OpenValue:
    """Return a value of known length that is gone through together with one of unknown length.

    Raises:
        TraceError: ST033, its items are not of one kind.
    """
    is_tensor = tracer.is_traced(value)
    items = [] if is_tensor else list(value) if isinstance(value, list | tuple | range) else None
    if (
        items is None
        or (not items and not is_tensor)
        or not all(tracer.is_value(one) and tracer.may_merge(items[0], one) for one in items)
    ):
        raise refusal(tracer, "goes through values of different kinds together with one of unknown length")
    return OpenValue(value)
