"""What a model of the zoo is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import nn

__all__ = ["Case"]


@dataclass(frozen=True)
class Case:
    """A model with a way to make inputs for it.

    Attributes:
        model: The model, in eval mode.
        inputs: Makes args and kwargs from a batch size, a length (a sequence length or image size; None for the usual
            one) and a seed.
        has_length: Whether inputs can have another length.
    """

    model: nn.Module
    inputs: Callable[[int, int | None, int], tuple[tuple[Any, ...], dict[str, Any]]]
    has_length: bool = True
