# ruff: noqa: D101, D102, D103, SIM108, RET505, B007, B011, PERF401, FBT - programs as people write them
"""Decisions in methods, helpers and modules."""

import functools
import math

import torch
import torch.nn.functional as F
from torch import nn

from ..program import program, t

POS, NEG = t(1.0, 2.0, 3.0), t(-1.0, 0.5, -2.0)


def decorated(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs) + 1

    return wrapper


@program(POS, NEG)
@decorated
def behind_decorator(x):
    if x.sum() > 0:
        return x
    return -x


def countdown(x, depth):
    if depth == 0:
        return x
    if x.sum() > 0:
        return countdown(x - 1, depth - 1)
    return countdown(x + 1, depth - 1)


@program(POS, NEG, t(0.1, 0.1, 0.1))
def recursion(x):
    return countdown(x, 3)


@program(POS, NEG)
def constant_condition(x, flag=True):
    if flag:
        x = x + 1
    if x.sum() > 0:
        x = x * 2
    return x


@program(POS, NEG)
def branch_under_no_grad(x):
    with torch.no_grad():
        if x.sum() > 0:
            s = x.sum()
        else:
            s = -x.sum()
    return x * s


@program(POS, NEG)
def different_shapes(x):
    if x.sum() > 0:
        y = x
    else:
        y = torch.cat([x, x])
    return y.sum() / y.shape[0]


@program(POS, NEG)
def boolean_result(x):
    ok = x.sum() > 0 and x.max() < 10
    return x * 2 if ok else x


@program(POS, NEG)
def or_default(x):
    m = (x > 0).all() or (x < -100).any()
    return torch.where(torch.as_tensor(m), x, -x)


@program(POS, NEG)
def deep_elif(x):
    k = x.argmax().item()
    if k == 0:
        y = x + 1
    elif k == 1:
        y = x + 2
    elif k == 2:
        y = x + 3
    else:
        y = x
    return y


@program(POS, NEG)
def match_statement(x):
    k = int(x.argmax())
    match k:
        case 0:
            return x
        case 1:
            return x * 2
        case _:
            return x * 3


@program(POS, NEG)
def maximum_of_two(x):
    return x * max(x.sum(), x.mean() * 2)


@program(POS, NEG)
def any_over(x):
    if any(v > 1 for v in (x[0], x[1])):
        return x * 2
    return x


@program(POS, NEG)
def all_over(x):
    return x * 2 if all([x[0] > 0, x[1] > 0]) else x


@program(POS, NEG)
def is_none_stays(x, mask=None):
    if mask is not None:
        x = x * mask
    if x.sum() > 0:
        x = x + 1
    return x


@program(POS, NEG)
def string_by_branch_used_inside(x):
    if x.sum() > 0:
        mode = "sum"
        y = getattr(x, mode)()
    else:
        mode = "mean"
        y = getattr(x, mode)()
    return y


@program(POS, NEG)
def try_without_dependence(x):
    try:
        y = x * math.sqrt(4)
    except ValueError:
        y = x
    if y.sum() > 0:
        y = y + 1
    return y


class Training(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(3, 3)

    def forward(self, x):
        y = self.l(x)
        if self.training:
            y = F.dropout(y, 0.3)
        return y


program(POS, NEG)(Training)


@program(POS, NEG)
class Modules(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 3)
        self.b = nn.Linear(3, 3)

    def forward(self, x):
        if x.sum() > 0:
            y = self.a(x)
        else:
            y = self.b(x)
        return y.relu()


@program(POS, NEG)
class ChosenModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 3)
        self.scale = nn.Parameter(torch.tensor(2.0))
        self.other = nn.Parameter(torch.tensor(3.0))

    def forward(self, x):
        s = self.scale if x.sum() > 0 else self.other
        return self.a(x) * s


@program(POS, NEG, POS)
class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.zeros(()))

    def forward(self, x):
        if x.sum() > 0:
            self.n += 1
        return x * (self.n + 1)


@program(POS, NEG, POS)
class Reassigned(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("last", torch.zeros(3))

    def forward(self, x):
        if x.sum() > 0:
            self.last = x.detach() * 0.5
        else:
            self.last = self.last + 1
        return x + self.last


@program(POS, NEG, POS)
class InPlaceBuffer(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("m", torch.ones(3))

    def forward(self, x):
        if (x > 0).all():
            self.m.mul_(0.5).add_(x.detach())
        return x * self.m


@program(POS, NEG, POS)
class PythonCounter(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        if x.sum() > 0:
            self.calls += 1
        return x * self.calls


@program(POS, NEG)
class BatchNormByBranch(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm1d(3)

    def forward(self, x):
        if x.sum() > 0:
            return self.bn(torch.stack([x, x * 2]))
        return x[None]


@program(POS, NEG)
class InSubmodule(nn.Module):
    class Gate(nn.Module):
        def __init__(self):
            super().__init__()
            self.l = nn.Linear(3, 3)

        def forward(self, x):
            h = self.l(x)
            return h if h.sum() > 0 else -h

    def __init__(self):
        super().__init__()
        self.gates = nn.ModuleList([self.Gate(), self.Gate()])

    def forward(self, x):
        for gate in self.gates:
            x = gate(x)
        return x


class Base(nn.Module):
    def forward(self, x):
        return x * 2


@program(POS, NEG)
class CallsSuper(Base):
    def forward(self, x):
        y = super().forward(x)
        if y.sum() > 0:
            return y
        return -y


@program(POS, NEG)
class PrivateNames(nn.Module):
    def __init__(self):
        super().__init__()
        self.__scale = 3.0

    def forward(self, x):
        if x.sum() > 0:
            return x * self.__scale
        return x
