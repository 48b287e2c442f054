"""Tracing with examples on the `meta` device."""

import pytest
import torch
from torch import nn

from symtrace import GraphModule
from symtrace.errors import GuardError
from symtrace.experimental.meta_tracer import MetaTracer, symbolic_trace


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 4)

    def forward(self, x):
        if x.size(1) > 2:
            x = x * 2
        return self.lin(x).reshape(x.size(0), -1) + torch.zeros(x.size(0), 4)


class Flagged(Net):
    def forward(self, x, flag=False):
        return self.lin(x) if flag and x.size(1) > 2 else x


def test_decisions_follow_the_example_and_other_sizes_are_right():
    module = Net()
    example = {"x": torch.ones(2, 3, device="meta")}
    by_tracer = GraphModule(module, MetaTracer().trace(module, meta_args=example))
    for gm in (symbolic_trace(module, meta_args=example), by_tracer):
        x = torch.rand(5, 3)
        assert torch.equal(gm(x), module(x))
        with pytest.raises(GuardError):
            gm(torch.rand(5, 2))


def test_concrete_values_are_kept_apart():
    module = Flagged()
    gm = symbolic_trace(module, {"x": torch.ones(2, 3, device="meta")}, {"flag": True})
    x = torch.rand(5, 3)
    assert torch.equal(gm(x, True), module(x, True))
