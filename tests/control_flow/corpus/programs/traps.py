# ruff: noqa: RET505, B007, PERF401, F841, UP031 - programs as people write them
"""Programs in which something looks at what a decision or loop changes: from another name, or by its class."""

import torch
from torch import nn

from ..program import program, t

P, N, B = t(1.0, 2.0, 3.0), t(-1.0, 0.5, -2.0), t(100.0, 50.0, 25.0)


@program(P, N)
def alias_lists(x):
    a = [x]
    b = a
    if x.sum() > 0:
        a.append(x)
    return len(b), len(a)


@program(P, N)
def alias_after(x):
    a = [x]
    b = [x + 1]
    if x.sum() > 0:
        b = a
    a.append(x * 2)
    return len(b), len(a)


@program(P, N)
def alias_in_tuple(x):
    a = [x]
    pair = (a, 1)
    if x.sum() > 0:
        a[0] = x * 2
    return pair[0][0]


@program(P, N)
def alias_in_path(x):
    a = [x]
    d = {"k": a}
    if x.sum() > 0:
        a[0] = x * 2
        y = d["k"][0]
    else:
        y = x
    return y


@program(P, N)
def caller_list(x):
    outs = []
    def_helper(outs, x)
    return len(outs), x


def def_helper(outs, x):
    if x.sum() > 0:
        outs.append(x)


@program(P, N)
def closure_rebound(x):
    y = x

    def g():
        return y + 1

    if x.sum() > 0:
        y = x * 2
        x = g()
    return x


@program(P, N)
def lambda_late(x, flag=True):
    y = 1
    if flag:
        g = lambda: y
    y = 2
    if x.sum() > 0:
        x = x + 1
    return x * g()


@program((P, torch.tensor(3)), (N, torch.tensor(0)))
def loop_alias(x, n):
    cur = [x]
    prev = cur
    for i in range(n.item()):
        prev = cur
        cur = [cur[0] * 2]
    prev.append(x)
    return len(cur), len(prev), cur[0]


@program((P, torch.tensor(3)), (N, torch.tensor(0)))
def loop_shared(x, n):
    a = [x]
    b = [x]
    for i in range(n.item()):
        b = a
        a[0] = a[0] + 1
    return a[0], b[0]


@program(P, N)
def isinst_number(x):
    n = 0
    if x.sum() > 0:
        n = 1
    return x * (10 if isinstance(n, int) else 20)


@program(P, N)
def isinst_mixed(x):
    n = 0
    if x.sum() > 0:
        n = 2.5
    return x * (10 if isinstance(n, int) else 20)


@program((P, torch.tensor(3)), (N, torch.tensor(0)))
def isinst_total(x, n):
    total = 0
    for i in range(n.item()):
        total = total + x.sum()
    return x * (10 if isinstance(total, torch.Tensor) else 20)


@program((P, torch.tensor(3)), (N, torch.tensor(0)))
def isinst_total2(x, n):
    total = 0
    for i in range(n.item()):
        total = total + x.sum()
    total = total * 2
    return x * (10 if isinstance(total, torch.Tensor) else 20)


@program((P, torch.tensor(3)), (N, torch.tensor(0)))
def isinst_count(x, n):
    k = 0
    for i in range(n.item()):
        k += 1
    k = k + 1
    return x * (10 if isinstance(k, int) else 20)


@program(P, N)
def inside_region_kind(x):
    k = x.shape[0]
    if x.sum() > 0:
        m = k + 1
        x = x * (2 if isinstance(m, int) else 3)
    return x


@program(P, N)
def list_kind(x):
    outs = []
    if x.sum() > 0:
        outs.append(x)
    return x * (2 if isinstance(outs, list) else 3), x * (1 if type(outs) is list else 2)


@program(P, N)
def float_zero(x):
    z = 0.0
    if x.sum() > 0:
        z = -0.0
    return torch.copysign(x, torch.tensor(z)), torch.full((1,), z)


@program(P, N)
def bool_int(x):
    k = 1
    if x.sum() > 0:
        k = True
    return k, x


@program(P, N)
def ternary_appends(x):
    outs = []
    outs.append(x) if x.sum() > 0 else None
    return len(outs)


@program(P, N)
def and_appends(x):
    outs = []
    x.sum() > 0 and outs.append(x)
    return len(outs)


def note(l, x):
    l.append(x)
    return True


@program(P, N)
def chain_appends(x):
    outs = []
    r = 0 < x.sum() < (len(outs) + (note(outs, x) and 100))
    return len(outs)


class M(nn.Module):
    def __init__(s):
        super().__init__()
        s.register_buffer("n", torch.zeros(()))
        s.k = 0
        s.l = []


@program(P, N, P)
class LoopState(M):
    def forward(s, x):
        y = s.n
        while x.sum() > 1:
            x = x / 2
            s.n = s.n + 1
            x = x + 0 * s.n
        return x + s.n + y


@program(P, N, P)
class LoopInplaceState(M):
    def forward(s, x):
        while x.sum() > 1:
            x = x / 2
            s.n += 1
        return x + s.n


@program(P, N, P)
class LoopAttr(M):
    def forward(s, x):
        s.k = s.k + 1
        while x.sum() > 1:
            x = x / 2
            s.k += 1
        return x * s.k


@program(P, N, P)
class CacheList(M):
    def forward(s, x):
        if x.sum() > 0:
            s.l.append(1)
        return x * len(s.l)
