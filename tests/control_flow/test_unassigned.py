"""Tuples that one way of a decision leaves unassigned."""

from __future__ import annotations

import pytest
import torch

import symtrace


def twice_asked(x: torch.Tensor) -> torch.Tensor:
    has_large = (x > 2).flatten().any().item()
    if has_large:
        count, places, rest = (x > 2).sum(), (x > 2).nonzero(as_tuple=True), (x * 2, (x + 1, 3))
    y = x * 1
    if has_large:
        y[places[::-1]] = count.float()
        first, (second, third) = rest
        y = y + first + second * third
    return y


@pytest.mark.parametrize("example", [torch.zeros(4, 4), torch.arange(16.0).view(4, 4)], ids=["none", "some"])
def test_a_tuple_that_one_way_assigns_is_used_where_the_same_is_asked_again(example: torch.Tensor) -> None:
    captured = symtrace.capture(twice_asked, (example,))

    for shift in range(6):
        x = torch.randn(4, 4) + shift / 2
        torch.testing.assert_close(captured(x), twice_asked(x))
    assert not captured.guards


def unassigned(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        pair = (x, 1)
    return pair[0] + pair[1]


def test_a_tuple_without_a_value_raises_where_it_is_read() -> None:
    captured = symtrace.capture(unassigned, (torch.ones(2),))

    torch.testing.assert_close(captured(torch.ones(2)), unassigned(torch.ones(2)))
    with pytest.raises(UnboundLocalError, match="pair"):
        captured(-torch.ones(2))


def empty_or_not(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        found = ()
    if x.sum() > 1:
        found = (x,)
    return x + len(found)


def test_an_empty_tuple_of_one_way_is_not_taken_for_what_the_other_has() -> None:
    captured = symtrace.capture(empty_or_not, (torch.ones(2),))

    for x in (torch.ones(2), torch.full((2,), 0.25)):
        torch.testing.assert_close(captured(x), empty_or_not(x))
    with pytest.raises(UnboundLocalError, match="found"):
        captured(-torch.ones(2))
