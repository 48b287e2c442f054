"""What lifted functions ask where the program has a `match`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from ..hooks import active_tracer
from .levels import refusal

__all__ = ["Matching"]


class Matching:
    """Tells whether patterns fit, and what they take."""

    @staticmethod
    def is_sequence(value: Any, count: int, is_least: bool) -> Any:
        """Tell whether a pattern of so many items, or of at least as many, fits a value."""
        tracer: Any = active_tracer()
        if tracer is not None and tracer.is_traced(value):
            if issubclass(tracer.class_of(value), torch.Tensor):
                return False
            raise refusal(tracer, "matches a pattern of a sequence with a traced value")
        if not isinstance(value, Sequence) or isinstance(value, str | bytes | bytearray):
            return False
        return len(value) >= count if is_least else len(value) == count

    @staticmethod
    def is_mapping(value: Any, keys: tuple[Any, ...]) -> bool:
        """Tell whether a pattern of a mapping with some keys fits a value."""
        tracer: Any = active_tracer()
        if tracer is not None and tracer.is_traced(value):
            if issubclass(tracer.class_of(value), torch.Tensor):
                return False
            raise refusal(tracer, "matches a pattern of a mapping with a traced value")
        return isinstance(value, Mapping) and all(key in value for key in keys)

    @staticmethod
    def without(value: Any, keys: tuple[Any, ...]) -> dict[Any, Any]:
        """Return the entries of a mapping with other keys."""
        return {key: value[key] for key in value if key not in keys}

    @staticmethod
    def has_positional(value: Any, cls: Any, position: int) -> bool:
        """Tell whether a value has what the pattern of a class takes at a position."""
        if position >= len(getattr(cls, "__match_args__", ())):
            raise TypeError(f"{cls.__name__}() accepts {position} positional sub-patterns")
        return hasattr(value, cls.__match_args__[position])

    @staticmethod
    def positional(value: Any, cls: Any, position: int) -> Any:
        """Return what the pattern of a class takes at a position."""
        return getattr(value, cls.__match_args__[position])
