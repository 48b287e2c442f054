"""Random programs: straight-line tensor code over one module, made from a stream of random choices."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

__all__ = ["RandomProgram", "random_program"]

WIDTH = 4
"""Last dimension of every value, so that any two values combine."""

_UNARY: dict[str, Callable[[Any], Any]] = {
    "relu": torch.relu,
    "neg": lambda x: -x,
    "tanh": lambda x: x.tanh(),
    "sigmoid": lambda x: torch.sigmoid(x),
    "scaled": lambda x: x * 0.5 + 1,
    "reflected": lambda x: 2 - x,
    "softmax": lambda x: F.softmax(x, dim=-1),
    "centred": lambda x: x - x.mean(dim=-1, keepdim=True),
    "clamped": lambda x: x.clamp(min=-1.0, max=1.0),
    "transposed": lambda x: x.transpose(0, 1).contiguous().transpose(0, 1),
    "flattened": lambda x: x.reshape(-1).view(x.size(0), -1),
    "sized": lambda x: x / x.size(0),
    "sliced": lambda x: torch.cat([x[:, 1:], x[:, :1]], dim=1),
    "halves": lambda x: _swapped_halves(x),
    "masked": lambda x: torch.where(x > 0, x, x * 0.1),
    "cloned": lambda x: x.clone(),
}
_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: torch.sub(x, y),
    "mul": lambda x, y: x.mul(y),
    "maximum": lambda x, y: torch.maximum(x, y),
    "lerp": lambda x, y: torch.lerp(x, y, 0.25),
    "stacked": lambda x, y: torch.stack([x, y], dim=0).sum(0),
    "matmul": lambda x, y: x @ (y.transpose(0, 1) @ y) * 0.1,
    "where": lambda x, y: torch.where(x > y, x, y),
}
_WRITES: dict[str, Callable[[Any, Any], Any]] = {
    "add_": lambda x, y: x.add_(y),
    "mul_": lambda x, y: x.mul_(0.5),
    "relu_": lambda x, y: F.relu(x, inplace=True),
    "setitem": lambda x, y: _set_first_column(x),
    "through a view": lambda x, y: _write_rows(x),
    "copy_": lambda x, y: x.copy_(y * 0.5),
}
_DRAWS: dict[str, Callable[[Any], Any]] = {
    "rand_like": lambda x: x + torch.rand_like(x),
    "rand": lambda x: x * torch.rand(WIDTH),
    "dropout": lambda x: F.dropout(x, 0.5, training=True),
}


def _swapped_halves(x: Any) -> Any:
    first, second = x.split(WIDTH // 2, dim=1)
    return torch.cat([second, first], dim=1)


def _write_rows(x: Any) -> Any:
    x[1:].sub_(0.5)  # a view whatever the strides are
    return x


def _set_first_column(x: Any) -> Any:
    x[:, 0] = 0.25
    return x


@dataclass(frozen=True)
class _Step:
    """One statement: what it does, and which earlier values it takes (by number, wrapping around)."""

    kind: str
    name: str
    first: int
    second: int


class RandomProgram(nn.Module):
    """A module whose forward runs a list of random steps.

    Attributes:
        steps: What forward does, for messages of failed tests.
    """

    def __init__(self, steps: tuple[_Step, ...], outputs: tuple[int, ...], seed: int) -> None:
        super().__init__()
        self.steps = steps
        self.outputs = outputs
        generator = torch.Generator().manual_seed(seed)
        self.scale = nn.Parameter(torch.rand(WIDTH, generator=generator))
        self.register_buffer("offset", torch.rand(WIDTH, generator=generator))
        self.linear = nn.Linear(WIDTH, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.block = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.BatchNorm1d(WIDTH))
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.copy_(torch.rand(parameter.shape, generator=generator) - 0.5)

    def forward(self, x: Any, y: Any) -> Any:
        """Run the steps on two matrices of `WIDTH` columns."""
        values = [x * 1, y * 1]  # copies, so that writes stay inside
        for step in self.steps:
            values.append(self._run(step, values))
        results = [values[number % len(values)] for number in self.outputs]
        return results[0] if len(results) == 1 else tuple(results)

    def _run(self, step: _Step, values: list[Any]) -> Any:
        first, second = values[step.first % len(values)], values[step.second % len(values)]
        if step.kind == "unary":
            return _UNARY[step.name](first)
        if step.kind == "binary":
            return _BINARY[step.name](first, second)
        if step.kind == "write":
            return _WRITES[step.name](first, second)
        if step.kind == "draw":
            return _DRAWS[step.name](first)
        if step.name == "scale":
            return first * self.scale
        if step.name == "offset":
            return first + self.offset
        return getattr(self, step.name)(first)

    def extra_repr(self) -> str:
        """Show the steps."""
        return (
            "\n".join(f"{s.kind} {s.name}({s.first}, {s.second})" for s in self.steps)
            + f"\n-> {self.outputs}"
        )


_NAMES: dict[str, tuple[str, ...]] = {
    "unary": tuple(_UNARY),
    "binary": tuple(_BINARY),
    "write": tuple(_WRITES),
    "draw": tuple(_DRAWS),
    "module": ("linear", "norm", "block", "scale", "offset"),
}


def random_program(
    choices: random.Random, length: int, *, writes: bool = True, draws: bool = True
) -> RandomProgram:
    """Return a random program of `length` steps.

    Args:
        choices: Where decisions come from; Hypothesis's `randoms()` shrinks well.
        length: Number of steps.
        writes: Whether it may write to its values in place.
        draws: Whether it may draw random numbers.

    Returns:
        A module that takes two matrices of four columns with an equal number of rows.

    >>> program = random_program(random.Random(0), 5)
    >>> len(program.steps)
    5
    """
    kinds = ["unary", "binary", "module", *(["write"] if writes else []), *(["draw"] if draws else [])]
    steps = []
    for number in range(length):
        kind = choices.choice(kinds)
        steps.append(
            _Step(
                kind,
                choices.choice(_NAMES[kind]),
                choices.randrange(number + 2),
                choices.randrange(number + 2),
            )
        )
    outputs = tuple(choices.randrange(length + 2) for _ in range(choices.randint(1, 3)))
    return RandomProgram(tuple(steps), outputs, choices.randrange(1000))
