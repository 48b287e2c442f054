"""B5: tracing writes nothing on the user's module."""

import pytest
import torch
from torch import nn

import symtrace as fx

from .support import attributes


class Literal(nn.Module):
    def forward(self, x):
        return x + torch.tensor([1.0, 2.0])


class PlainTensor(nn.Module):
    def __init__(self):
        super().__init__()
        self.shift = torch.ones(2)

    def forward(self, x):
        return x + self.shift


class NestedPlainTensor(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = PlainTensor()

    def forward(self, x):
        return self.inner(x) * torch.pi


class BufferExpression(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("b", torch.ones(2))

    def forward(self, x):
        return x * (self.b + 1).exp()


class Inline(nn.Module):
    def forward(self, x):
        return nn.ReLU()(x)


class Attribute(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x):
        self.seen = self.seen + 1
        return x * self.seen


MODULES = [Literal, PlainTensor, NestedPlainTensor, BufferExpression, Inline, Attribute]


@pytest.mark.parametrize("make", MODULES, ids=lambda c: c.__name__)
def test_module_is_as_it_was(make):
    module = make()
    before, keys = attributes(module), list(module.state_dict())
    try:
        fx.symbolic_trace(module)
    except fx.TraceError:
        pass
    assert attributes(module) == before
    assert list(module.state_dict()) == keys


def test_a_failed_trace_leaves_the_module_as_it_was():
    class Fails(NestedPlainTensor):
        def forward(self, x):
            y = super().forward(x)
            return y if y.sum() > 0 else x

    module = Fails()
    before = attributes(module)
    with pytest.raises(fx.TraceError):
        fx.symbolic_trace(module)
    assert attributes(module) == before


def test_modes_and_random_state_are_as_they_were():
    def program(x):
        torch.set_grad_enabled(False)
        raise RuntimeError("stop")

    state = torch.get_rng_state()
    with pytest.raises(RuntimeError):
        fx.symbolic_trace(program)
    assert torch.is_grad_enabled()
    assert not torch.is_autocast_enabled("cpu")

    fx.symbolic_trace(lambda x: x + torch.rand(2))
    assert torch.equal(torch.get_rng_state(), state)
