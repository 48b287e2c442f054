"""Decisions that rest on a training flag alone, as long as it is what it is at the capture."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

import symtrace
from symtrace.errors import GuardError, TraceError


class Cache:
    def __init__(self) -> None:
        self.seen: list[torch.Tensor] = []

    def update(self, x: torch.Tensor) -> torch.Tensor:
        self.seen.append(x)
        return torch.stack(self.seen).sum(0)


class Drops(nn.Module):
    """Leaves out layers by chance in training; the layers fill a cache."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])
        self.layerdrop = 0.5

    def forward(self, x: torch.Tensor) -> Any:
        cache, is_synced = Cache(), False
        for layer in self.layers:
            skips: Any = False
            if self.training and self.layerdrop > 0.0:
                skips = torch.rand([]) < self.layerdrop
            if not skips or is_synced:
                x = cache.update(layer(x))
            if skips:
                continue
        return x, len(cache.seen)


@pytest.mark.parametrize("examples", [(torch.ones(2, 3),), ()], ids=["example", "none"])
def test_a_way_that_can_not_be_kept_is_not_taken_as_long_as_the_flag_is_as_it_was(examples: Any) -> None:
    module = Drops().eval()
    captured = symtrace.capture(module, examples)

    x = torch.randn(4, 3)
    torch.testing.assert_close(captured(x), module(x))
    with pytest.raises(GuardError, match="training"):
        captured.train()(x)
    torch.testing.assert_close(captured.eval()(x), module(x))


def test_a_way_that_chance_decides_is_refused_in_training() -> None:
    with pytest.raises(TraceError):
        symtrace.capture(Drops(), (torch.ones(2, 3),))


class Several(nn.Module):
    """Asks two flags, and one of them through a value of several kinds."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Dropout(0.5)

    def forward(self, x: torch.Tensor) -> Any:
        cache = Cache()
        skips: Any = self.inner.training
        if self.training:
            skips = x.sum() > 0
        if not skips:
            x = cache.update(x)
        return x, len(cache.seen)


def test_each_flag_is_checked() -> None:
    module = Several().eval()
    captured = symtrace.capture(module, (torch.ones(3),))

    x = torch.randn(3)
    torch.testing.assert_close(captured(x), module(x))
    for changed in ("", "inner"):
        captured.eval().get_submodule(changed).training = True
        with pytest.raises(GuardError):
            captured(x)


class MayKeep(nn.Module):
    """Makes a cache where a value asks for it that is what the flag decides."""

    def read(self, x: torch.Tensor, cache: Cache | None) -> torch.Tensor:
        return x if cache is None else cache.update(x)

    def forward(self, x: torch.Tensor, cache: Cache | None = None) -> Any:
        keeps = True if not self.training else False  # noqa: SIM210 - as a decision
        if keeps and cache is None:
            cache = Cache()
        x = self.read(x * 2, cache)
        return x, cache is not None


@pytest.mark.parametrize("training", [False, True])
def test_an_object_that_a_flag_decides_on_through_a_value_is_there_or_not(training: bool) -> None:
    module = MayKeep().train(training)
    captured = symtrace.capture(module, (torch.ones(3),))

    x = torch.randn(3)
    torch.testing.assert_close(captured(x), module(x))
    captured.train(not training)
    module.train(not training)
    try:
        actual = captured(x)
    except GuardError:
        return
    torch.testing.assert_close(actual, module(x))
