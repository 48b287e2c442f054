"""Programs whose printed forms are stored."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.scale = nn.Parameter(torch.full((4,), 2.0))

    def forward(self, x):
        return torch.relu(self.lin(x)) * self.scale


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(Block(), Block())
        self.head = nn.Linear(4, 2, bias=False)
        for index, parameter in enumerate(self.parameters()):
            nn.init.constant_(parameter, index + 1)

    def forward(self, x, mask=None, *, keep: bool = True):
        out = self.head(self.blocks(x))
        return {"out": out, "both": (out.softmax(dim=-1), out[:, :1])}


def branch(x):
    h = torch.relu(x)
    if h.sum() > 0:
        return h
    return -h
