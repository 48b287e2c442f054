"""Containers, comprehensions, texts and loops over numbers around decisions."""

# ruff: noqa: D101, D102, D103, D107, C419, F841, SIM102, UP031

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import nn

from ..program import program, t

P, N, M, Z = t(1.0, 2.0, 3.0), t(-1.0, -2.0, -3.0), t(1.0, -1.0, 2.0), t(0.0, 0.0, 0.0)


@dataclass
class Out:
    loss: torch.Tensor
    n: int = 0
    aux: torch.Tensor | None = None
    items: list = field(default_factory=list)


@program(P, N, M)
def dataclass_fields(x):
    o = Out(loss=x.sum())
    if x.sum() > 0:
        o.loss = o.loss * 2
        o.n += 1
    if o.n:
        return o.loss + 1
    return o.loss


@program(P, N, M)
def dataclass_optional(x):
    o = Out(loss=x.sum())
    if x.sum() > 0:
        o.aux = x.max()
    if o.aux is not None:
        return o.loss + o.aux
    return o.loss


@program(P, N, M)
def dataclass_list(x):
    o = Out(loss=x.sum())
    for i in range(3):
        if x[i] > 0:
            o.items.append(x[i])
    return len(o.items), o.loss


class NT(NamedTuple):
    a: torch.Tensor
    b: torch.Tensor


@program(P, N, M)
def namedtuple_replace(x):
    r = NT(x, x + 1)
    if x.sum() > 0:
        r = r._replace(b=x * 5)
    return r


@program(P, N, M)
def gen_filters(x):
    return sum(v * 2 for v in [x[0], x[1], x[2]] if v > 0 if v < 3)


@program(P, N, M)
def gen_nested(x):
    return sum(a * b for a in [x[0], x[1]] if a > 0 for b in [x[1], x[2]] if b > a)


@program(P, N, M)
def gen_max_default(x):
    return max((v for v in [x[0], x[1], x[2]] if v > 1), default=x.sum())


@program(P, N, M)
def sorted_min_max(x):
    vs = [x[0], x[1], x[2]]
    s = sorted(vs, key=lambda v: -abs(v))
    return s[0], min(vs, key=abs), max(vs, key=lambda v: v * v), sorted(vs, reverse=True)[0]


@program(P, N, M)
def sorted_pairs(x):
    vs = [(x[i], i) for i in range(3)]
    s = sorted(vs, key=lambda p: p[0], reverse=True)
    return s[0][0], [p[1] for p in s]


@program(P, N, M)
def enum_zip_rev(x):
    out = x.new_zeros(())
    for i, (a, b) in enumerate(zip([x[0], x[1], x[2]], reversed([x[0], x[1], x[2]]))):
        if a > b:
            out = out + a * i
        else:
            out = out - b * i
    return out


@program(P, N, M)
def dict_comp_filter(x):
    d = {i: v for i, v in enumerate([x[0], x[1], x[2]]) if v > 0}
    return sum(d.values())


@program(P, N, M)
def dict_comp_plain(x):
    d = {i: (v if v > 0 else -v) for i, v in enumerate([x[0], x[1], x[2]])}
    return d[0] + d[2]


@program(P, N, M)
def set_comp(x):
    s = {int(v) for v in [x[0], x[1], x[2]]}
    return len(s)


@program(P, N, M)
def set_in(x):
    seen = {1, 2, 3}
    if int(x[0]) in seen:
        return x * 2
    return x


@program(P, N, M)
def fstring_assert(x):
    assert x.sum() > 0, f"bad sum {x.sum().item():.2f} of {x.shape}"
    return x * 2


@program(P, N, M)
def assert_msg_tensor(x):
    s = x.sum()
    assert s > 0, "negative: " + str(s.item())
    return x * 2


class OtherError(ValueError):
    def __init__(self, v, name="?"):
        super().__init__(f"{name}: {v}")
        self.v = v


@program(P, N, M)
def raise_custom(x):
    if x.sum() < 0:
        raise OtherError(3, name="k")
    return x


@program(P, N, M)
def raise_custom_val(x):
    if x.sum() < 0:
        raise OtherError(x.sum().item(), name="k")
    return x


@program(P, N, M)
def raise_fstring(x):
    m = x.min().item()
    if m < 0:
        raise ValueError(f"min is {m}")
    return x


@program(P, N, M)
def fstring_ret(x):
    if x.sum() > 0:
        s = "positive"
    else:
        s = "negative"
    return x, f"{s}!"


@program(P, N, M)
def any_all_min(x):
    vs = [x[0], x[1], x[2]]
    if any(v < 0 for v in vs) and not all(v < 0 for v in vs):
        return min(vs) * 2
    elif all([v > 0 for v in vs]):
        return max(*vs)
    return sum(vs, x.new_zeros(()))


@program(P, N, M)
def not_in_(x):
    if x[0].item() not in [1.0, 5.0]:
        return x * 2
    return x


@program(P, N, M)
def tuple_swap(x):
    a, b = x[0], x[1]
    if a < b:
        a, b = b, a
    return a - b * 2


@program(P, N, M)
def multi_assign(x):
    a = b = x[0]
    if x.sum() > 0:
        a = b = x[1]
    a += 1
    return a, b


@program(P, N, M)
def cond_default_args(x, scale=2, *, bias=None):
    if bias is None:
        bias = x.mean()
    if bias > 0:
        return x * scale
    return x + bias


@program(P, N, M)
def while_true_break(x):
    n = 0
    while True:
        x = x * 0.5
        n += 1
        if x.abs().max() < 0.3:
            break
        if n > 5:
            return x, -1
    return x, n


@program(P, N, M)
def while_else_(x):
    n = 0
    while x.sum() > 1:
        x = x / 2
        n += 1
        if n == 2:
            break
    else:
        x = x + 100
    return x, n


@program(
    (t(1.0, 2.0, 3.0), torch.tensor(2)),
    (t(1.0, 2.0, 3.0), torch.tensor(0)),
    (t(1.0, 2.0, 3.0), torch.tensor(3)),
)
def range_item_comp(x, n):
    return [x[i] for i in range(n.item())]


@program(
    (t(1.0, 2.0, 3.0), torch.tensor(2)),
    (t(1.0, 2.0, 3.0), torch.tensor(0)),
    (t(1.0, 2.0, 3.0), torch.tensor(3)),
)
def range_item_nested(x, n):
    tot = x.new_zeros(())
    for i in range(n.item()):
        for j in range(i):
            tot = tot + x[i] * x[j]
    return tot


@program(
    (t(1.0, 2.0, 3.0), torch.tensor(2)),
    (t(1.0, 2.0, 3.0), torch.tensor(0)),
    (t(1.0, 2.0, 3.0), torch.tensor(3)),
)
def while_list_pop(x, n):
    stack = [x[0], x[1], x[2]]
    out = x.new_zeros(())
    while stack:
        v = stack.pop()
        if v > 1:
            out = out + v
    return out


class Lin(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(3)])

    def forward(self, x):
        for i, l in enumerate(self.layers):
            h = l(x)
            if h.norm() < x.norm():
                x = h
                continue
            if i == 1:
                return h
            x = x + h
        else:
            x = x * 2
        return x


program(P, N, M)(Lin)


@program(P, N, M)
def global_fn_table(x):
    for fn in (torch.relu, torch.tanh, torch.sigmoid):
        y = fn(x)
        if y.sum() > 1:
            return y
    return x


@program(P, N, M)
def ternary_in_args(x):
    return torch.clamp(x, min=0 if x.sum() > 0 else -2, max=(2.5 if x[0] > 0 else None))


@program(P, N, M)
def int_floor(x):
    k = int(x.sum())
    if k > 3:
        k -= 1
    return x * k


@program(P, N, M)
def bool_arith(x):
    n = (x[0] > 0).item() + (x[1] > 0).item()
    return x * n


@program(P, N, M)
def index_by_item(x):
    i = x.argmax().item()
    return x[i] * 2, x[:i]


@program(P, N, M)
def iter_dict_items(x):
    d = {"a": x[0], "b": x[1]}
    best, arg = None, None
    for k, v in d.items():
        if best is None or v > best:
            best, arg = v, k
    return best


@program(P, N, M)
def iter_best_key(x):
    d = {"a": x[0], "b": x[1]}
    best, arg = None, None
    for k, v in d.items():
        if best is None or v > best:
            best, arg = v, k
    return best, arg
