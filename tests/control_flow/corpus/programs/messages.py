"""Errors whose text tells values, and texts that are returned."""

# ruff: noqa: D101, D102, D103, D107, C419, F841, SIM102, UP031

from __future__ import annotations

import torch
from torch import nn

from ..program import program, t

P, N, M, Z = t(1.0, 2.0, 3.0), t(-1.0, -2.0, -3.0), t(1.0, -1.0, 2.0), t(0.0, 0.0, 0.0)


class OwnError(ValueError):
    def __init__(self, v, name="?"):
        super().__init__(f"{name}: {v}")


@program(P, N, M)
def message_1(x):
    if x.sum() < 0:
        raise ValueError(f"sum {x.sum().item():.3f}, {x.max()!r:>30} of {x.shape} {x.dtype} and {len(x)}")
    return x


@program(P, N, M)
def message_2(x):
    if x.sum() < 0:
        raise ValueError("sum %s and %.2f" % (x.sum(), x.max().item()))
    return x


@program(P, N, M)
def message_3(x):
    if x.sum() < 0:
        raise ValueError(f"sum {x.sum()} and {x.max().item():.2f}")
    return x


@program(P, N, M)
def message_4(x):
    s = x.sum()
    if s < 0:
        raise OwnError(s.item(), name=f"n{x.shape[0]}")
    return x


@program(P, N, M)
def message_5(x):
    s = x.sum()
    assert s > 0, ("neg", s.item(), x.shape)
    return x


@program(P, N, M)
def message_6(x):
    s = x.sum()
    msg = f"bad {s.item()}"
    if s < 0:
        raise ValueError(msg)
    return x


@program(P, N, M)
def message_7(x):
    def check(v, name):
        if v.min() < 0:
            raise RuntimeError(f"{name} has {v.min().item()} in " + repr(v.tolist()))
        return v

    return check(x, "x")


@program(P, N, M)
def message_8(x):
    for i in range(3):
        if x[i] < 0:
            raise IndexError(f"item {i} is {x[i].item()}")
    return x


@program(P, N, M)
def message_9(x):
    for i, v in enumerate(x):
        if v < 0:
            raise IndexError(f"item {i} is {v.item()}")
    return x


class Message(nn.Module):
    def __init__(self):
        super().__init__()
        self.lim = 2.0
        self.name = "lim"

    def forward(self, x):
        n = x.norm()
        assert n < 1e4, f"{self.name}={self.lim}: {n:.2f}"
        if n > self.lim:
            if x[0] < 0:
                raise OwnError(n.item(), self.name)
        return x


program(P, N, M)(Message)


@program(P, N, M)
def message_11(x):
    if torch.isnan(x).any():
        raise ValueError("nan in " + str(x))
    if x.sum() < 0:
        raise ValueError("negative: " + str(x))
    return x


@program(P, N, M)
def message_12(x):
    if x.sum() < 0:
        err = ValueError(f"n {x.sum()}")
        raise err
    return x


@program(P, N, M)
def message_13(x):
    if not x.sum() > 0:
        raise ValueError from None
    return x


@program(P, N, M)
def message_14(x):
    if not x.sum() > 0:
        raise ValueError(f"v {x[0].item()}") from None
    return x


def fail(v):
    raise ValueError(f"bad {v.sum().item()}")


@program(P, N, M)
def message_15(x):
    if x.sum() < 0:
        fail(x)
    return x


@program(P, N, M)
def message_16(x):
    if x.sum() < 0:
        with torch.no_grad():
            raise ValueError(f"bad {x.sum().item()}")
    return x


@program(P, N, M)
def message_17(x):
    s = x.sum()
    return x, f"total {s.item():.2f}", [f"a{x.shape[0]}", "b"]


@program(P, N, M)
def message_18(x):
    if x.sum() > 0:
        m = f"pos {x[0].item()}"
    else:
        m = f"neg {x[1].item()}"
    return m
