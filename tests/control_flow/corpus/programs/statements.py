"""Statements and expressions of all kinds around decisions."""

# ruff: noqa: D101, D102, D103, D107, C419, F841, SIM102, UP031

from __future__ import annotations

import contextlib
import functools
from dataclasses import dataclass, field
from typing import NamedTuple

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
