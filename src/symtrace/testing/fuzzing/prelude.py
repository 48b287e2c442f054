"""What random programs may name: types of containers, autograd functions, hooks, helpers."""

from __future__ import annotations

import functools
import math
import operator
import random
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
import torch.nn.utils as utils
from torch import nn
from torch.nn.utils import parametrize, prune
from torch.utils.checkpoint import checkpoint

__all__ = [
    "F",
    "checkpoint",
    "functools",
    "math",
    "nn",
    "operator",
    "parametrize",
    "prune",
    "random",
    "utils",
]

TABLE = torch.tensor([0.5, -1.0, 2.0, 0.25])
LOG: list[int] = []
TOTAL = 0


class Pair(NamedTuple):
    """A container with names."""

    first: Any
    second: Any


@dataclass
class Box:
    """A container with fields."""

    value: Any
    factor: float = 2.0
    other: Any = None


class Snap(torch.autograd.Function):
    """Rounds; the gradient passes."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        """Round."""
        return x.round()

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:  # type: ignore[override]
        """Pass the gradient, doubled so that a lost backward shows."""
        return grad * 2


class Scaled(torch.autograd.Function):
    """Takes a plain number; sets up its context apart."""

    @staticmethod
    def forward(x: Any, factor: Any) -> Any:  # type: ignore[override]
        """Scale."""
        return x * factor

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Keep the factor."""
        ctx.factor = inputs[1]

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:  # type: ignore[override]
        """Scale by one more than the factor."""
        return grad * (ctx.factor + 1), None


class Both(torch.autograd.Function):
    """Gives two results."""

    @staticmethod
    def forward(ctx: Any, x: Any, y: Any) -> Any:  # type: ignore[override]
        """Sum and product."""
        ctx.save_for_backward(x, y)
        return x + y, x * y

    @staticmethod
    def backward(ctx: Any, total: Any, product: Any) -> Any:  # type: ignore[override]
        """Gradients with a tell-tale constant."""
        x, y = ctx.saved_tensors
        return total + product * y + 1, total + product * x


class Halved(nn.Module):
    """A parametrisation."""

    def forward(self, weight: Any) -> Any:
        """Half."""
        return weight * 0.5


class CountingNorm(nn.LayerNorm):
    """A layer of the user's that counts its calls."""

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x: Any) -> Any:
        """Count and normalise."""
        self.seen: Any
        self.seen += 1
        return super().forward(x)


@torch.no_grad()
def frozen(x: Any) -> Any:
    """Run without gradients."""
    return x * 3


@torch.enable_grad()
def thawed(x: Any) -> Any:
    """Run with gradients."""
    return x * 2


@torch.inference_mode(False)
def plain(x: Any) -> Any:
    """Run outside of inference mode."""
    return x + 1


def mixed(x: Any, *others: Any, scale: float = 1.0, **named: Any) -> Any:
    """Take arguments in every way."""
    for other in others:
        x = x + other * scale
    for key in sorted(named):
        x = x - named[key]
    return x


def doubled(module: Any, args: Any, output: Any) -> Any:
    """A forward hook that replaces the result."""
    return output * 2


def shifted(module: Any, args: Any) -> Any:
    """A hook before forward that replaces the arguments."""
    return (args[0] + 1, *args[1:])


def with_keywords(module: Any, args: Any, kwargs: Any) -> Any:
    """A hook before forward that sees keywords."""
    return (args[0] * 0.5, *args[1:]), kwargs


def after_keywords(module: Any, args: Any, kwargs: Any, output: Any) -> Any:
    """A forward hook that sees keywords."""
    return output + 0.5


def watching(module: Any, args: Any, output: Any) -> None:
    """A forward hook that keeps count in the module."""
    module.seen_by_hook = module.seen_by_hook + 1


def scaled_gradient(module: Any, grad_input: Any, grad_output: Any) -> Any:
    """A backward hook that changes gradients."""
    return tuple(None if grad is None else grad * 3 for grad in grad_input)


def counting_back(module: Any, grad_input: Any, grad_output: Any) -> None:
    """A backward hook that keeps count in the module."""
    module.hits = module.hits + 1


def only_once(module: Any, args: Any, output: Any) -> Any:
    """A forward hook that goes after its first run."""
    module._handle.remove()
    return output * 3
