"""`torch._check` and its like on what the data decides."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import symtrace
from symtrace.errors import TraceError


def sum_is_positive(x: torch.Tensor) -> torch.Tensor:
    torch._check(x.sum().item() > 0, lambda: "sum must be positive")
    return x + 1


def all_are_small(x: torch.Tensor) -> torch.Tensor:
    torch._check_tensor_all_with(ValueError, x < 5, lambda: "too large")
    return x * 2


def without_message(x: torch.Tensor) -> torch.Tensor:
    torch._check_index((x > 0).sum().item() > 1)
    return x - 1


def outcome(function: Any, x: torch.Tensor) -> Any:
    """Return what a function gives or raises."""
    try:
        return function(x)
    except Exception as error:
        return error


GIVEN = (torch.ones(3), -torch.ones(3), torch.ones(3) * 7, torch.tensor([-1.0, 2.0, 3.0]))


@pytest.mark.parametrize("function", [sum_is_positive, all_are_small, without_message])
@pytest.mark.parametrize("example", [GIVEN[0], GIVEN[1]])
def test_a_check_raises_at_the_run_what_it_raises_in_eager(function: Any, example: torch.Tensor) -> None:
    captured = symtrace.capture(function, (example,))

    for x in GIVEN:
        expected, actual = outcome(function, x), outcome(captured, x)
        assert type(actual) is type(expected)
        if isinstance(expected, Exception):
            assert str(expected).partition(". (")[0] in str(actual)
        else:
            torch.testing.assert_close(actual, expected)


def test_a_check_that_the_program_handles_is_refused() -> None:
    def handles(x: torch.Tensor) -> torch.Tensor:
        try:
            torch._check(x.sum().item() > 0)
        except RuntimeError:
            return x - 1
        return x + 1

    with pytest.raises(TraceError):
        symtrace.capture(handles, (torch.ones(3),))


def test_checks_are_torchs_own_outside_of_a_capture() -> None:
    symtrace.capture(sum_is_positive, (torch.ones(3),))

    assert torch._check_with.__module__ == "torch"
    with pytest.raises(RuntimeError, match="is wrong"):
        torch._check(False, lambda: "is wrong")
