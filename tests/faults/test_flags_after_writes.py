"""Whether a tensor requires gradients is asked where the program asks: after a write it may be another answer."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import symtrace as fx


def by_an_item(x: torch.Tensor) -> torch.Tensor:
    v = torch.zeros(3)
    v[:] = x
    return v * v.requires_grad


def by_a_method(x: torch.Tensor) -> torch.Tensor:
    v = torch.zeros(3)
    v.add_(x)
    return v * 2 if v.is_leaf else v


def through_a_view(x: torch.Tensor) -> torch.Tensor:
    v = torch.zeros(3)
    part = v[:2]
    v.add_(x)
    return part * part.requires_grad


def before_and_after(x: torch.Tensor) -> torch.Tensor:
    v = torch.zeros(3)
    before = 1 if v.requires_grad else 2
    v.index_put_((torch.tensor([0]),), x[:1])
    after = 3 if v.requires_grad else 4
    return v * before + after


def of_an_input(x: torch.Tensor) -> torch.Tensor:
    before = x.requires_grad
    y = x * 1
    y[0] = 2
    return y * y.requires_grad + before


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize(
    "program",
    [by_an_item, by_a_method, through_a_view, before_and_after, of_an_input],
    ids=lambda f: f.__name__,
)
def test_what_is_written_tells_whether_a_tensor_requires_gradients(
    program: Callable[[torch.Tensor], torch.Tensor], requires_grad: bool
) -> None:
    captured = fx.capture(program, (torch.ones(3).requires_grad_(requires_grad),))
    x = torch.tensor([1.0, 2.0, 3.0])
    assert captured(x.clone().requires_grad_(requires_grad)).equal(
        program(x.clone().requires_grad_(requires_grad))
    )
    with pytest.raises(fx.GuardError):
        captured(x.clone().requires_grad_(not requires_grad))


@pytest.mark.parametrize("requires_grad", [False, True])
def test_a_write_without_gradients_changes_nothing(requires_grad: bool) -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        v = torch.zeros(3)
        with torch.no_grad():
            v.copy_(x)
        return v if v.requires_grad else v * 2

    captured = fx.capture(program, (torch.ones(3),))
    x = torch.ones(3).requires_grad_(requires_grad)
    assert captured(x).equal(program(x))
