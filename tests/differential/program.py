"""What a program of the corpus is: something to trace, and what to call it with.

Inputs are written as specifications (`T(2, 3)` is a float tensor of that shape), so that each call gets its
own fresh tensors with the same contents, and a program that writes to its inputs disturbs no other call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

PLACE = object()
"""In `concrete_args`: a leaf that stays an input; each library has its own object for it, `PH`."""


@dataclass(frozen=True)
class Tensor:
    """A tensor input: its shape, its kind of numbers, its dtype."""

    shape: tuple[int, ...]
    kind: str = "normal"
    dtype: torch.dtype = torch.float32
    high: int = 4

    def build(self, generator: torch.Generator) -> torch.Tensor:
        if self.kind == "normal":
            return torch.randn(self.shape, generator=generator).to(self.dtype)
        if self.kind == "positive":
            return torch.rand(self.shape, generator=generator) + 0.5
        if self.kind == "bool":
            return torch.rand(self.shape, generator=generator) > 0.5
        return torch.randint(1, self.high, self.shape, generator=generator)


def T(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """A float tensor with normal entries."""
    return Tensor(shape, dtype=dtype)


def P(*shape: int) -> Tensor:
    """A float tensor with positive entries."""
    return Tensor(shape, kind="positive")


def I(*shape: int, high: int = 4) -> Tensor:  # noqa: E743
    """An integer tensor with entries from 1 to high - 1."""
    return Tensor(shape, kind="int", high=high)


def B(*shape: int) -> Tensor:
    """A boolean tensor."""
    return Tensor(shape, kind="bool")


def build(spec: Any, generator: torch.Generator) -> Any:
    """Return `spec` with each tensor specification replaced by a fresh tensor."""
    if isinstance(spec, Tensor):
        return spec.build(generator)
    if isinstance(spec, tuple) and hasattr(spec, "_fields"):
        return type(spec)(*(build(item, generator) for item in spec))
    if isinstance(spec, tuple | list):
        return type(spec)(build(item, generator) for item in spec)
    if isinstance(spec, dict):
        return {key: build(value, generator) for key, value in spec.items()}
    return spec


@dataclass(frozen=True)
class Program:
    """One program of the corpus.

    Attributes:
        name: `kind/name`, unique.
        root: A function, or a module class that takes no arguments.
        calls: Argument tuples (of specifications); the first is the example, the others have other sizes.
        kwargs: Keyword arguments for every call.
        concrete_args: As for `symbolic_trace`.
        tracer: Keyword arguments for the tracer's constructor.
        differs: Heading of docs/differences.md that says why the two tools must not agree here.
    """

    name: str
    root: Any
    calls: tuple[tuple[Any, ...], ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    concrete_args: Any = None
    tracer: dict[str, Any] = field(default_factory=dict)
    differs: str | None = None

    def make(self) -> Any:
        """Return a fresh root: the function itself, or a new module with the same parameters each time."""
        if isinstance(self.root, type) and issubclass(self.root, nn.Module):
            torch.manual_seed(11)
            return self.root()
        return self.root

    def arguments(self) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
        """Yield fresh arguments for each call."""
        for index, call in enumerate(self.calls):
            generator = torch.Generator().manual_seed(index)
            yield build(call, generator), build(self.kwargs, generator)


class Corpus:
    """Programs of one kind."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.programs: list[Program] = []

    def add(
        self, name: str, root: Any, *inputs: Any, also: tuple[tuple[Any, ...], ...] = (), **options: Any
    ) -> None:
        """Add the program `root`, called with `inputs`, and with each of `also`."""
        self.programs.append(Program(f"{self.kind}/{name}", root, (inputs, *also), **options))

    def __call__(self, *inputs: Any, **options: Any) -> Callable[[Any], Any]:
        """Decorator form of `add`; the program gets the name of what is decorated."""

        def register(root: Any) -> Any:
            self.add(root.__name__, root, *inputs, **options)
            return root

        return register
