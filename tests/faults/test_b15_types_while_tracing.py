"""B15: questions about a traced value's type get the answer that a tensor gives."""

# ruff: noqa: PT017 - where a refusal is allowed, what it says is checked in the except block

import numbers

import pytest
import torch
from torch import nn

import symtrace as fx

PROGRAMS = {
    "isinstance": lambda x: x * 2 if isinstance(x, torch.Tensor) else x,
    "isinstance of a tuple": lambda x: x * 2 if isinstance(x, (list, torch.Tensor)) else x,
    "isinstance of a union": lambda x: x * 2 if isinstance(x, torch.Tensor | None) else x,
    "not isinstance": lambda x: x if not isinstance(x, torch.Tensor) else x * 3,
    "is_tensor": lambda x: x * 2 if torch.is_tensor(x) else x,
    "after an operation": lambda x: x * 2 if isinstance(x + 1, torch.Tensor) else x,
    "of a list": lambda x: x[0] if isinstance(x, list) else x * 4,
    "of a number": lambda x: x if isinstance(x, numbers.Number) else x * 5,
    "of a parameter class": lambda x: x if isinstance(x, nn.Parameter) else x * 6,
    "of a module": lambda x: x if isinstance(x, nn.Module) else x * 7,
    "type comparison": lambda x: x * 8 if type(x) is torch.Tensor else x,
    "is None": lambda x: x if x is None else x * 9,
    "issubclass": lambda x: x * 2 if issubclass(type(x), torch.Tensor) else x,
    "callable": lambda x: x if callable(x) else x * 2,
    "hasattr": lambda x: x if hasattr(x, "no_such") else x * 2,
    "hasattr known": lambda x: x * 2 if hasattr(x, "shape") else x,
    "getattr default": lambda x: x * getattr(x, "no_such", 3),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_answer_or_refusal(name):
    program = PROGRAMS[name]
    try:
        gm = fx.symbolic_trace(program)
    except fx.TraceError as error:
        assert error.location is not None, name
        return
    assert gm(torch.tensor(3.0)).item() == program(torch.tensor(3.0)).item()


@pytest.mark.parametrize("name", ["isinstance", "is_tensor", "not isinstance", "after an operation"])
def test_the_common_checks_are_answered(name):
    program = PROGRAMS[name]
    assert fx.symbolic_trace(program)(torch.tensor(3.0)).item() == program(torch.tensor(3.0)).item()


def test_inside_a_submodule():
    class Checks(nn.Module):
        def forward(self, xs):
            return xs[0] if isinstance(xs, (list, tuple)) else xs + 1

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Checks()

        def forward(self, x):
            return self.inner(x) + self.inner([x, x])

    assert fx.symbolic_trace(Outer())(torch.tensor(2.0)).item() == 5.0


def test_isinstance_outside_a_trace_is_untouched():
    fx.symbolic_trace(PROGRAMS["isinstance"])
    assert not isinstance(3, torch.Tensor)
    assert isinstance(torch.ones(1), torch.Tensor)
