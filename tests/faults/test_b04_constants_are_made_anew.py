"""B4: a tensor built in `forward` is built at every call."""

import pytest
import torch

import symtrace as fx


def zeros(x):
    y = torch.zeros(3)
    y += x
    return y


def ones_add(x):
    y = torch.ones(3)
    y.add_(x)
    return y


def literal(x):
    y = torch.tensor([1.0, 2.0, 3.0])
    y.mul_(x + 1)
    return y


def filled(x):
    y = torch.full((3,), 5.0)
    y[0] = x[0]
    return y * 1


def full_of_out(x):
    y = torch.empty(3)
    torch.add(x, 1, out=y)
    return y


def from_list_with_view(x):
    y = torch.arange(3.0)
    y.view(-1).add_(x)
    return y


def returned(x):
    return torch.zeros(3)


def keyword_like(x):
    y = torch.zeros_like(torch.ones(3))
    y -= x
    return y


PROGRAMS = [zeros, ones_add, literal, filled, full_of_out, from_list_with_view, returned, keyword_like]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_repeated_calls_do_not_share(program):
    gm = fx.symbolic_trace(program)
    x = torch.tensor([1.0, 2.0, 3.0])
    for _ in range(3):
        out = gm(x)
        assert torch.equal(out, program(x))
        out.add_(100)  # the caller may write to its result


def test_nothing_is_stored():
    assert list(fx.symbolic_trace(zeros).state_dict()) == []
