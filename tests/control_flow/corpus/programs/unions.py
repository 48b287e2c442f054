"""Values of different kinds on two ways: strings, functions, modules, None and containers, tuples of other lengths."""

# ruff: noqa: D101, D102, D103, D107, E731, C419, F841, SIM102, UP031

from __future__ import annotations

import enum

import torch
import torch.nn.functional as F
from torch import nn

from ..program import program, t

P, N, M, Z = t(1.0, 2.0, 3.0), t(-1.0, -2.0, -3.0), t(1.0, -1.0, 2.0), t(0.0, 0.0, 0.0)


@program(P, N)
def str_compare(x):
    mode = "a" if x.sum() > 0 else "b"
    if mode == "a":
        return x * 2
    return x - 1


@program(P, N)
def str_key(x):
    mode = "up" if x.sum() > 0 else "down"
    table = {"up": x + 1, "down": x - 1}
    return table[mode]


@program(P, N)
def str_key_fn(x):
    act = "relu" if x.sum() > 0 else "tanh"
    fns = {"relu": torch.relu, "tanh": torch.tanh}
    return fns[act](x)


@program(P, N)
def str_returned(x):
    if x.sum() > 0:
        mode = "pos"
    else:
        mode = "neg"
    return x, mode


@program(P, N, t(0.0, 0.0, 0.0))
def str_elif(x):
    if x.sum() > 0:
        kind = "pos"
    elif x.sum() < 0:
        kind = "neg"
    else:
        kind = "zero"
    if kind == "pos":
        y = x * 2
    elif kind == "neg":
        y = -x
    else:
        y = x + 10
    return y


@program(P, N)
def str_in(x):
    mode = "sum" if x.sum() > 0 else "mean"
    if mode in ("sum", "prod"):
        return x.sum()
    return x.mean()


@program(P, N)
def str_match(x):
    mode = "sum" if x.sum() > 0 else "mean"
    match mode:
        case "sum":
            return x.sum()
        case "mean":
            return x.mean()
        case _:
            return x


@program(P, N)
def str_arg(x):
    red = "sum" if x.sum() > 0 else "mean"
    return F.mse_loss(x, torch.zeros_like(x), reduction=red)


@program(P, N)
def str_fstring(x):
    mode = "sum" if x.sum() > 0 else "mean"
    return x, f"mode={mode}"


@program(P, N)
def str_in_helper(x):
    def pick(v):
        if v.sum() > 0:
            return "hot"
        return "cold"

    k = pick(x)
    return x * 2 if k == "hot" else x / 2


class Kind(enum.Enum):
    A = 1
    B = 2


@program(P, N)
def enum_each(x):
    k = Kind.A if x.sum() > 0 else Kind.B
    if k is Kind.A:
        return x + 1
    return x - 1


@program(P, N)
def enum_eq(x):
    k = Kind.A if x.sum() > 0 else Kind.B
    if k == Kind.A:
        return x + 1
    return x - 1


@program(P, N)
def fn_each(x):
    act = torch.relu if x.sum() > 0 else torch.tanh
    return act(x)


@program(P, N)
def lambda_each(x):
    if x.sum() > 0:
        f = lambda v: v * 3
    else:
        f = lambda v: v - 3
    return f(x)


class ModEach(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 3)
        self.b = nn.Linear(3, 3)

    def forward(self, x):
        layer = self.a if x.sum() > 0 else self.b
        return layer(x)


program(P, N)(ModEach)


class ModDict(nn.Module):
    def __init__(self):
        super().__init__()
        self.d = nn.ModuleDict({"hot": nn.Linear(3, 3), "cold": nn.Linear(3, 3)})

    def forward(self, x):
        key = "hot" if x.sum() > 0 else "cold"
        return self.d[key](x)


program(P, N)(ModDict)


class ModIdx(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])

    def forward(self, x):
        i = 0 if x.sum() > 0 else 1
        return self.l[i](x)


program(P, N)(ModIdx)


class ModArgmax(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 3)])

    def forward(self, x):
        i = x.argmax().item()
        return self.l[i](x)


program(P, N, t(1.0, 5.0, 2.0))(ModArgmax)


@program(P, N)
def dtype_each(x):
    dt = torch.float64 if x.sum() > 0 else torch.float32
    return x.to(dt)


@program(P, N)
def dim_each(x):
    d = 0 if x.sum() > 0 else 1
    y = x.reshape(1, 3)
    return y.sum(d)


@program(P, N)
def none_or_tuple(x):
    state = None
    if x.sum() > 0:
        state = (x + 1, x - 1)
    if state is None:
        return x
    a, b = state
    return a * b


@program(P, N)
def none_or_tuple_ret(x):
    if x.sum() > 0:
        return None
    return x, x + 1


@program(P, N)
def none_or_list(x):
    outs = None
    if x.sum() > 0:
        outs = [x, x + 1]
    if outs is not None:
        return torch.stack(outs)
    return x


@program(P, N)
def none_or_dict(x):
    cache = None
    if x.sum() > 0:
        cache = {"k": x, "v": x * 2}
    if cache is not None:
        return cache["k"] + cache["v"]
    return x


@program(P, N)
def none_init_list_append(x):
    outs = None
    for i in range(3):
        if x[i] > 1:
            if outs is None:
                outs = []
            outs.append(x[i])
    if outs is None:
        return x.sum()
    return torch.stack(outs).sum()


class LSTMState(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(3, 3)

    def forward(self, x):
        hc = None
        for i in range(2):
            if hc is not None:
                h, c = hc
                if h.sum() > 0:
                    hc = None
            hc = self.cell(x[None], hc)
        return hc[0]


program(P, N)(LSTMState)


@program(P, N)
def none_or_string(x):
    m = None
    if x.sum() > 0:
        m = "norm"
    if m == "norm":
        return x / x.norm()
    return x


@program(P, N)
def false_or_tensor(x):
    r = False
    if x.sum() > 0:
        r = x * 2
    if r is False:
        return x
    return r


@program(P, N)
def number_or_tensor(x):
    s = 1.0
    if x.sum() > 0:
        s = x.max()
    return x * s


@program(P, N)
def number_or_tensor_ret(x):
    loss = 0
    if x.sum() > 0:
        loss = loss + x.mean()
    return loss


@program(P, N)
def number_or_tensor_isinst(x):
    loss = 0.0
    if x.sum() > 0:
        loss = loss + x.mean()
    if isinstance(loss, torch.Tensor):
        return loss
    return torch.tensor(loss)


@program(P, N)
def number_or_tensor_isinst2(x):
    loss = 0.0
    if x.sum() > 0:
        loss = loss + x.mean()
    return loss.item() if torch.is_tensor(loss) else loss


@program(P, N)
def int_or_float(x):
    n = 1 if x.sum() > 0 else 0.5
    return x * n


@program(P, N)
def tuple_lengths(x):
    if x.sum() > 0:
        r = (x,)
    else:
        r = (x, x + 1)
    return r


@program(P, N)
def tuple_lengths_len(x):
    if x.sum() > 0:
        r = (x,)
    else:
        r = (x, x + 1)
    if len(r) == 2:
        return r[0] + r[1]
    return r[0]


@program(P, N)
def tuple_lengths_sum(x):
    if x.sum() > 0:
        r = [x]
    else:
        r = [x, x + 1]
    return sum(r)


@program(P, N)
def tuple_shape_ret(x):
    if x.sum() > 0:
        return x
    return x, x + 1


@program(P, N)
def bool_flag(x):
    found = False
    if x.sum() > 0:
        found = True
    if found:
        return x + 1
    return x


@program(P, N)
def slice_each(x):
    s = slice(0, 2) if x.sum() > 0 else slice(1, 3)
    return x[s]


@program(P, N)
def tensor_or_tuple_isinst(x):
    out = x + 1
    if x.sum() > 0:
        out = (out, x)
    if isinstance(out, tuple):
        out = out[0]
    return out
