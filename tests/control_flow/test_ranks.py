"""Tensors that have as many dimensions as the data decides, and lists that grow where the other way raises."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import symtrace
from symtrace.errors import DataDependentError, GuardError

UP, DOWN, FEW = (
    torch.arange(1.0, 7.0),
    -torch.arange(1.0, 7.0),
    torch.tensor([-1.0, 2.0, -3.0, 4.0, 5.0, -6.0]),
)


def picked(x: torch.Tensor) -> torch.Tensor:
    """Two dimensions if nothing is left, else three."""
    x = x[x > 0]
    y = x[:, None] * torch.ones(6)
    count = 0
    for size in (x.shape[0],):
        count += size
    if count > 0:
        y = y.reshape(count, -1, 2)
    return y


def split(x: torch.Tensor) -> Any:
    y = picked(x)
    return [part[:, 1:].reshape(-1, 2) for part in y.split([y.size(0)], 0)]


def shape(x: torch.Tensor) -> torch.Tensor:
    y = picked(x)
    even, odd = y[..., 0::2], y[..., 1::2]
    return torch.stack((even, odd), dim=y.dim()).reshape(y.shape)


def rank(x: torch.Tensor) -> torch.Tensor:
    return torch.ones(3) * picked(x).dim() + picked(x).ndim


def size(x: torch.Tensor) -> Any:
    return picked(x).shape[-1], picked(x).size(0)


def decision(x: torch.Tensor) -> torch.Tensor:
    y = picked(x)
    return y.sum(-1) if y.dim() == 3 else y + 1


def of_two(x: torch.Tensor) -> Any:
    one, two = picked(x), picked(-x)
    return one.sum() + two.sum(), (one.new_ones(6) + two.new_ones(6)).dim()


def in_a_loop(x: torch.Tensor) -> torch.Tensor:
    y = picked(x)
    for row in x[x > 1]:
        y = y + row
    return y


@pytest.mark.parametrize("function", [split, shape, rank, size, decision, of_two, in_a_loop])
@pytest.mark.parametrize("example", [UP, DOWN, FEW], ids=["all", "none", "few"])
def test_a_tensor_of_one_of_two_numbers_of_dimensions_is_what_it_is_in_eager(
    function: Any, example: Any
) -> None:
    captured = symtrace.capture(function, (example,))

    for given in (UP, DOWN, FEW):
        expected, actual = function(given), captured(given)
        torch.testing.assert_close(actual, expected, rtol=0, atol=0)


def sums(x: torch.Tensor) -> Any:
    one, two = picked(x), picked(x * torch.tensor([1.0, -1.0, 1.0, -1.0, 1.0, -1.0]))
    both = one.sum(0) + two.sum(0)
    return both, both.dim()


def sizes_in_a_list(x: torch.Tensor) -> Any:
    sizes = []
    while x.sum() > 3:
        sizes.append(1)
        x = x * 0.5
    sizes.append(6)
    y = x.new_ones(sizes)
    return y, y.dim() + (y + torch.ones(1, 6)).dim()


def reshaped(x: torch.Tensor) -> Any:
    sizes = [6]
    while x.sum() > 3:
        sizes.append(1)
        x = x * 0.5
    return x.reshape(sizes)


@pytest.mark.parametrize("function", [sums, sizes_in_a_list])
def test_any_number_of_dimensions_is_never_taken_for_that_of_the_example(function: Any) -> None:
    captured = symtrace.capture(function, (UP,))

    for given in (UP, DOWN, FEW, UP * 9, UP / 100):
        try:
            expected: Any = function(given)
        except RuntimeError:
            with pytest.raises(RuntimeError):
                captured(given)
            continue
        try:
            actual = captured(given)
        except GuardError:
            continue
        torch.testing.assert_close(actual, expected, rtol=0, atol=0)


def test_sizes_that_do_not_fit_what_was_made_up_are_refused_by_line() -> None:
    with pytest.raises(DataDependentError, match="x.reshape") as caught:
        symtrace.capture(reshaped, (UP,))

    assert caught.value.code == "ST013"


class Collects(torch.nn.Module):
    """Fills a list on the way of a flag on which it does not raise."""

    def forward(self, x: torch.Tensor, wanted: torch.Tensor | None = None) -> Any:
        result: list[dict[str, torch.Tensor]] = []
        if self.training:
            if wanted is None:
                raise ValueError("wanted should not be None")
            result.append({"x": wanted})
        else:
            for row in x.unbind():
                result.append({"x": row})
        return [one["x"] * 2 for one in result]


def test_a_list_that_is_filled_where_the_other_way_raises_has_a_known_length() -> None:
    module = Collects().eval()
    captured = symtrace.capture(module, (torch.ones(2, 3),))

    x = torch.randn(2, 3)
    torch.testing.assert_close(captured(x), module(x))
    with pytest.raises((ValueError, GuardError)):
        captured.train()(x)


def clipped(boxes: torch.Tensor, image: torch.Tensor) -> torch.Tensor:
    found = []
    for box in boxes[boxes[:, 1] > boxes[:, 0]]:
        low, high = max(box[0], 0), min(box[1] + 1, image.shape[0])
        found.append(image[low:high].sum() + (low - box[0]))
    return torch.stack(found) if len(found) > 0 else boxes.new_zeros(0)


def test_the_greatest_of_a_tensor_and_a_number_is_either() -> None:
    example = torch.tensor([[-2, 3], [1, 4], [5, 2]]), torch.randn(6)
    captured = symtrace.capture(clipped, example)

    for boxes in (example[0], example[0] + 2, example[0][:1], example[0][2:]):
        image = torch.randn(5)
        torch.testing.assert_close(captured(boxes, image), clipped(boxes, image))


def unknown(x: torch.Tensor) -> Any:
    """A tensor of which nothing is known: the ways differ in the type."""
    return x.sum(-1, keepdim=True) if x.sum() > 0 else x.long()


def is_skipped(mask: Any, size: int | None, is_exporting: bool) -> Any:
    if not is_exporting and (mask is None or mask.all()) and (size is None or size > 3):
        return True
    return size is None and is_exporting


def skips(x: torch.Tensor) -> torch.Tensor:
    return x + 1 if is_skipped(unknown(x), None, False) else x - 1


@pytest.mark.parametrize("example", [UP, DOWN], ids=["up", "down"])
def test_a_value_of_which_nothing_is_known_or_a_bool_decides(example: torch.Tensor) -> None:
    captured = symtrace.capture(skips, (example,))

    for given in (UP, DOWN, UP - 1, UP - 6):
        torch.testing.assert_close(captured(given), skips(given))


def drawn(x: torch.Tensor) -> torch.Tensor:
    valid = (x > 0).nonzero()
    count = valid.size(0)
    most = min(x.max().long(), 4)
    if most <= count:
        chosen = valid[torch.multinomial(torch.ones(count), most)]
    else:
        chosen = torch.cat(
            [valid, valid[torch.multinomial(torch.ones(count), most - count, replacement=True)]]
        )
    return chosen.view(-1, 1).shape[-1] * x[chosen[:, 0]]


@pytest.mark.parametrize("example", [UP, FEW], ids=["fewer", "more"])
def test_as_many_as_the_data_tells_are_drawn(example: torch.Tensor) -> None:
    captured = symtrace.capture(drawn, (example,))

    for given in (UP, FEW, UP - 4, UP * torch.tensor([-1.0, -1.0, -1.0, -1.0, 1.0, -1.0])):
        torch.manual_seed(3)
        expected = drawn(given)
        torch.manual_seed(3)
        torch.testing.assert_close(captured(given), expected)
