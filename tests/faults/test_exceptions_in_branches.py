"""An exception that only one way of a decision raises is not recorded where the program would handle it."""

import pytest
import torch
import torch.nn.functional as F
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


FAILING = {
    "cat": lambda x: torch.cat([x, x[None]]),
    "index": lambda x: x[7],
    "view": lambda x: x.view(2, 7),
    "view of a transpose": lambda x: x.expand(4, 3).t().view(12),
    "matmul": lambda x: x @ torch.ones(5, 5),
    "dim": lambda x: x.sum(4),
    "dropout": lambda x: F.dropout(x, 2.0),
    "layer_norm": lambda x: F.layer_norm(x, (9,)),
    "split": lambda x: x.split([1, 1]),
    "chunk": lambda x: x.chunk(0),
    "embedding": lambda x: F.embedding(x, x),
    "conv": lambda x: F.conv1d(x, x),
}
"""Operations that fail; on fake tensors some do with another message, or an exception of another class."""


def _error(function, x):
    with pytest.raises(Exception) as caught:  # noqa: PT011 - which one, is what is asked
        function(x)
    return type(caught.value), str(caught.value)


@pytest.mark.parametrize("name", FAILING)
def test_an_operation_that_fails_on_one_way_fails_there_as_in_eager(name):
    fails = FAILING[name]

    def program(x):
        if x.sum() > 0:
            return fails(x)
        return x

    module = symtrace.capture(program, (torch.ones(3),))
    assert torch.equal(module(-torch.ones(3)), -torch.ones(3))
    assert _error(module, torch.ones(3)) == _error(program, torch.ones(3))


def test_what_fails_on_one_way_fails_though_nobody_uses_its_result():
    def program(self, x):
        if self.training:
            round(x)
        return x

    model = type("Model", (nn.Module,), {"forward": program})()
    module = symtrace.capture(model)
    assert torch.equal(module.eval()(torch.ones(2)), torch.ones(2))
    with pytest.raises(TypeError, match="__round__"):
        module.train()(torch.ones(2))


def raises_in_each_round(x):
    for _ in range(int(x.sum())):
        raise ValueError("too large")
    return x


def looks_up_what_is_not_there(x):
    while x.sum() > 5:
        x = x + {"a": 1}["b"]
    return x


def rounds_what_has_no_rounding(x):
    for i in range(int(x.sum())):
        x = round(x) + i
    return x


def raises_after_an_operation(x):
    total = x * 1
    for row in x:
        total = total + row
        total[5]
    return total


@pytest.mark.parametrize("example", [None, (-torch.ones(3),)])
@pytest.mark.parametrize(
    "program", [raises_in_each_round, looks_up_what_is_not_there, rounds_what_has_no_rounding]
)
def test_what_a_round_raises_is_raised_if_there_is_one(program, example):
    module = symtrace.capture(program, example)
    assert torch.equal(module(-torch.ones(3)), -torch.ones(3))
    with pytest.raises((ValueError, KeyError, TypeError)) as expected:
        program(torch.full((3,), 4.0))
    with pytest.raises(expected.type):
        module(torch.full((3,), 4.0))


def test_what_an_operation_raises_in_a_round_is_raised_if_there_is_one():
    module = symtrace.capture(raises_after_an_operation)
    assert module(torch.ones(0)).shape == (0,)
    with pytest.raises(IndexError):
        module(torch.ones(2))
