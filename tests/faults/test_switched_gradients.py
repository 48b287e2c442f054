"""What a program reads of `requires_grad` after it has switched it is what it has switched it to, call after call."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 - as torch's documentation has it
from torch import nn

import symtrace as fx


class Base(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(4))


class Method(Base):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.scale.requires_grad_(False)
        return x * (2 if self.scale.requires_grad else 3)


class Assignment(Base):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.scale.requires_grad = False
        return x * (2 if self.scale.requires_grad else 3)


class Detached(Base):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.scale.detach_()
        return x * (2 if self.scale.requires_grad else 3)


class Input(Base):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x.requires_grad_(True)
        return x * (2 if x.requires_grad else 3)


class Result(Base):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x * 1
        y.requires_grad_()
        return x * (2 if y.requires_grad else 3)


@pytest.mark.parametrize("examples", [(), (torch.ones(4),)])
@pytest.mark.parametrize("program", [Method, Assignment, Detached, Input, Result])
def test_a_switch_is_seen(program: type[Base], examples: tuple[Any, ...]) -> None:
    captured, eager = fx.capture(program(), examples), program()
    for _ in range(2):
        assert captured(torch.ones(4)).equal(eager(torch.ones(4)))
        assert captured.scale.requires_grad == eager.scale.requires_grad


def test_a_switch_on_one_way_that_is_read_after_it_is_refused() -> None:
    class Program(Base):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if x.sum() > 0:
                self.scale.requires_grad_(False)
            return x * (2 if self.scale.requires_grad else 3)

    with pytest.raises(fx.errors.TraceError, match="requires_grad"):
        fx.capture(Program(), (torch.ones(4),))


class Pair(NamedTuple):
    first: torch.Tensor
    second: torch.Tensor


def test_a_result_that_may_be_a_part_of_an_input_is_not_asked_by_is() -> None:
    class Program(nn.Module):
        def forward(self, pair: Pair) -> torch.Tensor:
            y = pair.second
            dropped = F.dropout(y, 0.5, self.training)
            return dropped if dropped is not y else dropped * 2

    with pytest.raises(fx.errors.DataDependentError, match="ST013"):
        fx.capture(Program(), (Pair(torch.ones(2), torch.ones(2)),))
