"""A number that is read from a tensor is an int or a float as the dtype tells: without examples, nobody knows."""

import pytest
import torch

import symtrace
from symtrace.errors import DataDependentError


def asks_for_an_instance(x):
    count = x.sum().item() + 1
    return x + 1 if isinstance(count, int) else x - 1


def asks_for_the_type(x):
    count = x.sum().item()
    return x + 1 if type(count) is float else x - 1


def asks_for_any_number(x):
    count = x.sum().item()
    return x * count if isinstance(count, (int, float)) else x


@pytest.mark.parametrize("door", [symtrace.symbolic_trace, symtrace.capture])
@pytest.mark.parametrize("program", [asks_for_an_instance, asks_for_the_type])
def test_the_question_is_refused_without_examples(program, door):
    with pytest.raises(DataDependentError):
        door(program)


@pytest.mark.parametrize("program", [asks_for_an_instance, asks_for_the_type])
@pytest.mark.parametrize("example", [torch.ones(3), torch.ones(3, dtype=torch.int64)])
def test_with_an_example_it_is_answered(program, example):
    assert torch.equal(symtrace.capture(program, (example,))(example), program(example))


def test_a_question_that_both_answer_alike_is_answered():
    module = symtrace.symbolic_trace(asks_for_any_number)
    for x in (torch.arange(3), torch.rand(3)):
        assert torch.equal(module(x), asks_for_any_number(x))
