"""Programs with decisions on traced values, and the inputs that take every path through them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

__all__ = ["PROGRAMS", "Program", "program", "t"]


@dataclass(frozen=True)
class Program:
    """A program and what it is run on.

    Attributes:
        name: Of the function or class.
        make: Returns the function or a new module.
        inputs: Positional arguments, one tuple for each run.
    """

    name: str
    make: Callable[[], Any]
    inputs: tuple[tuple[Any, ...], ...]


PROGRAMS: dict[str, Program] = {}


def program(*inputs: Any) -> Callable[[Any], Any]:
    """Register a function or a module class with its inputs; one that is no tuple is the only argument."""

    def register(root: Any) -> Any:
        assert root.__name__ not in PROGRAMS, root.__name__
        make = root if isinstance(root, type) and issubclass(root, nn.Module) else lambda: root
        given = tuple(one if isinstance(one, tuple) else (one,) for one in inputs)
        PROGRAMS[root.__name__] = Program(root.__name__, make, given)
        return root

    return register


def t(*values: Any) -> torch.Tensor:
    """Return a tensor of floats."""
    return torch.tensor(values, dtype=torch.float32)
