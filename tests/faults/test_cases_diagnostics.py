"""Case C81: recorded stack traces end at the user's line."""

import pytest
import torch
from torch import nn

import symtrace as fx


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(1, 1)
        self.w = nn.Parameter(torch.ones(1))

    def helper(self, x):
        return torch.relu(x)

    def forward(self, x):
        y = x + self.lin(x)
        z = self.helper(y)
        return z.sum() * self.w


LINES = {
    "add": "y = x + self.lin(x)",
    "lin": "y = x + self.lin(x)",
    "relu": "return torch.relu(x)",
    "sum_1": "return z.sum() * self.w",
    "mul": "return z.sum() * self.w",
}


@pytest.mark.parametrize("name", LINES)
def test_c81_the_innermost_frame_is_the_users(name):
    tracer = fx.Tracer()
    tracer.record_stack_traces = True
    graph = tracer.trace(M())
    trace = next(n for n in graph.nodes if n.name == name).stack_trace
    last = trace.strip().splitlines()
    assert LINES[name] in " ".join(last[-2:])
    assert __file__ in " ".join(last[-2:])


def test_c81_outer_frames_are_there_and_none_of_ours():
    tracer = fx.Tracer()
    tracer.record_stack_traces = True
    graph = tracer.trace(M())
    trace = next(n for n in graph.nodes if n.name == "relu").stack_trace
    assert "z = self.helper(y)" in trace
    assert "symtrace/capture" not in trace
