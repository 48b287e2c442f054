"""An attribute that is made on one way of a decision, or in the rounds of a loop, is there if the run has made it."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import symtrace as fx


class OnOneWay(nn.Module):
    def forward(self, x):
        if x.sum() > 4:
            return x
        self.added = x.detach()
        return x * 2


class InRounds(nn.Module):
    def forward(self, x):
        total = 0
        for row in x:
            if row > 4:
                continue
            self.added = row.detach()
            total = total + row
        return total + x


@pytest.mark.parametrize("program", [OnOneWay, InRounds], ids=lambda cls: cls.__name__)
def test_an_attribute_is_made_where_eager_makes_it(program: type[nn.Module]) -> None:
    eager = program()
    captured = fx.capture(program())
    for x in (torch.full((2,), 5.0), torch.ones(2), torch.full((2,), 6.0)):
        assert torch.equal(captured(x), eager(x))
        assert hasattr(captured, "added") == hasattr(eager, "added")
        if hasattr(eager, "added"):
            assert torch.equal(captured.added, eager.added)
