"""What depends on how a caller calls is asked at each call, or guarded: never what it was at the capture."""

from __future__ import annotations

import pytest
import torch

import symtrace
from symtrace.errors import GuardError


def by_autocast(x):
    if torch.is_autocast_enabled("cpu"):
        return x.to(torch.get_autocast_dtype("cpu"))
    return x


def to_type_of_autocast(x):
    return x.to(torch.get_autocast_dtype("cpu"))


def asks_without_gradients(x):
    with torch.no_grad():
        return x + (1 if torch.is_autocast_enabled("cpu") else 2)


@pytest.mark.parametrize("examples", [False, True])
@pytest.mark.parametrize("program", [by_autocast, to_type_of_autocast, asks_without_gradients])
def test_autocast_of_the_caller(program, examples):
    x = torch.ones(3)
    captured = symtrace.capture(program, (x,) if examples else ())
    assert torch.equal(captured(x), program(x))
    with torch.autocast("cpu", dtype=torch.float16):
        expected = program(x)
        try:
            actual = captured(x)
        except GuardError:
            return
    assert actual.dtype == expected.dtype
    assert torch.equal(actual, expected)


def test_an_autocast_of_the_program_has_its_own_type():
    def program(x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return x @ x

    captured = symtrace.capture(program, (torch.ones(3, 3),))
    assert captured(torch.ones(3, 3)).dtype == torch.bfloat16


def by_class(x, y):
    return x + 1 if isinstance(y, torch.Tensor) else x + y


def test_an_input_that_is_tested_for_its_class_is_checked():
    x = torch.ones(3)
    captured = symtrace.capture(by_class, (x, x))
    assert torch.equal(captured(x, x), by_class(x, x))
    with pytest.raises(GuardError, match="isinstance"):
        captured(x, 2.0)


def test_one_that_fails_anyway_needs_no_guard():
    def program(x, y):
        return x + torch.relu(y) if isinstance(y, torch.Tensor) else x

    captured = symtrace.capture(program, (torch.ones(3), torch.ones(3)))
    assert not any("isinstance" in guard.condition for guard in captured.guards)


def leaves(x):
    first = torch.zeros_like(x, requires_grad=True)
    second = torch.zeros_like(x, requires_grad=True)
    return x + (1 if first.requires_grad else 2) + (10 if second.requires_grad and second.is_leaf else 20)


def test_each_leaf_that_asks_for_gradients_is_one():
    captured = symtrace.capture(leaves, (torch.ones(3),))
    assert torch.equal(captured(torch.ones(3)), leaves(torch.ones(3)))


def annotated(x):
    def inner(value: NotDefined) -> NotDefinedEither:  # noqa: F821 - as under TYPE_CHECKING
        return value + 1

    return inner(x) if x.sum() > 0 else x


@pytest.mark.parametrize("examples", [False, True])
def test_annotations_that_are_not_evaluated_stay_so(examples):
    captured = symtrace.capture(annotated, (torch.ones(3),) if examples else ())
    for x in (torch.ones(3), -torch.ones(3)):
        assert torch.equal(captured(x), annotated(x))
