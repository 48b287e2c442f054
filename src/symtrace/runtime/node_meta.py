"""The node that is being run, for those who record what happens meanwhile."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

from ..ir import Node

__all__ = [
    "current_stack_trace",
    "get_current_meta",
    "has_preserved_node_meta",
    "preserve_node_meta",
    "set_current_meta",
    "set_stack_trace",
]

_preserved: ContextVar[bool] = ContextVar("symtrace_preserved", default=False)
_current: ContextVar[dict[str, Any] | None] = ContextVar("symtrace_current_meta", default=None)


@contextlib.contextmanager
def preserve_node_meta(enable: bool = True) -> Iterator[None]:
    """Have the Interpreter tell which node it runs, so that what is recorded meanwhile can carry its metadata.

    Args:
        enable: Turn it on or off.
    """
    token = _preserved.set(enable)
    try:
        yield
    finally:
        _preserved.reset(token)


def has_preserved_node_meta() -> bool:
    """Tell whether the Interpreter tells which node it runs."""
    return _preserved.get()


@contextlib.contextmanager
def set_current_meta(node: Node, pass_name: str = "") -> Iterator[None]:
    """Make the metadata of `node` current in this thread, if that is on.

    Args:
        node: The node.
        pass_name: Unused; a pass is noted in `node.origin`.
    """
    if not _preserved.get():
        yield
        return
    token = _current.set(dict(node.meta))
    try:
        yield
    finally:
        _current.reset(token)


def get_current_meta() -> dict[str, Any]:
    """Return the metadata of the node that is being run, or an empty dict."""
    return _current.get() or {}


def set_stack_trace(stack: list[str]) -> None:
    """Set the stack trace that goes with the current node."""
    if _preserved.get() and stack:
        _current.set({**get_current_meta(), "stack_trace": "".join(stack)})


def current_stack_trace() -> list[str]:
    """Return the stack trace that goes with the current node, as a list of texts."""
    trace = get_current_meta().get("stack_trace")
    return [trace] if trace else []
