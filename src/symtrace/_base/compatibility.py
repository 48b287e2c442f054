"""Marks that programs put on their public functions to say whether they will stay as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["BACK_COMPAT", "MARKED", "compatibility"]

_T = TypeVar("_T")

BACK_COMPAT: dict[Any, None] = {}
"""Everything marked as stable."""

MARKED: dict[Any, None] = {}
"""Everything marked."""


def compatibility(is_backward_compatible: bool) -> Callable[[_T], _T]:
    """Return a decorator that notes whether a function or class keeps its signature from now on.

    Args:
        is_backward_compatible: Whether it does.
    """

    def mark(marked: _T) -> _T:
        MARKED[marked] = None
        if is_backward_compatible:
            BACK_COMPAT[marked] = None
        return marked

    return mark
