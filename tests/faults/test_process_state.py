"""What a program draws from, sets and swaps outside of the graph."""

import contextvars
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


SCALE = contextvars.ContextVar("SCALE", default=1.0)


class Settings:
    factor = 1.0
    factors = [1.0]


SETTINGS = Settings()


def by_variable(module, args, output):
    return output * SCALE.get()


def by_attribute(module, args, output):
    return output * SETTINGS.factor


def by_list(module, args, output):
    return output * SETTINGS.factors[-1]


class Scaled(nn.Module):
    """Changes something while a layer is called, which its hook sees, and puts it back."""

    def __init__(self, hook):
        super().__init__()
        self.inner = nn.Linear(3, 3)
        self.inner.register_forward_hook(hook)

    def forward(self, x):
        scale = globals()["SCALE"]  # which only the hook names
        token = scale.set(2.0)
        SETTINGS.factor = 3.0
        SETTINGS.factors.append(4.0)
        try:
            return self.inner(x)
        finally:
            scale.reset(token)
            SETTINGS.factor = 1.0
            SETTINGS.factors.pop()


@pytest.mark.parametrize("hook", [by_variable, by_attribute, by_list])
@pytest.mark.parametrize("trace", [fx.symbolic_trace, lambda model: fx.capture(model, (torch.ones(2, 3),))])
def test_a_hook_sees_what_the_program_changes_while_its_layer_is_called(hook, trace):
    model, x = Scaled(hook), torch.randn(2, 3)

    assert_equivalent(model, trace(model), (x,))
    assert (SCALE.get(), SETTINGS.factor, SETTINGS.factors) == (1.0, 1.0, [1.0])


def test_a_layer_with_a_hook_that_runs_backwards_does_not_see_what_the_program_changes():
    model = Scaled(by_attribute)
    model.inner.register_full_backward_hook(lambda module, given, out: None)

    with pytest.raises(fx.TraceError, match="ST026"):
        fx.symbolic_trace(model)
