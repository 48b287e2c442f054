"""State, modules, helpers, closures and methods."""

from __future__ import annotations

import functools

import torch
from torch import nn

from ..program import program, t

UP, DOWN = t(1.0, 2.0, 3.0), t(-1.0, -2.0, -3.0)


@program(UP, DOWN)
class DifferentModules(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 3)

    def forward(self, x):
        if x.sum() > 0:
            return self.a(x)
        return self.b(x)


@program(UP, DOWN)
class SameModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 3)

    def forward(self, x):
        if x.sum() > 0:
            x = self.a(x)
        return self.a(x)


@program(UP, DOWN)
class DifferentParameters(nn.Module):
    def __init__(self):
        super().__init__()
        self.p, self.q = nn.Parameter(torch.ones(3)), nn.Parameter(torch.full((3,), 2.0))

    def forward(self, x):
        w = self.p if x.sum() > 0 else self.q
        return x * w


@program(UP, DOWN, UP)
class BufferUpdatedInBranch(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x):
        if x.sum() > 0:
            self.seen += 1
        return x * self.seen


@program(UP, DOWN, UP)
class BufferReassignedInBranch(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, x):
        if x.sum() > 0:
            self.mean = self.mean * 0.5 + x.detach() * 0.5
        return x - self.mean


@program(UP, DOWN, UP)
class CounterInBranch(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        if x.sum() > 0:
            self.n += 1
        return x * self.n


@program(UP, DOWN, UP)
class CounterInBothBranches(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        if x.sum() > 0:
            self.n += 1
        else:
            self.n += 10
        return x


@program(UP, DOWN, UP)
class StateReadAfterBranch(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("k", torch.ones(()))

    def forward(self, x):
        before = self.k + 0
        if x.sum() > 0:
            self.k.mul_(2)
        return x * before + self.k


@program(UP, DOWN)
class NormalisedInBranch(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm1d(3)

    def forward(self, x):
        x = torch.stack([x, x * 2])
        if x.sum() > 0:
            x = self.bn(x)
        return x


@program(UP, DOWN)
class DroppedInBranch(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        if x.sum() > 0:
            x = self.drop(x)
        return self.drop(x)


@program(UP, DOWN)
class TrainingBranch(nn.Module):
    def forward(self, x):
        if self.training:
            return x * 2
        return x + 1


@program(UP, DOWN)
class TrainingAndData(nn.Module):
    def forward(self, x):
        if self.training and x.sum() > 0:
            x = x + torch.rand(3)
        return x * 2


@program(UP, DOWN)
class TrainingTernary(nn.Module):
    def forward(self, x):
        scale = 0.5 if self.training else 2.0
        return x * scale


@program(UP, DOWN)
class Method(nn.Module):
    def pick(self, x):
        if x.sum() > 0:
            return x * 2
        return x * 3

    def forward(self, x):
        return self.pick(x) + self.pick(-x)


@program(UP, DOWN)
class SubmoduleBranches(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = DifferentModules()
        self.second = DifferentModules()

    def forward(self, x):
        return self.second(self.inner(x)) + x


@program(UP, DOWN)
class SharedHelper(nn.Module):
    @staticmethod
    def sign(x):
        if x.sum() > 0:
            return 1.0
        return -1.0

    def forward(self, x):
        return x * self.sign(x) + self.sign(-x)


@program(UP, DOWN)
class ClassMethod(nn.Module):
    SCALE = 3.0

    @classmethod
    def scaled(cls, x):
        if x.sum() > 0:
            return x * cls.SCALE
        return x

    def forward(self, x):
        return self.scaled(x)


@program(UP, DOWN)
class PropertyDecides(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3))

    @property
    def scale(self):
        if self.w.sum() > 0:
            return self.w * 2
        return self.w

    def forward(self, x):
        return x * self.scale


@program(UP, DOWN)
class ListOfModules(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(3)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
            if x.sum() > 0:
                x = x.relu()
        return x


@program(UP, DOWN)
class EarlyExit(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(3)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
            if x.max() > 0.5:
                return x
        return x * 2


@program(UP, DOWN)
class WeightDecides(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.tensor([1.0, -2.0, 0.5]))

    def forward(self, x):
        if (x * self.w).sum() > 0:
            return x * self.w
        return x


@program(UP, DOWN)
class SuperForward(TrainingBranch):
    def forward(self, x):
        y = super().forward(x)
        if y.sum() > 0:
            return y
        return super().forward(y)


def helper(x):
    if x.sum() > 0:
        return x * 2
    return x - 1


def nested_helper(x, k=2.0):
    y = helper(x)
    return y * k if y.max() > 3 else y


def recursive(x, depth):
    if depth == 0:
        return x
    if x.sum() > 0:
        return recursive(x - 2, depth - 1)
    return recursive(x + 1, depth - 1)


def decorated(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs) + 1

    return wrapper


@decorated
def decorated_helper(x):
    if x.sum() > 0:
        return x * 2
    return x - 1


@program(UP, DOWN)
def calls_helper(x):
    return helper(x) + 1


@program(UP, DOWN)
def calls_helper_twice(x):
    return helper(helper(x))


@program(UP, DOWN)
def calls_nested_helper(x):
    return nested_helper(x)


@program(UP, DOWN)
def calls_recursive(x):
    return recursive(x, 3)


@program(UP, DOWN)
def calls_decorated(x):
    return decorated_helper(x)


@program(UP, DOWN)
def inner_function(x):
    scale = 3.0

    def inner(v):
        if v.sum() > 0:
            return v * scale
        return v

    return inner(x) + inner(-x)


@program(UP, DOWN)
def closure_over_traced(x):
    y = x * 2

    def inner(v):
        return v + y if v.sum() > 0 else v - y

    return inner(x)


@program(UP, DOWN)
def nonlocal_in_branch(x):
    count = 0

    def bump(v):
        nonlocal count
        if v.sum() > 0:
            count = count + 1
        return v

    bump(x)
    bump(x)
    return x * count


def make_closure(k):
    def inner(x):
        if x.sum() > k:
            return x * k
        return x

    return inner


@program(UP, DOWN)
def made_closure(x):
    return make_closure(3.0)(x) + make_closure(-1.0)(x)


@program(UP, DOWN)
def partial_helper(x):
    return functools.partial(nested_helper, k=5.0)(x)


@program(UP, DOWN)
def mapped_helper(x):
    return sum(map(helper, [x, -x]))


@program(UP, DOWN)
def keyword_helper(x):
    return nested_helper(k=4.0, x=x)


@program((UP, True), (DOWN, True))
def plain_argument_of_helper(x, flag):
    def inner(v, really):
        if really:
            v = v + 1
        return v

    y = inner(x, True)
    if y.sum() > 0:
        y = inner(y, False)
    return y


@program(UP, DOWN)
def list_append_in_branch(x):
    outs = [x]
    if x.sum() > 0:
        outs.append(x * 2)
    else:
        outs.append(x * 3)
    return torch.stack(outs)


@program(UP, DOWN)
def list_append_on_one_way(x):
    outs = [x]
    if x.sum() > 0:
        outs.append(x * 2)
    return torch.stack(outs).sum(0)


@program(UP, DOWN)
def dict_write_in_branch(x):
    d = {"a": x}
    if x.sum() > 0:
        d["a"] = x * 2
    return d["a"]


@program(UP, DOWN)
def attribute_of_object(x):
    class Box:
        pass

    box = Box()
    box.value = x
    if x.sum() > 0:
        box.value = x * 2
    return box.value


@program(UP, DOWN)
def try_finally_around_branch(x):
    y = x
    try:
        if x.sum() > 0:
            y = x * 2
    finally:
        y = y + 1
    return y


@program(UP, DOWN)
def try_except_depends(x):
    try:
        if x.sum() > 0:
            raise ValueError("positive")
        y = x
    except ValueError:
        y = -x
    return y
