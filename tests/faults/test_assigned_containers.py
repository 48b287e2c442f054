"""Containers assigned to an attribute and filled afterwards are, after the call, what they are in eager."""

import copy

import pytest
import torch
from torch import nn
from torch.utils import _pytree as pytree

import symtrace
from symtrace.errors import GuardError


class Filled(nn.Module):
    def __init__(self, fill):
        super().__init__()
        self.fill = fill
        self.kept = None
        self.inner = nn.Linear(2, 2)

    def forward(self, x):
        return self.fill(self, x)


def a_list(self, x):
    self.kept = []
    for _ in range(3):
        x = self.inner(x)
        self.kept.append(x)
    return self.kept[1] + 1


def a_dict(self, x):
    self.kept = {"first": x}
    self.kept["second"] = x * 2
    del self.kept["first"]
    return x


def nested(self, x):
    self.kept = {"rows": [], "pair": ([x],)}
    self.kept["rows"].append(x + 1)
    self.kept["pair"][0].append(x + 2)
    return self.kept["rows"][0]


def by_another_name(self, x):
    kept = []
    self.kept = kept
    kept.extend([x, x * 3])
    kept.reverse()
    return x


def assigned_twice(self, x):
    self.kept = first = [x]
    self.kept = [x + 1]
    first.append(x)
    self.kept.append(x + 2)
    return x


def on_one_way(self, x):
    self.kept = [x]
    if self.training:
        self.kept = []
        self.kept.append(x * 2)
        return x
    return x + 1


PROGRAMS = [a_list, a_dict, nested, by_another_name, assigned_twice]


def state_of(model):
    return pytree.tree_flatten(model.kept)


def assert_same(module, model, x):
    assert torch.equal(module(x), model(x))
    (mine, my_spec), (theirs, their_spec) = state_of(module), state_of(model)
    assert my_spec == their_spec
    assert all(map(torch.equal, mine, theirs))


@pytest.mark.parametrize("door", ["symbolic_trace", "capture", "examples"])
@pytest.mark.parametrize("fill", PROGRAMS, ids=lambda fill: fill.__name__)
def test_what_is_filled_after_it_was_assigned_is_there_after_each_call(fill, door):
    model = Filled(fill)
    if door == "symbolic_trace":
        module = symtrace.symbolic_trace(model)
    else:
        module = symtrace.capture(model, (torch.ones(1, 2),) if door == "examples" else None)
    assert model.kept is None
    model = copy.deepcopy(model)
    for x in (torch.randn(1, 2), torch.randn(1, 2)):
        assert_same(module, model, x)


@pytest.mark.parametrize("examples", [None, (torch.ones(1, 2),)], ids=["capture", "examples"])
def test_a_container_of_one_way_is_filled_on_that_way(examples):
    model = Filled(on_one_way)
    module = symtrace.capture(model, examples)
    for mode in (True, False, True):
        assert_same(module.train(mode), model.train(mode), torch.randn(1, 2))


def after_both_ways(self, x):
    if self.training:
        kept = []
        self.kept = kept
    else:
        kept = [x]
    kept.append(x)
    return x


def test_where_one_way_cannot_be_kept_the_other_is_right_and_the_flag_is_guarded():
    model = Filled(after_both_ways)
    module = symtrace.capture(model, (torch.ones(1, 2),))
    assert_same(module, model, torch.randn(1, 2))
    with pytest.raises(GuardError, match="training"):
        module.eval()(torch.randn(1, 2))
