"""An exception that only one way of a decision raises is not recorded where the program would handle it."""

import pytest
import torch

import symtrace
from symtrace.errors import TraceError


def raises_inside(x):
    try:
        if x.sum() > 0:
            raise ValueError
        return x
    except ValueError:
        return -x


def checked(x):
    if x.sum() > 0:
        raise ValueError("too large")
    return x


def raises_in_a_helper(x):
    try:
        return checked(x)
    except ValueError:
        return -x


@pytest.mark.parametrize("example", [None, (torch.ones(3),)])
@pytest.mark.parametrize("program", [raises_inside, raises_in_a_helper])
def test_it_is_refused_by_its_line(program, example):
    with pytest.raises(TraceError) as caught:
        symtrace.capture(program, example)
    assert caught.value.location.file == __file__


def test_one_that_nobody_handles_is_kept():
    module = symtrace.capture(checked)
    assert torch.equal(module(-torch.ones(2)), -torch.ones(2))
    with pytest.raises(ValueError, match="too large"):
        module(torch.ones(2))
