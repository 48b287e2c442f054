"""Comparisons by `is` are seen without a trace function, which would slow the whole program down."""

import linecache
import sys
import types

import pytest
import torch

import symtrace
from symtrace.errors import DataDependentError


@pytest.fixture
def installed(monkeypatch):
    """Return the trace functions that are put in force from now on."""
    found = []
    original = sys.settrace

    def settrace(function):
        if function is not None:
            found.append(function)
        original(function)

    monkeypatch.setattr(sys, "settrace", settrace)
    return found


def asks_one(x):
    y = x.float()
    return y + 1 if y is x else y + 2


def asks_inside(x):
    y = x.float()

    def asked():
        return y is not x

    return y + 1 if asked() else y + 2


def asks_nothing(x):
    return x + 1


class Asks(torch.nn.Module):
    __scale = 2.0

    def forward(self, x):
        y = super().__getattribute__("helped")(x.float())
        if y is x:
            return y
        return y * self.__scale

    def helped(self, x):
        return x


@pytest.mark.parametrize("program", [asks_one, asks_inside, Asks()])
def test_a_question_is_refused_without_a_trace_function(program, installed):
    with pytest.raises(DataDependentError, match="ST013"):
        symtrace.capture(program, (torch.ones(2, dtype=torch.int32),))
    assert not installed


def test_functions_are_as_they_were_afterwards():
    before = asks_one.__code__
    with pytest.raises(DataDependentError):
        symtrace.capture(asks_one, (torch.ones(2),))
    assert asks_one.__code__ is before


def test_a_program_that_asks_nothing_runs_without_a_trace_function(installed):
    symtrace.capture(asks_nothing, (torch.ones(2),))
    assert not installed


def test_a_function_without_text_runs_with_a_trace_function(installed):
    names = {"__name__": "program"}
    exec("def program(x):\n    y = x.float()\n    return y + 1 if y is x else y + 2", names)
    program = names["program"]
    assert isinstance(program, types.FunctionType)
    assert not linecache.getlines(program.__code__.co_filename)
    with pytest.raises(DataDependentError, match="ST013"):
        symtrace.capture(program, (torch.ones(2),))
    assert installed


@pytest.mark.parametrize("other", [None, "an object"])
def test_answers_that_are_known_are_given(other):
    def program(x, option=other):
        flag = option is None
        return x + 1 if flag else x * 2

    captured = symtrace.capture(program, (torch.ones(2),))
    assert torch.equal(captured(torch.ones(2)), program(torch.ones(2)))
