"""Models built without the time that their random weights take, which is most of it for the large ones."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

LARGE = 4096
SLOW = ("kaiming_normal_", "kaiming_uniform_", "normal_", "trunc_normal_", "uniform_", "xavier_uniform_")


@contextlib.contextmanager
def _large_ones_left_out() -> Iterator[None]:
    """Within it the functions of `nn.init` leave large tensors as they are."""

    def skipping(initialise: Callable[..., Any]) -> Callable[..., Any]:
        def skip(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            return tensor if tensor.numel() > LARGE else initialise(tensor, *args, **kwargs)

        return skip

    places = [(nn.init, name) for name in SLOW]
    places.append((nn.modules.activation, "xavier_uniform_"))  # attention imports it by name
    with contextlib.ExitStack() as stack:
        for place, name in places:
            stack.callback(setattr, place, name, getattr(place, name))
            setattr(place, name, skipping(getattr(place, name)))
        yield


@torch.no_grad()
def _fill(parameter: torch.Tensor, block: torch.Tensor) -> None:
    """Fill with a block that repeats, scaled so that activations neither vanish nor overflow."""
    flat = parameter.view(-1)
    block = block * (2 * parameter.shape[0] / parameter.numel()) ** 0.5
    whole = flat.numel() // block.numel() * block.numel()
    flat[:whole].view(-1, block.numel()).copy_(block)
    flat[whole:].copy_(block[: flat.numel() - whole])


def built(make: Callable[[], nn.Module]) -> nn.Module:
    """Return the model that `make` builds, with seeded weights: drawn for small tensors, repeating in large ones."""
    torch.manual_seed(0)
    with _large_ones_left_out():
        model = make()
    block = torch.randn(65537)  # odd, so that no two rows of a weight are the same
    for parameter in model.parameters():
        if parameter.numel() > LARGE:
            _fill(parameter, block)
    return model
