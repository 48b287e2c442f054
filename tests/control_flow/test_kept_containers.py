"""A container that a way of a decision, or a round of a loop, keeps in an attribute is one object, or is refused."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import symtrace as fx


class Keeps(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.kept = None
        self.other = None


class Returned(Keeps):
    def forward(self, x):
        out = [x]
        if x.sum() > 0:
            self.kept = out
        return out


class OnBothWays(Keeps):
    def forward(self, x):
        out = {"a": x}
        if x.sum() > 0:
            self.kept = out
        else:
            self.kept = out
        return out


class MadeOnOneWay(Keeps):
    def forward(self, x):
        if x.sum() > 0:
            out = [x]
            self.kept = out
        else:
            out = [x * 2]
        return out


class Deeper(Keeps):
    def forward(self, x):
        out = [x]
        if x.sum() > 0:
            x = x + 1
            if x.sum() > 1:
                self.kept = (out, 1)
        return out


class InRounds(Keeps):
    def forward(self, x):
        out = [x]
        while x.sum() > 3:
            x = x - 1
            self.kept = out
        return out, x


class KeptTwice(Keeps):
    def forward(self, x):
        out = [x]
        self.kept = out
        if x.sum() > 0:
            self.other = out
        return x


class FilledLater(Keeps):
    def forward(self, x):
        out = [x]
        if x.sum() > 0:
            self.kept = out
        out.append(x * 2)
        return x


class NotReturned(Keeps):
    def forward(self, x):
        if x.sum() > 0:
            self.kept = [x, x * 2]
        return x


class BesideOthers(Keeps):
    def forward(self, x):
        kept, outs = [x], []
        if x.sum() > 0:
            self.kept = kept
            outs.append(x + 1)
        return outs


SEVERAL = [Returned, OnBothWays, MadeOnOneWay, Deeper, InRounds, KeptTwice, FilledLater]


@pytest.mark.parametrize("with_example", [False, True])
@pytest.mark.parametrize("program", SEVERAL, ids=lambda cls: cls.__name__)
def test_one_that_is_held_elsewhere_too_is_refused(program: type[Keeps], with_example: bool) -> None:
    with pytest.raises(fx.TraceError, match="ST022|ST033"):
        fx.capture(program(), (torch.ones(3),) if with_example else None)


@pytest.mark.parametrize("with_example", [False, True])
@pytest.mark.parametrize("program", [NotReturned, BesideOthers], ids=lambda cls: cls.__name__)
def test_one_that_is_held_there_alone_is_kept(program: type[Keeps], with_example: bool) -> None:
    eager, captured = program(), fx.capture(program(), (torch.ones(3),) if with_example else None)
    for x in (torch.ones(3), -torch.ones(3), torch.full((3,), 2.0)):
        torch.testing.assert_close(captured(x), eager(x))
        torch.testing.assert_close(captured.kept, eager.kept)
