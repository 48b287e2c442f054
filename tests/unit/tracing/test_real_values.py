"""Captures that follow what the data of the examples decides: `values="real"`, and tensors in `concrete_args`."""

import copy
import threading

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import symtrace
from symtrace.errors import ArgumentError, DataDependentError, GuardError


def by_sum(x):
    if x.sum() > 0:
        return x + 1
    return x * 2


def by_number(x):
    return [x * i for i in range(int(x.max()))]


def by_lengths(x):
    return [part.sum() for part in x[1:].split(x[:3].long().tolist())]


def by_found(x):
    found = x.nonzero()
    if len(found) > 2:
        return found.sum()
    return x.sum()


def by_rows(x):
    total = x.sum() * 0
    for row in x[x > 1]:
        total = total * 2 + row
    return total


def after_write(x):
    y = x.clone()
    y.add_(-2)
    y[0] = 5
    return y if y.sum() > 0 else -y


def in_modes(x):
    with torch.no_grad():
        y = (x * 3).sum()
        if y > 1:
            y = y + 1
    return y if not y.requires_grad else y * 2


PROGRAMS = [by_sum, by_number, by_found, by_rows, after_write, in_modes]


def is_same(one, two):
    if isinstance(one, list):
        return len(one) == len(two) and all(map(torch.equal, one, two))
    return torch.equal(one, two)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_decision_on_data_follows_the_example_and_is_guarded(program):
    example = torch.tensor([1.0, 2.0, 1.0, 3.0, 2.0])
    given = example.clone()
    module = symtrace.capture(program, (given,), values="real")
    assert torch.equal(given, example)
    assert is_same(module(example.clone()), program(example.clone()))
    assert module.guards
    for other in (-example, torch.tensor([2.0, 1.0, 1.0, 0.0, 0.0]), torch.zeros(5)):
        try:
            result = module(other.clone())
        except GuardError:
            continue
        assert is_same(result, program(other.clone()))
    with pytest.raises(GuardError):
        module(torch.zeros(5))


def test_sizes_that_data_gives_need_no_guard_where_nothing_is_decided():
    module = symtrace.capture(by_lengths, (torch.tensor([1.0, 2.0, 1.0, 3.0, 2.0]),), values="real")
    other = torch.tensor([0.0, 1.0, 3.0, 4.0, 5.0])
    assert is_same(module(other), by_lengths(other))


@pytest.mark.parametrize("door", [symtrace.symbolic_trace, symtrace.capture])
def test_a_tensor_in_concrete_args_is_an_example_whose_data_decides(door):
    def program(x, y):
        return y + 1 if x.sum() > 0 else y * 2

    module = door(program, concrete_args={"x": torch.ones(2)})
    y = torch.arange(3.0)
    assert torch.equal(module(torch.ones(4), y), y + 1)
    with pytest.raises(GuardError, match=r"x\.sum\(\) > 0"):
        module(-torch.ones(2), y)


def test_an_input_without_an_example_decides_nothing():
    def program(x, y):
        return y + 1 if (x + y).sum() > 0 else y * 2

    with pytest.raises(DataDependentError, match="ST012"):
        symtrace.symbolic_trace(program, concrete_args={"x": torch.ones(2)})


def test_a_tensor_inside_a_nested_argument_is_an_example():
    def program(pair):
        return pair[1] + 1 if pair[0].sum() > 0 else pair[1] * 2

    module = symtrace.symbolic_trace(program, concrete_args={"pair": (torch.ones(2), symtrace.PH)})
    assert torch.equal(module((torch.ones(2), torch.zeros(2))), torch.ones(2))
    with pytest.raises(GuardError):
        module((-torch.ones(2), torch.zeros(2)))


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(()))
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x):
        self.seen += 1
        y = self.norm(x)
        if self.training:
            y = F.dropout(y, 0.5, True)
        if self.seen > 1:
            return -y
        return y


def test_state_that_decides_is_followed_as_the_run_before_left_it():
    model = Counting().eval()
    before = copy.deepcopy(model.state_dict())
    torch.manual_seed(7)
    drawn = torch.get_rng_state()
    module = symtrace.capture(
        model, (torch.randn(3, 4, generator=torch.Generator().manual_seed(0)),), values="real"
    )
    assert torch.equal(torch.get_rng_state(), drawn)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    x = torch.randn(5, 4)
    assert torch.equal(module(x), copy.deepcopy(model)(x))
    with pytest.raises(GuardError, match="seen"):
        module(x)


def test_the_flag_for_training_is_still_kept_both_ways():
    def program(self, x):
        y = x * 2 if self.training else x * 3
        return y if x.sum() > 0 else -y

    model = type("Model", (nn.Module,), {"forward": program})()
    module = symtrace.capture(model, (torch.ones(2),), values="real")
    for mode in (True, False):
        model.train(mode)
        module.train(mode)
        assert torch.equal(module(torch.ones(2)), model(torch.ones(2)))


def test_what_random_draws_decide_is_kept_as_a_decision():
    def program(x):
        return x + 1 if (torch.rand(()) > 0.5) else x - 1

    module = symtrace.capture(program, (torch.ones(2),), values="real")
    results = set()
    for seed in range(8):
        torch.manual_seed(seed)
        mine = module(torch.ones(2))
        torch.manual_seed(seed)
        assert torch.equal(mine, program(torch.ones(2)))
        results.add(mine[0].item())
    assert results == {0.0, 2.0}


def test_a_module_that_cannot_be_copied_is_refused_with_the_reason():
    model = nn.Linear(2, 2)
    model.lock = threading.Lock()
    with pytest.raises(ArgumentError, match="lock"):
        symtrace.capture(model, (torch.ones(1, 2),), values="real")


def test_another_word_for_values_is_refused():
    with pytest.raises(ArgumentError, match="'fake' or 'real'"):
        symtrace.capture(by_sum, (torch.ones(1),), values="true")


def test_a_capture_again_follows_the_data_of_the_call_as_well():
    module = symtrace.capture(by_number, (torch.tensor([2.0]),), values="real", on_guard_failure="recapture")
    for most in (2.0, 3.0, 1.0, 3.0):
        x = torch.tensor([most, 0.5])
        assert is_same(module(x), by_number(x))


def test_a_capture_again_keeps_decisions_as_the_first_one_did():
    def program(x):
        y = x * 2 if x.shape[0] > 2 else x * 3
        return y if y.sum() > 0 else -y

    module = symtrace.capture(program, (torch.ones(2),), on_guard_failure="recapture")
    for x in (torch.ones(2), torch.ones(3), -torch.ones(3), -torch.ones(2)):
        assert torch.equal(module(x), program(x))
