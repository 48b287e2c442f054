"""A module that a program makes around modules of its own runs these, not copies of them."""

import copy

import pytest
import torch
from torch import nn

import symtrace


class Chained(nn.Module):
    """Makes a container at each call."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        for layer in nn.Sequential(self.norm, nn.ReLU()):
            x = layer(x)
        return nn.Sequential(self.norm, self.linear)(x)


class Held(nn.Module):
    """Makes a layer of torch's own, into whose place a layer of its own goes."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x):
        around = nn.Sequential(nn.Sequential(self.norm), nn.ModuleList([self.norm])[0])
        return around(x)


@pytest.mark.parametrize("made", [Chained, Held])
@pytest.mark.parametrize("door", ["capture", "examples", "symbolic_trace"])
def test_state_is_that_of_the_modules_of_the_program(made, door):
    torch.manual_seed(0)
    model = made()
    x = torch.randn(4, 3)
    if door == "symbolic_trace":
        captured = symtrace.symbolic_trace(model)
    else:
        captured = symtrace.capture(model, (x,) if door == "examples" else ())
    expected = copy.deepcopy(model)
    for training in (True, False, True):
        captured.train(training)
        expected.train(training)
        assert torch.equal(captured(x), expected(x))
    state = captured.state_dict()
    assert state.keys() == expected.state_dict().keys()
    assert all(torch.equal(state[key], value) for key, value in expected.state_dict().items())
