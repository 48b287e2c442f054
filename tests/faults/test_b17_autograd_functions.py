"""B17: `autograd.Function.apply` is one node, with its own backward."""

import pytest
import torch
from torch import nn

import symtrace as fx

from .support import gradient


class Straight(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g * 5


class TwoInputs(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y, scale):
        ctx.scale = scale
        return x * y, x + y

    @staticmethod
    def backward(ctx, gx, gy):
        return gx * ctx.scale, gy, None


class NewStyle(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x.sign()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x


def alias(x):
    return straight(x) + 1


straight = Straight.apply


class Layer(nn.Module):
    def forward(self, x):
        return Straight.apply(x) * 2


def unpacked(x):
    first, second = TwoInputs.apply(x, x * 2, 7.0)
    return first + second


PROGRAMS = {
    "plain": lambda x: Straight.apply(x) * 3,
    "nested": lambda x: Straight.apply(Straight.apply(x) + x),
    "several results": unpacked,
    "new style": lambda x: NewStyle.apply(x) * 2,
    "module": Layer(),
    "under no condition inlined": lambda x: NewStyle.apply(Straight.apply(x)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_own_backward_is_used(name):
    program = PROGRAMS[name]
    gm = fx.symbolic_trace(program)
    x = torch.tensor([0.4, 1.6])
    assert torch.equal(gm(x), program(x))
    assert torch.equal(gradient(gm, x)[0], gradient(program, x)[0])


def test_a_name_bound_before_the_capture_is_refused_with_its_line():
    with pytest.raises(fx.TraceError) as caught:
        fx.symbolic_trace(alias)
    assert caught.value.code == "ST025"
    assert "straight(x)" in caught.value.location.text


def test_it_is_one_node():
    gm = fx.symbolic_trace(PROGRAMS["plain"])
    assert len(list(gm.graph.nodes)) == 4
