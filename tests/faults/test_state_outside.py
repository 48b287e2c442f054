"""What a program changes outside of the graph is refused, and is as it was after the capture."""

import collections
import copy

import numpy as np
import pytest
import torch
from torch import nn

import symtrace as fx

TOTAL = 0
SEEN = [0]


class Counter:
    def __init__(self):
        self.calls = 0


def bump_global(x):
    global TOTAL
    TOTAL += 1
    return x * TOTAL


def bump_list(x):
    SEEN[0] += 1
    return x


@pytest.mark.parametrize(("program", "read"), [(bump_global, lambda: TOTAL), (bump_list, lambda: list(SEEN))])
def test_globals(program, read):
    before = read()
    with pytest.raises(fx.TraceError):
        fx.symbolic_trace(program)
    assert read() == before


def test_variables_of_an_enclosing_function():
    count, items = 0, []

    def program(x):
        nonlocal count
        count += 1
        return x * count

    def stores(x):
        items.append(x)
        return x

    for function in (program, stores):
        with pytest.raises(fx.TraceError):
            fx.symbolic_trace(function)
    assert count == 0
    assert items == []


def test_a_bound_method_of_an_object():
    class Thing:
        def __init__(self):
            self.calls = 0

        def run(self, x):
            self.calls += 1
            return x * self.calls

    thing = Thing()
    with pytest.raises(fx.TraceError):
        fx.symbolic_trace(thing.run)
    assert thing.calls == 0


class Keeps(nn.Module):
    def __init__(self, held, change):
        super().__init__()
        self.register_buffer("buf", torch.zeros(3))
        self.held = held
        self.change = change

    def forward(self, x):
        self.change(self)
        return x + self.buf


def nested_list(m):
    m.held[0][0] += 1


def nested_dict(m):
    m.held["a"]["n"] += 1


def append(m):
    m.held.append(1)


def count(m):
    m.held["a"] += 1


def array(m):
    m.held[0] += 1


def plain_object(m):
    m.held.calls += 1


def past_setattr(m):
    object.__setattr__(m, "held", m.held + 1)


def table(m):
    m._buffers["buf"] = m._buffers["buf"] + 1


def register(m):
    m.register_buffer("buf", m.buf + 1)


def add_module(m):
    m.add_module("act", nn.ReLU())


@pytest.mark.parametrize(("held", "change"), [
    ([[1]], nested_list), ({"a": {"n": 1}}, nested_dict), (collections.deque(maxlen=2), append),
    (collections.Counter(), count), (np.zeros(1), array), (Counter(), plain_object), (0, past_setattr), (0, table),
    (0, register), (0, add_module),
])  # fmt: skip
def test_what_a_module_holds(held, change):
    module = Keeps(held, change)
    before = copy.deepcopy(module)
    with pytest.raises(fx.TraceError) as failure:
        fx.symbolic_trace(module)
    assert failure.value.code in ("ST022", "ST023")
    assert list(module.__dict__) == list(before.__dict__)
    assert list(module._modules) == []
    assert type(module.buf) is torch.Tensor
    assert repr(vars(module.held) if isinstance(held, Counter) else module.held) == repr(
        vars(before.held) if isinstance(held, Counter) else before.held
    )


def test_a_hook_that_collects():
    features = []
    module = nn.Sequential(nn.ReLU())
    module.register_forward_hook(lambda mod, args, result: features.append(result))
    with pytest.raises(fx.TraceError):
        fx.symbolic_trace(module)
    assert features == []


class LooksFor(nn.Module):
    def forward(self, x):
        calls = getattr(self, "calls", 0)
        self.calls = calls + 1
        return x * calls


def test_an_attribute_that_is_looked_for_before_it_is_made():
    with pytest.raises(fx.TraceError, match="ST023"):
        fx.symbolic_trace(LooksFor())
