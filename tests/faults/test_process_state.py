"""What a program draws from, sets and swaps outside of the graph."""

import random

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

import symtrace as fx
from symtrace.testing import assert_equivalent


def sets_default(x):
    torch.set_default_dtype(torch.float64)
    return x + torch.ones(3)


def sets_autocast(x):
    torch.set_autocast_enabled("cpu", True)
    return x @ x


def saves(x):
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t):
        return x * x


@pytest.mark.parametrize("program", [
    lambda x: x * random.random(), lambda x: x + random.choice([1, 2, 3, 4]), lambda x: x * float(np.random.rand()),
    sets_default, sets_autocast, saves,
])  # fmt: skip
def test_refused_and_put_back(program):
    before = random.getstate(), np.random.get_state()[1].tolist(), torch.get_default_dtype()
    with pytest.raises(fx.TraceError, match="ST026"):
        fx.symbolic_trace(program)
    assert (random.getstate(), np.random.get_state()[1].tolist(), torch.get_default_dtype()) == before
    assert not torch.is_autocast_enabled("cpu")


class Checkpointed(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        return checkpoint(self.inner, x, use_reentrant=False)

    def inner(self, x):
        return F.dropout(self.lin(x), 0.5, self.training)


def test_a_checkpoint_is_what_its_function_computes():
    model, x = Checkpointed(), torch.randn(2, 3)
    assert_equivalent(model, fx.capture(model, (x,)), (x,), modes=(True, False))


def generator(x):
    own = torch.Generator().manual_seed(3)
    return x + torch.rand(3, generator=own) + torch.rand(3, generator=own)


def forked(x):
    with torch.random.fork_rng():
        y = x + torch.rand(3)
    return y + torch.rand(3)


def state(x):
    before = torch.get_rng_state()
    y = torch.rand(3)
    torch.set_rng_state(before)
    return x + y


def parameter(x):
    return nn.Parameter(x)


@pytest.mark.parametrize("program", [generator, forked, state, parameter])
def test_recorded(program):
    assert_equivalent(program, fx.symbolic_trace(program), (torch.randn(3),), calls=3)


class PlainTensor(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = torch.zeros(3)

    def forward(self, x):
        self.count.add_(1)
        return x + self.count


def test_a_tensor_in_a_plain_attribute_is_the_captures_own():
    model = PlainTensor()
    captured = fx.symbolic_trace(model)
    captured(torch.ones(3))
    assert captured.count.tolist() == [1.0] * 3
    assert model.count.tolist() == [0.0] * 3
