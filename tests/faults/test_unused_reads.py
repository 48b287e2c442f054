"""What a program computes and does not use is computed by the captured program, too: it may raise."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import symtrace as fx


def an_item(x: torch.Tensor) -> torch.Tensor:
    x[3]
    return x + 1


def an_item_by_a_size(x: torch.Tensor) -> torch.Tensor:
    x[x.shape[0] - 4]
    return x + 1


def a_view_by_a_property(x: torch.Tensor) -> torch.Tensor:
    x.mT  # noqa: B018
    return x + 1


@pytest.mark.parametrize(
    ("program", "example", "other"),
    [
        (an_item, torch.ones(4), torch.ones(3)),
        (an_item_by_a_size, torch.ones(4), torch.ones(1)),
        (a_view_by_a_property, torch.ones(2, 2), torch.ones(2)),
    ],
)
def test_a_read_that_nothing_uses_raises_where_it_does_in_eager(
    program: Callable[[torch.Tensor], torch.Tensor], example: torch.Tensor, other: torch.Tensor
) -> None:
    captured = fx.capture(program, (example,))
    assert captured(example).equal(program(example))
    for run in (program, captured):
        with pytest.raises((IndexError, RuntimeError)):
            run(other)


def test_sizes_and_parts_that_nothing_uses_leave_no_trace() -> None:
    def program(pair: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        x, _y = pair
        _size = x.shape[0] + 0
        return x * 2

    captured = fx.capture(program, ((torch.ones(2), torch.ones(3)),))
    reads = [node for node in captured.graph.nodes if node.target is getattr]
    assert not [node for node in reads if not node.users]
