"""Programs of thousands of operations, and of values that are used many times over, are captured."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import symtrace as fx


def before_a_decision(x):
    y = x
    for _ in range(3000):
        y = y + 1
    return y * 2 if y.sum() > 0 else y


def on_one_way(x):
    y = x
    if x.sum() > 0:
        for _ in range(3000):
            y = y + 1
    return y


def of_a_number_of_the_data(x):
    n = x.sum().item()
    for _ in range(3000):
        n = n + 1
    return x * 2 if n > 3 else x + n


def of_a_size(x):
    n = x.shape[0]
    for _ in range(3000):
        n = n + 1
    return x.new_zeros(n) if n > 3 else x


def carried_by_a_loop(x):
    n = 0
    while n < x.sum():
        for _ in range(3000):
            n = n + 1
    return x + n


def doubled(x):
    y = x
    for _ in range(100):  # each value is used twice: 2 ** 100 ways lead back to the input
        y = (y + y) / 2
    return y * 2 if y.sum() > 0 else y


def doubled_number(x):
    n = x.sum().item()
    for _ in range(100):
        n = (n + n) / 2
    return x * 2 if n > 3 else x


PROGRAMS = [
    before_a_decision, on_one_way, of_a_number_of_the_data, of_a_size, carried_by_a_loop, doubled, doubled_number,
]  # fmt: skip


@pytest.mark.parametrize("with_example", [False, True])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_a_long_program_is_captured(
    program: Callable[[torch.Tensor], torch.Tensor], with_example: bool
) -> None:
    captured = fx.capture(program, (torch.ones(3),) if with_example else None)
    for x in (torch.ones(3), torch.full((3,), 2.0)):
        torch.testing.assert_close(captured(x), program(x))
