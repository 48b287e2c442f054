"""Recurrent networks with decisions, each in several styles that people write them in."""

# ruff: noqa: F402, D101, D102, D103, D107, E702, F841, PLW2901, SIM102

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from ..program import program


def seeded(*shape, k=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(k))


class RnnStop(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(3, 4)
        self.stop = nn.Linear(4, 1)

    def forward(self, x):
        h = c = torch.zeros(1, 4)
        outs = []
        for t in range(x.size(0)):
            h, c = self.cell(x[t : t + 1], (h, c))
            outs.append(h)
            if torch.sigmoid(self.stop(h)) > 0.55:
                break
        return torch.cat(outs, 0), t


program(seeded(5, 3), seeded(5, 3, k=2) * 4, seeded(5, 3, k=3) * 4, seeded(5, 3, k=4) * -4)(RnnStop)


class RnnLengths(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 4)

    def forward(self, x, length):
        state = None
        for t, xt in enumerate(x):
            if t >= length:
                break
            state = self.cell(xt[None], state) if state is not None else self.cell(xt[None])
        return state if state is not None else x.new_zeros(1, 4)


program((seeded(5, 3), torch.tensor(3)), (seeded(5, 3), torch.tensor(0)), (seeded(5, 3), torch.tensor(9)))(
    RnnLengths
)


class RnnWhile(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.RNNCell(3, 4)
        self.out = nn.Linear(4, 3)

    def forward(self, x):
        state = {"h": torch.zeros(1, 4), "n": 0}
        x = x[None]
        while state["n"] < 6:
            state["h"] = self.cell(x, state["h"])
            x = self.out(state["h"])
            state["n"] += 1
            if x.abs().max() < 0.3:
                break
        return x, state["n"]


program(seeded(3), seeded(3, k=2) * 9, seeded(3, k=5))(RnnWhile)


@dataclass
class DecState:
    h: torch.Tensor
    tokens: list
    done: bool = False


class RnnDataclass(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.RNNCell(3, 4)
        self.out = nn.Linear(4, 3)

    def forward(self, x):
        s = DecState(torch.zeros(1, 4), [])
        inp = x[None]
        for _ in range(5):
            s.h = self.cell(inp, s.h)
            y = self.out(s.h)
            s.tokens.append(y.argmax())
            s.done = (s.tokens[-1] == 1).item()
            if s.done:
                break
            inp = y
        return torch.stack(s.tokens), s.done


program(seeded(3), seeded(3, k=2) * 9, seeded(3, k=5))(RnnDataclass)
