# ruff: noqa: D101, D102, D103, SIM108, RET505, B007, B011, PERF401, FBT, F841 - programs as people write them
"""Decisions, and what they leave in variables and containers."""

import torch
import torch.nn.functional as F

from ..program import program, t

POS, NEG = t(1.0, 2.0, 3.0), t(-1.0, 0.5, -2.0)


@program(POS, NEG)
def if_else(x):
    if x.sum() > 0:
        y = x * 2
    else:
        y = x - 1
    return y + 1


@program(POS, NEG)
def if_without_else(x):
    y = x
    if x.sum() > 0:
        y = y * 3
    return y


@program(POS, NEG, t(-5.0, 1.0, 1.0), t(5.0, -1.0, -1.0))
def nested(x):
    if x.sum() > 0:
        if x[0] > 2:
            y = x * 2
        else:
            y = x * 3
    else:
        if x[0] < -3:
            y = x - 1
        else:
            y = -x
    return y


@program(POS, NEG, t(-5.0, 1.0, 1.0), t(5.0, -1.0, -1.0))
def nested_returns(x):
    if x.sum() > 0:
        if x[0] > 2:
            return x * 2
        z = x * 5
    else:
        z = x - 1
        if x[0] < -3:
            return z
    return z + 1


@program(POS, NEG)
def conditional_expression(x):
    return x * 2 if x.mean() > 0 else x - 2


@program(POS, NEG)
def conditional_number(x):
    scale = 2.0 if x.sum() > 0 else 0.5
    return x * scale


@program(POS, NEG, t(1.0, 1.0, 1.0))
def and_or(x):
    if x.sum() > 0 and x[0] < x[1] or x[2] == 1:
        return x + 1
    return x - 1


@program(POS, NEG)
def not_(x):
    if not x.sum() > 0:
        return x * 2
    return x


@program(POS, NEG, t(9.0, 9.0, 9.0))
def comparison_chain(x):
    if 0 < x.sum() < 10:
        return x
    return -x


@program(POS, NEG)
def assert_kept(x):
    assert x.sum() > 0, "sum must be positive"
    return x.log()


@program(POS, NEG)
def assert_plain(x):
    assert (x > 0).all()
    return x.sqrt()


@program(POS, NEG)
def raise_in_branch(x):
    if x.min() < 0:
        raise ValueError("negative")
    return x.log()


@program(POS, NEG)
def raise_in_else(x):
    if x.min() >= 0:
        y = x.log()
    else:
        raise ValueError("negative")
    return y * 2


@program(POS, NEG)
def assigned_in_one(x):
    if x.sum() > 0:
        z = x * 2
        y = z + 1
    else:
        y = x
    return y


@program(POS, NEG)
def used_where_assigned(x):
    positive = x.sum() > 0
    if positive:
        z = x * 2
    y = x + 1
    if positive:
        y = y + z
    return y


@program(POS, NEG)
def unbound_on_one_path(x):
    if x.sum() > 0:
        y = x * 2
    return y


@program(POS, NEG)
def number_changed(x):
    k = 1
    if x.sum() > 0:
        k = 3
    return x * k


@program(POS, NEG)
def several_variables(x):
    a, b = x, x + 1
    if x.sum() > 0:
        a, b = b, a
    return a * 2 - b


@program(POS, NEG)
def returns_tuples(x):
    if x.sum() > 0:
        return x, x + 1
    return x * 2, x.sum()


@program(POS, NEG)
def returns_dict(x):
    if x.sum() > 0:
        return {"a": x, "n": 1}
    return {"a": -x, "n": 2}


@program(POS, NEG)
def dropout_on_both(x):
    if x.sum() > 0:
        return F.dropout(x, 0.5)
    return F.dropout(x * 2, 0.1)


@program(POS.detach(), NEG.detach())
def in_place(x):
    if x.sum() > 0:
        x.mul_(2)
    else:
        x += 1
    return x.sum()


@program(POS.detach(), NEG.detach())
def set_item(x):
    if x.sum() > 0:
        x[0] = 7.0
    return x + 1


@program(POS, NEG)
def list_appended(x):
    outs = [x]
    if x.sum() > 0:
        outs.append(x * 2)
    return torch.stack(outs)


@program(POS, NEG)
def list_appended_on_both(x):
    outs = []
    if x.sum() > 0:
        outs.append(x * 2)
    else:
        outs.append(x - 1)
    return torch.stack(outs)


@program(POS, NEG)
def dict_set(x):
    d = {"y": x}
    if x.sum() > 0:
        d["y"] = x * 2
    return d["y"]


@program(POS, NEG)
def method_calls(x):
    if torch.any(x < 0):
        return x.clamp(min=0)
    return x


@program(POS, NEG)
def item_decides(x):
    if x.sum().item() > 0:
        return x * 2
    return x


@program(POS, NEG)
def number_from_item(x):
    n = int(x.sum().item())
    if n > 3:
        n = 3
    return x + n


@program(POS, NEG)
def float_from_tensor(x):
    v = float(x.max())
    return x / v if v > 1 else x * v


@program(POS, t(float("nan"), 1.0, 2.0))
def nan_check(x):
    if torch.isnan(x).any():
        x = torch.nan_to_num(x)
    return x * 2


def helper(x, threshold):
    if x.norm() > threshold:
        return x / x.norm() * threshold
    return x


@program(POS, t(-0.1, 0.05, -0.2))
def in_helper(x):
    return helper(x, 1.0) + helper(x * 2, 2.0)


@program(POS, NEG)
def in_lambda(x):
    pick = lambda v: v * 2 if v.sum() > 0 else v - 1  # noqa: E731
    return pick(x)


def make_closure(scale):
    def inner(x):
        if x.sum() > 0:
            return x * scale
        return x / scale

    return inner


scaled = program(POS, NEG)(make_closure(3.0))


@program(POS, NEG)
def nested_function(x):
    bias = x.mean()

    def inner(y):
        if y.sum() > 0:
            return y + bias
        return y - bias

    return inner(x) * inner(-x)


@program(POS, NEG, POS * 0.1, NEG * 10)
def walrus_in_and(x):
    if x.sum() > 0 and (m := x.max()) > 2:
        return x * m
    return x


@program(POS, NEG, POS * 0.1, NEG * 10)
def walrus_in_ternary(x):
    y = (m := x.max()) * 2 if x.sum() > 0 else (m := x.min())
    return y + m


@program(POS, NEG, POS * 0.1, NEG * 10)
def walrus_in_value(x):
    a = x.sum() > 0 and (m := x.max()) * m > 4
    return a


@program(POS, NEG, POS * 0.1, NEG * 10)
def walrus_in_elif(x):
    if x.sum() > 0 and (m := x.max()) > 2 or (m := x.min()) < -5:
        return x * m
    elif not (x.mean() > 0 and (k := x.sum()) > 0.1):
        return x - 1
    return x + k


def _counter():
    n = 0

    def count():
        nonlocal n
        n += 1
        return n

    return count


@program(POS, NEG)
def counts_on_one_way(x):
    count = _counter()
    if x.sum() > 0:
        count()
    return x * count()


@program(POS, NEG)
def adds_through_a_function(x):
    found = []

    def add(value):
        found.append(value)

    if x.sum() > 0:
        add(x)
    return x * len(found)


@program(POS, NEG)
def assigned_by_a_function_inside(x):
    n = 0

    def count():
        nonlocal n
        n += 1

    if x.sum() > 0:
        x = x * 2
    count()
    return x * n


@program(POS, NEG)
def assigned_inside_on_one_way(x):
    n = 0

    def count():
        nonlocal n
        n += 1

    if x.sum() > 0:
        count()
    return x * n


@program(POS, NEG)
def decides_beside_a_nonlocal(x):
    k = 1

    def inner(y):
        nonlocal k
        if y.sum() > 0:
            y = y + k
        k = k + 1
        return y

    return inner(x) * k


SCALE = 3


@program(POS, NEG)
def decides_beside_a_global(x):
    global SCALE
    if x.sum() > 0:
        x = x * SCALE
    return x
