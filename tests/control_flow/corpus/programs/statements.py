"""Statements and expressions of all kinds around decisions."""

# ruff: noqa: D101, D102, D103, D107, C419, F841, SIM102, UP031

from __future__ import annotations

import contextlib
import functools
from dataclasses import dataclass

import torch
from torch import nn

from ..program import program, t

P, N, M, Z = t(1.0, 2.0, 3.0), t(-1.0, -2.0, -3.0), t(1.0, -1.0, 2.0), t(0.0, 0.0, 0.0)


@dataclass
class Point:
    x: torch.Tensor
    y: torch.Tensor
    __match_args__ = ("x", "y")


@program(P, N)
def match_class(x):
    p = Point(x.sum(), x.mean())
    match p:
        case Point(a, b) if a > 0:
            return a + b
        case Point(x=a):
            return a


@program(P, N, M)
def match_seq(x):
    pair = (x.sum(), x.max())
    match pair:
        case [a, b] if a > 5:
            r = a * b
        case [a, _] if a < 0:
            r = a
        case _:
            r = x.sum() * 0
    return r


@program(P, N, M)
def match_star(x):
    match list(x.unbind()) if False else [x[0], x[1], x[2]]:
        case [first, *rest] if first > 0:
            return sum(rest)
        case [first, *_]:
            return first


@program(P, N, M)
def match_dict(x):
    d = {"a": x, "n": 3}
    match d:
        case {"a": v, "n": 3} if v.sum() > 3:
            return v * 3
        case {"a": v, **rest}:
            return v * rest["n"]


@program(P, N, Z)
def match_value(x):
    match x.sum().item():
        case 0:
            return x + 1
        case v if v > 0:
            return x * v
        case _:
            return -x


@program(P, N, M)
def match_or_as(x):
    s = torch.sign(x.sum()).item()
    match s:
        case 1.0 | 2.0 as k:
            return x * k
        case other:
            return x - other


@program((P, 2), (N, 2), (M, 3))
def match_tuple_guard(x, n):
    match (x.sum() > 0, n):
        case (True, 2):
            return x * 2
        case (False, k):
            return x * k
        case _:
            return x


@program(P, N, M)
def for_else_break(x):
    for i in range(3):
        if x[i] < 0:
            r = x[i]
            break
    else:
        r = x.sum()
    return r


@program(P, N, M)
def nested_continue(x):
    out = x.new_zeros(())
    for i in range(3):
        if x[i] < 0:
            continue
        for j in range(3):
            if j == i:
                continue
            if x[j] > x[i]:
                break
            out = out + x[j] * x[i]
        else:
            out = out + 100
    return out


@program(P, N, M)
def return_in_nested_loop_if(x):
    for i in range(3):
        for j in range(3):
            if i != j:
                if x[i] + x[j] > 4:
                    return x[i] * 10 + x[j]
    return x.sum()


@program(P, N, M)
def try_finally(x):
    log = []
    try:
        if x.sum() > 0:
            y = x * 2
        else:
            y = x - 1
    finally:
        z = x + 1
    return y + z


@program(P, N, M)
def try_finally_return(x):
    y = x.clone()
    try:
        if y.sum() > 0:
            return y * 2
        y = y - 1
    finally:
        y.add_(1)
    return y


@program(P, N, M)
def try_finally_loop(x):
    y = x.clone()
    for i in range(3):
        try:
            if y[i] < 0:
                break
        finally:
            y = y + 1
    return y


@program(P, N)
def with_inside_branch(x):
    if x.sum() > 0:
        with torch.no_grad():
            y = x * 2
    else:
        with torch.enable_grad():
            y = x * 3
    return y + x


@contextlib.contextmanager
def scaled(v):
    yield v * 2


@program(P, N)
def own_contextmanager(x):
    with scaled(x) as s:
        if s.sum() > 0:
            return s + 1
    return x


class Ctx:
    def __init__(self, v):
        self.v = v

    def __enter__(self):
        return self.v + 1

    def __exit__(self, *a):
        return False


@program(P, N)
def own_ctx_in_branch(x):
    if x.sum() > 0:
        with Ctx(x) as c:
            y = c * 2
    else:
        y = x
    return y


@program(P, N)
def del_in_branch(x):
    y = x * 2
    if x.sum() > 0:
        del y
        y = x
    return y


@program(P, N)
def del_then_use(x):
    y = x * 2
    if x.sum() > 0:
        del y
    return y


@program(P, N)
def aug_subscript(x):
    y = x.clone()
    if x.sum() > 0:
        y[0] += 5
    else:
        y[1:] *= 2
    y[0] -= 1
    return y


class AugAttr(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0
        self.register_buffer("b", torch.zeros(3))
        self.scale = 1.0

    def forward(self, x):
        if x.sum() > 0:
            self.n += 1
            self.b += x.detach()
        else:
            self.scale *= 0.5
        self.b[0] += 1
        return x * self.scale + self.b.clone() + self.n


program(P, N, M)(AugAttr)


@program(P, N, M)
def aug_list_item(x):
    acc = [0.0, 0.0]
    for i in range(3):
        if x[i] > 0:
            acc[0] += x[i]
        else:
            acc[1] += x[i]
    return acc[0] - acc[1]


@program(P, N, M)
def aug_dict_item(x):
    acc = {"p": 0.0, "n": 0.0}
    for v in x.unbind() if False else [x[0], x[1], x[2]]:
        if v > 0:
            acc["p"] += v
        else:
            acc["n"] += v
    return acc


@program(P, N, M)
def starred(x):
    if x.sum() > 0:
        first, *rest = x[0], x[1], x[2]
    else:
        *rest, first = x[0], x[1], x[2]
    return first * 2 + sum(rest)


@program(P, N, M)
def starred_call(x):
    def f(a, b, *c, k=1):
        if a > b:
            return a + sum(c) * k
        return b - k

    args = (x[0], x[1], x[2])
    return f(*args, **{"k": 3})


CALLS = []


@program(P, N, M)
def chain_side_effects(x):
    def mid(v):
        return v + torch.rand(())

    if 0 < mid(x[0]) < mid(x[1]) < 10:
        return x + 1
    return x + torch.rand(3)


@program(P, N, M)
def lambdas_loop_var(x):
    fs = []
    for i in range(3):
        fs.append(lambda v, i=i: v * i if v > 0 else v - i)
    return sum(f(x[0]) for f in fs)


@program(P, N, M)
def lambdas_loop_var_late(x):
    fs = []
    for i in range(3):
        fs.append(lambda v: v * i if v > 0 else v - i)
    return sum(f(x[0]) for f in fs)


@program(P, N, M)
def closure_loop_var(x):
    out = x.new_zeros(())
    for i in range(3):

        def g(v):
            if v > 0:
                return v * i
            return v - i

        out = out + g(x[i])
    return out


def fact(x, n):
    if n == 0:
        return x
    if x.sum() > 10:
        return x
    return fact(x * 2, n - 1)


@program(P, N, M)
def recursion_bound(x):
    return fact(x, 4)


def binsearch(x, v, lo, hi):
    if hi - lo <= 1:
        return lo
    mid = (lo + hi) // 2
    if x[mid] > v:
        return binsearch(x, v, lo, mid)
    return binsearch(x, v, mid, hi)


@program((P, t(1.5)), (P, t(2.5)), (P, t(0.5)))
def recursion_binsearch(x, v):
    return binsearch(x, v, 0, 3)


def deco(scale):
    def outer(fn):
        @functools.wraps(fn)
        def inner(*a, **k):
            r = fn(*a, **k)
            if r.sum() > 0:
                return r * scale
            return r

        return inner

    return outer


@deco(3)
def decorated_(x):
    if x.max() > 2:
        return x - 1
    return x


@program(P, N, M)
def wraps_deco(x):
    return decorated_(x) + 1


@program(P, N, M)
def partial_(x):
    def f(s, v, *, k=1):
        return v * s if v.sum() > 0 else v + k

    return functools.partial(f, 3, k=2)(x)


class Methods(nn.Module):
    @staticmethod
    def st(v):
        if v.sum() > 0:
            return v
        return -v

    @classmethod
    def cl(cls, v):
        if v.max() > 2:
            return cls.st(v) * 2
        return v

    @property
    def sc(self):
        return self.w if self.w.sum() > 0 else -self.w

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.tensor([-1.0, 2.0, 0.5]))

    def forward(self, x):
        return self.cl(x) * self.sc + Methods.st(x)


program(P, N, M)(Methods)
