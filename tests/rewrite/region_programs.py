"""Programs with decisions, and what is in their regions."""

import operator

import torch
from torch import nn

from symtrace.ir import all_graphs
from symtrace.ops.control_flow import cond

POSITIVE, NEGATIVE = torch.linspace(0.1, 1, 6).reshape(2, 3), -torch.linspace(0.1, 1, 6).reshape(2, 3)
WAYS = [(a, b) for a in (POSITIVE, NEGATIVE) for b in (POSITIVE, NEGATIVE)]


class Net(nn.Module):
    """A program over a few layers and tensors."""

    def __init__(self, body):
        super().__init__()
        self.drop, self.same = nn.Dropout(), nn.Identity()
        self.conv, self.norm = nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2)
        self.linear = nn.Linear(3, 3)
        self.weight = nn.Parameter(torch.eye(3))
        self.register_buffer("count", torch.zeros(3))
        self.register_buffer("table", torch.arange(3.0))
        self.flag = True
        self.body = body
        self.norm.running_mean.uniform_(-0.1, 0.1)

    def forward(self, x, y):
        return self.body(self, x, y)


def inside(gm):
    """All calls in regions, by what they call."""
    return [
        node.target if isinstance(node.target, str) else node.target.__name__
        for graph in all_graphs(gm.graph)
        if graph is not gm.graph
        for node in graph.nodes
        if node.op not in ("placeholder", "output") and node.target not in (cond, operator.getitem)
    ]


def twice(m, x, y):
    if x.sum() > 0:
        z = torch.relu(y) + torch.relu(y)
    else:
        z = torch.relu(y) * 2
    return z + 1


def flat(m, x, y):
    return torch.add(torch.flatten(y, 1), 1) if x.sum() > 0 else y


def nested(m, x, y):
    if x.sum() > 0:
        z = x
        if y.sum() > 0:
            z = y.neg() + y.neg()
    else:
        z = y
    return z
