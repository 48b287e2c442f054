"""Decisions that rest on a training flag alone, as long as it is what it is at the capture."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

import symtrace
from symtrace.errors import GuardError


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
@pytest.mark.parametrize("training", [False, True])
def test_a_way_is_kept_or_not_taken_as_long_as_the_flag_is_as_it_was(examples: Any, training: bool) -> None:
    module = Drops().train(training)
    captured = symtrace.capture(module, examples)

    for seed in range(8):
        for other in (training, not training):
            x = torch.randn(4, 3)
            captured.train(other)
            module.train(other)
            torch.manual_seed(seed)
            try:
                expected = module(x)
            except Exception as error:  # noqa: BLE001 - of a program that leaves out all layers, for instance
                expected = type(error)
            torch.manual_seed(seed)
            try:
                actual = captured(x)
            except GuardError as error:
                assert other is not training, error  # noqa: PT017 - a guard may hold for the other flag only
                continue
            except Exception as error:  # noqa: BLE001 - compared with eager's
                actual = type(error)
            if isinstance(expected, type):
                assert actual is expected
            else:
                torch.testing.assert_close(actual, expected)


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


def test_each_flag_is_asked() -> None:
    module = Several().eval()
    captured = symtrace.capture(module, (torch.ones(3),))

    for outer in (False, True):
        for inner in (False, True):
            for x in (torch.ones(3), -torch.ones(3)):
                for one in (module, captured):
                    one.training, one.inner.training = outer, inner
                assert outcome(captured, x) == outcome(module, x)


def outcome(module: Any, x: torch.Tensor) -> Any:
    """Return what a module gives as plain values, or the class of what it raises."""
    try:
        value, count = module(x)
    except Exception as error:  # noqa: BLE001 - whatever eager raises
        return type(error)
    return value.tolist(), count


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
