"""Work of symtrace's own on code and syntax trees, in the middle of a capture."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .frames import untraced
from .hooks import tracing_as

__all__ = ["apart"]


@contextmanager
def apart() -> Iterator[None]:
    """Read code and syntax trees during a capture, without hooks and trace functions, which would slow that down."""
    with untraced(), tracing_as(None):
        yield
