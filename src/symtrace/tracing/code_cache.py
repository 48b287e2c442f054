"""A cache of what is known of code objects."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import CodeType
from typing import Any, TypeVar, cast

__all__ = ["cached_by_code"]

_F = TypeVar("_F", bound=Callable[..., Any])
_MOST = 16_384


def cached_by_code(function: _F) -> _F:
    """Cache a function of a code object, and of offsets in it, by the identity of the code.

    To hash a code object takes as long as its text, which is more than most questions about it.
    """
    results: dict[Any, tuple[CodeType, Any]] = {}

    @functools.wraps(function)
    def cached(code: CodeType, *rest: int) -> Any:
        key = (id(code), *rest) if rest else id(code)
        found = results.get(key)
        if found is not None and found[0] is code:
            return found[1]
        result = function(code, *rest)
        if len(results) >= _MOST:
            results.clear()
        results[key] = code, result
        return result

    return cast(_F, cached)
