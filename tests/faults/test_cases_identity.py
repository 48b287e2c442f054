"""Cases C58 to C61: identity of modules, types of outputs."""

# ruff: noqa: PT017 - where a refusal is allowed, what it says is checked in the except block

import collections
from dataclasses import dataclass
from typing import NamedTuple

import pytest
import torch
from torch import nn

import symtrace as fx

from .support import targets


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(2, 2)
        self.dec = self.enc

    def forward(self, x):
        return self.dec(torch.relu(self.enc(x)))


def test_c58_both_names_are_kept_and_share_one_layer():
    m = Tied()
    gm = fx.symbolic_trace(m)
    assert targets(gm, "call_module") == ["enc", "dec"]
    assert list(gm.state_dict()) == list(m.state_dict())
    assert gm.enc is gm.dec


def test_c58_in_containers_and_nested():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            layer = nn.Linear(2, 2)
            self.layers = nn.ModuleList([layer, layer])
            self.inner = Tied()
            self.also = self.inner.enc

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return self.also(self.inner(x))

    m = Net()
    gm = fx.symbolic_trace(m)
    assert targets(gm, "call_module") == ["layers.0", "layers.1", "inner.enc", "inner.dec", "also"]
    assert list(gm.state_dict()) == list(m.state_dict())
    x = torch.ones(2)
    assert torch.equal(gm(x), m(x))


def test_c58_tied_parameters():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(2, 2, bias=False)
            self.b = nn.Linear(2, 2, bias=False)
            self.b.weight = self.a.weight
            self.c = self.a.weight

        def forward(self, x):
            return self.b(self.a(x)) @ self.c

    m = Net()
    gm = fx.symbolic_trace(m)
    assert list(gm.state_dict()) == list(m.state_dict())
    assert gm.a.weight is gm.b.weight is gm.c


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(1, 1) for _ in range(2)])
        self.heads = nn.ModuleDict({"a": nn.Linear(1, 1)})
        self.tail = nn.Sequential(nn.Linear(1, 1), nn.ReLU())
        self.weights = nn.ParameterList([nn.Parameter(torch.ones(1))])
        self.unused = nn.Linear(1, 1)
        self.out_channels = 1
        self.settings = {"depth": 2}

    def describe(self):
        return f"{self.out_channels} channels"

    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return self.tail(self.heads["a"](x)) * self.weights[0]


def test_c59_containers_and_attributes_are_kept():
    m = Net()
    gm = fx.symbolic_trace(m)
    assert type(gm.blocks) is nn.ModuleList
    assert type(gm.heads) is nn.ModuleDict
    assert type(gm.tail) is nn.Sequential
    assert type(gm.weights) is nn.ParameterList
    assert gm.out_channels == 1
    assert gm.settings == {"depth": 2}
    assert gm.describe() == "1 channels"
    assert isinstance(gm, Net) or gm.original_class is Net
    assert list(gm.state_dict()) == list(m.state_dict())
    assert [name for name, _ in gm.named_modules()] == [name for name, _ in m.named_modules()]


class Output(dict):
    pass


class Point(NamedTuple):
    x: torch.Tensor
    y: torch.Tensor


@dataclass
class Record:
    logits: torch.Tensor
    count: int = 1


OUTPUTS = {
    "dict subclass": lambda x: Output(logits=x + 1),
    "ordered dict": lambda x: collections.OrderedDict(a=x),
    "default dict": lambda x: collections.defaultdict(int, a=x),
    "named tuple": lambda x: Point(x, x + 1),
    "dataclass": lambda x: Record(x + 1),
    "size": lambda x: torch.Size([2, 3]),
    "nested": lambda x: {"a": [Point(x, x)], "b": (collections.OrderedDict(k=x),)},
    "list": lambda x: [x, (x,)],
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_c61_results_keep_their_type(name):
    f, t = OUTPUTS[name], torch.tensor(1.0)
    try:
        gm = fx.symbolic_trace(f)
    except fx.TraceError as error:
        assert error.location is not None
        assert "lambda" in error.location.text
        return
    for run in (gm, fx.Interpreter(gm).run):
        out, expected = run(t), f(t)
        assert type(out) is type(expected) or (run is not gm and isinstance(out, type(expected)))
        assert str(out) == str(expected)


@pytest.mark.parametrize("name", ["ordered dict", "named tuple"])
def test_c61_the_standard_ones_are_not_refused(name):
    assert type(fx.symbolic_trace(OUTPUTS[name])(torch.tensor(1.0))) is type(OUTPUTS[name](torch.tensor(1.0)))
