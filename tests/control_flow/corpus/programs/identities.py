"""`is` between what data decides, and `:=` in comprehensions."""

# ruff: noqa: D103, E712, C419, F841, SIM102, UP031

from __future__ import annotations

import torch

from ..program import program, t

P, N, M, Z = t(1.0, 2.0, 3.0), t(-1.0, -2.0, -3.0), t(1.0, -1.0, 2.0), t(0.0, 0.0, 0.0)


@program(P, N, M)
def is_true(x):
    b = (x.sum() > 0).item()
    if b is True:
        return x + 1
    return x


@program(P, N, M)
def is_false_merged(x):
    ok = False
    if x.sum() > 0:
        ok = True
    if ok is False:
        return x + 1
    return x


@program(P, N, M)
def is_tensor_true(x):
    b = x.sum() > 0
    if b is True:
        return x + 1
    return x


@program(P, N, M)
def is_not_true(x):
    b = bool(x.sum() > 0)
    return x + 1 if b is not True else x


@program(P, N, M)
def is_same_tensor(x):
    y = x
    if x.sum() > 0:
        y = x + 1
    if y is x:
        return y * 2
    return y


@program(P, N, M)
def is_sentinel(x):
    missing = object()
    y = missing
    if x.sum() > 0:
        y = x + 1
    if y is missing:
        return x * 2
    return y


@program(P, N, M)
def is_fn(x):
    act = torch.relu if x.sum() > 0 else torch.tanh
    if act is torch.relu:
        return act(x) + 1
    return act(x)


@program(P, N, M)
def is_ellipsis(x):
    k = ... if x.sum() > 0 else None
    return x[k]


@program(P, N, M)
def eq_true(x):
    b = (x.sum() > 0).item()
    if b == True:
        return x + 1
    return x


@program(P, N, M)
def is_in_helper(x):
    def h(v, flag):
        if flag is True:
            return v + 1
        elif flag is False:
            return v - 1
        return v * 5

    return h(x, (x.sum() > 0).item()), h(x, x.sum() > 0)


@program(P, N, M)
def colon_all(x):
    if all((last := v) > 0 for v in [x[0], x[1], x[2]]):
        return x * last
    return x + last


@program(P, N, M)
def colon_unused(x):
    ys = [y * 2 for v in [x[0], x[1]] if (y := v + 1) > 0]
    return len(ys)


@program(P, N, M)
def colon_after(x):
    ys = [(y := v + 1) * 2 for v in [x[0], x[1]]]
    if y > 0:
        return ys[0] + y
    return y


@program(P, N, M)
def colon_in_loop(x):
    out = x.new_zeros(())
    for i in range(2):
        if any((h := v) > i for v in [x[0], x[1], x[2]]):
            out = out + h
    return out


@program(P, N, M)
def colon_in_branch(x):
    if x.sum() > 0:
        if any((h := v) > 1 for v in [x[0], x[1], x[2]]):
            return h
    else:
        h = x[0]
    return h * 2


@program(P, N, M)
def colon_running(x):
    total = 0
    s = [total := total + v for v in [x[0], x[1], x[2]]]
    return s[-1] if total > 0 else s[0]


@program(P, N, M)
def colon_running_filter(x):
    total = 0
    s = [total := total + v for v in [x[0], x[1], x[2]] if v > 0]
    return total


@program(P, N, M)
def colon_unbound(x):
    r = [h := v for v in [x[0], x[1]] if v > 0]
    return h
