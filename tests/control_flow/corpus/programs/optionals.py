# ruff: noqa: E711, SIM102, RET505, B007, PERF401, RET503 - programs as people write them
"""Programs with values that are None or not, as the data decides."""

import functools

import torch
import torch.nn.functional as F
from torch import nn

from ..program import program, t

P = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [1.0, 1.0, 1.0]])
N, Z = -P, P * 0.01


def _mask(x):
    if x.sum() > 0:
        return None
    return x > -5


def _masked(x, mask=None):
    if mask is None:
        return x
    return x * mask


@program(P, N)
def mask_through_functions(x):
    return _masked(x, _mask(x))


@program(P, N)
def mask_through_a_table(x):
    return {"masked": functools.partial(_masked, x)}["masked"](mask=_mask(x))


@program(P, N)
def used_where_it_may_be_none(x):
    m = None
    if x.sum() > 0:
        m = x
    return m.sum() + m.shape[0]


@program(P, N)
def asked_for_its_shape(x):
    m = None
    if x.sum() > 0:
        m = x
    return x * m.dim()


@program(P, N)
def added_where_it_may_be_none(x):
    m = None
    if x.sum() > 0:
        m = x
    return x + m


@program(P, N)
def given_or_input(x):
    m = x * 2 if x.sum() > 0 else None
    m = m if m is not None else x
    return m + 1


@program(P, N)
def bias_or_none(x):
    b = None
    if x.sum() > 0:
        b = x[0]
    return F.linear(x, torch.ones(3, 3), b)


@program(P, N)
def limit_or_none(x):
    low = high = None
    if x.sum() > 0:
        low = x[0]
    else:
        high = x[1:2]
    return x.clamp(low, high).shape, x.clamp(low, high)


@program(P, N, Z)
def asserted_not_none(x):
    b = None
    if x.max() > 1:
        b = x[0]
    assert b is not None, "nothing is above one"
    return b * 2


@program(P, N, Z)
def two_that_may_be_none(x):
    b = c = None
    if x.sum() > 0:
        b = x[0]
    if x.max() > 1:
        c = x[1]
    if b is not None and c is not None:
        return b + c
    if b is None and c is None:
        return x[0] * 0
    return b if c is None else c


@program(P, N)
def filled_in(x):
    b = None
    if x.sum() > 0:
        b = x[0]
    if b is None:
        b = x[1]
    return b * 2


@program(P, N)
def number_or_none(x):
    k = None
    for i, row in enumerate(x):
        if row.sum() > 6:
            k = i
            break
    if k is None:
        return x
    return x * k


@program(P, N)
def returned_or_none(x):
    b = None
    if x.sum() > 0:
        b = x[0]
    return x, b


@program(P, N)
def equal_to_none(x):
    b = None
    if x.sum() > 0:
        b = x[0]
    if b == None:
        return x
    return x + 1


@program(P, N)
def asked_by_class(x):
    b = None
    if x.sum() > 0:
        b = x[0]
    if isinstance(b, torch.Tensor):
        return x
    return x + 1


@program(P, N)
def asked_in_a_lambda(x):
    b = None
    if x.sum() > 0:
        b = x[0]
    later = lambda: 1 if b is None else 2
    return x * later()


@program(P, N)
def asked_in_a_function(x):
    b = None
    if x.sum() > 0:
        b = x[0]

    def later():
        if b is None:
            return x
        return x + b

    return later()


@program(P, N)
def in_a_dict(x):
    d = {"a": None, "b": x}
    if x.sum() > 0:
        d["a"] = x * 2
    return d["a"] if d["a"] is not None else d["b"]


@program(P, N)
def known_in_a_loop(x):
    m = None
    if x.sum() > 0:
        m = x > 2
    out = x
    for i in range(3):
        if m is not None:
            out = out.masked_fill(m, 0.0) + i
    return out


@program(P, N)
def matched_none(x):
    m = None
    if x.sum() > 0:
        m = x * 2
    match m:
        case None:
            return x
        case _:
            return m


@program(P, N, Z)
def best_of_all(x):
    best, score = None, 0.0
    for row in x:
        if best is None or row.sum() > score:
            best, score = row, row.sum()
    return best * 2, score


@program(P, N)
def best_above(x):
    best = None
    for row in x:
        if row.sum() > 5 and (best is None or row.sum() > best.sum()):
            best = row
    return best


@program((P, torch.tensor(3)), (P, torch.tensor(0)), (P, torch.tensor(1)))
def last_round(x, n):
    last = None
    for i in range(n.item()):
        if last is not None:
            x = x + last
        last = x * i
    return x, last


@program(t(1.0, 2.0, 3.0), t(100.0, 1.0, 1.0), t(-1.0, 0.0, 0.0))
def while_with_a_memory(x):
    before = None
    while x.sum() > 1:
        before = x
        x = x / 2
    return x if before is None else before - x


@program(P, N)
def forgotten_in_a_loop(x):
    kept = x[0]
    for row in x:
        if row.sum() > 20:
            kept = None
        elif kept is not None:
            kept = kept + row
    return kept


@program(P, N)
def none_filtered(x):
    found = [row if row.sum() > 6 else None for row in x.unbind(0)]
    return sum([row for row in found if row is not None], torch.zeros(3))


@program(P, N)
def none_in_a_growing_list(x):
    outs = []
    for row in x:
        outs.append(row if row.sum() > 6 else None)
    return sum([row for row in outs if row is not None], torch.zeros(3))


@program(P, N)
class Attends(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(3, 1)

    def mask(self, x):
        if (x.sum() > 0).item():
            return torch.eye(4) > 1
        return None

    def forward(self, x):
        return self.attention(x, x, x, attn_mask=self.mask(x))[0]


@program(P, N)
class Hidden(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, x):
        bias = None
        if x.sum() > 0:
            bias = self.scale
        return getattr(self, "with" + "_bias")(x, bias=bias)

    def with_bias(self, x, bias):
        if bias is not None:
            x = x + bias
        return x * self.scale


@program(P, N, P)
class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x):
        found = None
        if x.sum() > 0:
            found = x.detach().mean()
        if found is not None:
            self.seen += found
        return x + self.seen


@program(P, N)
def unpacked(x):
    m = None
    if x.sum() > 0:
        m = x
    a, b, c, d = m
    return a + b


@program(P, N)
def indexed(x):
    i = None
    if x.sum() > 0:
        i = torch.tensor([0, 1])
    return x[i]


@program(P, N)
def truth_of_none(x):
    m = None
    if x.sum() > 0:
        m = x.sum()
    if m:
        return x
    return x + (m or x.mean())


def _made():
    def inner(x, m):
        return x if m is None else m * 3

    return inner


@program(P, N)
def asked_in_a_function_made_anew(x):
    m = None
    if x.sum() > 0:
        m = x * 2
    return _made()(x, m)


@program(P, N, P * 3)
def none_in_nested_decisions(x):
    m = None
    if x.sum() > 0:
        if x.max() > 10:
            m = x * 2
    if m is not None:
        if m.sum() > 200:
            m = None
    return x if m is None else m


_hidden = {}
exec("def hidden(x, m):\n    return x if m is None else x * 2\n", _hidden)  # noqa: S102


@program(P, N)
def asked_without_text(x):
    m = None
    if x.sum() > 0:
        m = x
    return _hidden["hidden"](x, m)


@program(P, N)
def asked_in_a_generator(x):
    m = None
    if x.sum() > 0:
        m = x * 2

    def present(values):
        for value in values:
            if value is not None:
                yield value

    return sum(present([m, x]))
