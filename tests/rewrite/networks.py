"""Random networks: layers, shared layers, constants and repetitions, which is what passes look for."""

from __future__ import annotations

import random

import torch
import torch.nn.functional as F
from torch import nn

CHANNELS = 3


class RandomNetwork(nn.Module):
    """Runs random steps on images of three channels."""

    def __init__(self, choices: random.Random, length: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(choices.randrange(1000))
        self.wide = nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1)
        self.strict = nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1, bias=False)
        self.point = nn.Conv2d(CHANNELS, CHANNELS, 1)
        self.up = nn.ConvTranspose2d(CHANNELS, CHANNELS, 3, padding=1)
        self.norm, self.other = nn.BatchNorm2d(CHANNELS), nn.BatchNorm2d(CHANNELS, affine=False)
        self.dropout, self.planes = nn.Dropout(0.3), nn.Dropout2d(0.3)
        self.same, self.nothing = nn.Identity(), nn.Sequential()
        self.act, self.write = nn.ReLU(), nn.ReLU(inplace=True)
        self.head = nn.Linear(5, 5)
        self.scale = nn.Parameter(torch.rand(CHANNELS, 1, 1, generator=generator) + 0.5)
        self.register_buffer("shift", torch.rand(1, CHANNELS, 1, 1, generator=generator))
        with torch.no_grad():
            for tensor in (*self.parameters(), *self.buffers()):
                if tensor.is_floating_point():
                    tensor.copy_(torch.rand(tensor.shape, generator=generator) * 0.5 + 0.1)
        self.steps = []
        for number in range(length):
            name = choices.choice(STEPS)
            operands = [max(0, number - choices.choice((0, 0, 0, 1, 2, 5))) for _ in range(2)]
            self.steps.append((name, *operands))
            if choices.random() < 0.15:
                self.steps.append((name, *operands))
        self.outputs = tuple(choices.randrange(len(self.steps) + 1) for _ in range(choices.randint(1, 2)))

    def extra_repr(self) -> str:
        return f"{self.steps} -> {self.outputs}"

    def forward(self, x, y):
        values = [x + y]
        for name, first, second in self.steps:
            values.append(self.step(name, values[first], values[second]))
        return tuple(values[number] for number in self.outputs)

    def step(self, name, a, b):
        if name in LAYERS:
            return getattr(self, name)(a)
        return CALLS[name](self, a, b)


def twice(net, a, b):
    return net.norm(net.wide(a)) + net.norm(net.wide(a))


CALLS = {
    "double": lambda net, a, b: a * 2,
    "half": lambda net, a, b: a / 2.0,
    "less": lambda net, a, b: a - 0.25,
    "from": lambda net, a, b: 1 - a,
    "by_parameter": lambda net, a, b: a * net.scale,
    "by_buffer": lambda net, a, b: a + net.shift,
    "sum": lambda net, a, b: a + b,
    "product": lambda net, a, b: torch.mul(a, b) * 0.1,
    "drop": lambda net, a, b: F.dropout(a, 0.3, net.training),
    "never": lambda net, a, b: F.dropout(a, 0.3, False),
    "grid": lambda net, a, b: a + torch.arange(5) * torch.arange(5).neg(),
    "silu": lambda net, a, b: F.silu(a),
    "softmax": lambda net, a, b: F.softmax(a, dim=1),
    "add_": lambda net, a, b: (a * 1).abs_().add_(1),
    "relu": lambda net, a, b: a.relu() + F.relu(a),
    "conv_norm": lambda net, a, b: net.norm(net.wide(a)),
    "conv_other": lambda net, a, b: net.other(net.strict(a)),
    "conv_point": lambda net, a, b: net.point(net.wide(a)),
    "conv_scale": lambda net, a, b: net.strict(a) * net.scale + net.shift,
    "up_norm": lambda net, a, b: net.norm(net.up(a)),
    "twice": twice,
    "dead": lambda net, a, b: (torch.tanh(b), a)[1],
}
LAYERS = (
    "wide", "strict", "point", "up", "norm", "other", "dropout", "planes", "same", "nothing", "act", "write", "head",
)  # fmt: skip
STEPS = (*LAYERS, *CALLS)
