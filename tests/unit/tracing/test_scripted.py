"""Scripted functions and modules inside a captured program."""

import warnings

import torch
from torch import nn

import symtrace as fx

with warnings.catch_warnings():
    warnings.simplefilter("ignore")

    @torch.jit.script
    def signed(x):
        if bool(x.sum() > 0):
            return x
        return -x

    scripted_layer = torch.jit.script(nn.Linear(2, 2))


def test_a_scripted_function_stays_one_node():
    gm = fx.symbolic_trace(lambda x: signed(x * 2) + 1)
    assert [n.name for n in gm.graph.nodes] == ["x", "mul", "signed", "add", "output"]
    for x in (torch.tensor([1.0, 2.0]), torch.tensor([-1.0, -2.0])):
        assert torch.equal(gm(x), signed(x * 2) + 1)
        assert torch.equal(fx.Interpreter(gm).run(x), signed(x * 2) + 1)


def test_it_is_as_before_after_the_capture():
    before = type(signed).__call__
    fx.symbolic_trace(lambda x: signed(x))
    assert type(signed).__call__ is before


def test_a_scripted_layer_inside_a_module():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = scripted_layer

        def forward(self, x):
            return self.inner(x) + 1

    model = Model()
    x = torch.randn(3, 2)
    assert torch.equal(fx.symbolic_trace(model)(x), model(x))
