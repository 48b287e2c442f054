"""An exception that only one way of a decision raises is not recorded where the program would handle it."""

import pytest
import torch
from torch import nn

import symtrace
from symtrace.errors import GuardError, TraceError


def raises_inside(x):
    try:
        if x.sum() > 0:
            raise ValueError
        return x
    except ValueError:
        return -x


def checked(x):
    if x.sum() > 0:
        raise ValueError("too large")
    return x


def raises_in_a_helper(x):
    try:
        return checked(x)
    except ValueError:
        return -x


@pytest.mark.parametrize("example", [None, (torch.ones(3),)])
@pytest.mark.parametrize("program", [raises_inside, raises_in_a_helper])
def test_it_is_refused_by_its_line(program, example):
    with pytest.raises(TraceError) as caught:
        symtrace.capture(program, example)
    assert caught.value.location.file == __file__


def test_one_that_nobody_handles_is_kept():
    module = symtrace.capture(checked)
    assert torch.equal(module(-torch.ones(2)), -torch.ones(2))
    with pytest.raises(ValueError, match="too large"):
        module(torch.ones(2))


class NeedsTargets(nn.Module):
    def forward(self, x, targets=None):
        if self.training:
            torch._assert(targets is not None, "targets are needed")
            return (x - targets).sum()
        return x * 2


def test_what_one_way_raises_inside_of_torch_is_raised_on_that_way_alone():
    model = NeedsTargets().eval()
    module = symtrace.capture(model, (torch.ones(3),))
    assert torch.equal(module(torch.ones(3)), torch.full((3,), 2.0))
    assert any("targets are needed" in decision.message for decision in module.report)
    module.train()
    with pytest.raises(AssertionError, match="targets are needed"):
        module(torch.ones(3))


class DrawsASize(nn.Module):
    def forward(self, x):
        if self.training:
            return x[: (8, 4)[int(torch.rand(1) * 2)]]
        return x


def test_a_way_of_training_that_cannot_be_kept_leaves_a_guard_on_the_flag():
    module = symtrace.capture(DrawsASize().eval(), (torch.ones(9),))
    assert torch.equal(module(torch.ones(5)), torch.ones(5))
    module.train()
    with pytest.raises(GuardError, match="training"):
        module(torch.ones(9))
