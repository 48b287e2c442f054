"""Objects, variables of enclosing functions and containers in containers that change on one way or in a loop."""

# ruff: noqa: D101, D102, D103, D107, PLW0603, C419, F841, SIM102, UP031

from __future__ import annotations

import collections
import dataclasses
from dataclasses import dataclass

import torch

from ..program import program, t

P, N, M, Z = t(1.0, 2.0, 3.0), t(-1.0, -2.0, -3.0), t(1.0, -1.0, 2.0), t(0.0, 0.0, 0.0)


@program(P, N, t(1.0, -1.0, 2.0))
def dict_lists(x):
    groups = {"pos": [], "neg": []}
    for i in range(3):
        if x[i] > 0:
            groups["pos"].append(x[i])
        else:
            groups["neg"].append(x[i])
    return len(groups["pos"]), len(groups["neg"])


@program(P, N, t(1.0, -1.0, 2.0))
def dict_lists_stack(x):
    groups = {"pos": [x[0]], "neg": [x[0]]}
    for i in range(3):
        key = "pos" if x[i] > 0 else "neg"
        groups[key].append(x[i])
    return torch.stack(groups["pos"]).sum() - torch.stack(groups["neg"]).sum()


@program(P, N, t(1.0, -1.0, 2.0))
def defaultdict_lists(x):
    groups = collections.defaultdict(list)
    for i in range(3):
        if x[i] > 0:
            groups["pos"].append(x[i])
        else:
            groups["neg"].append(x[i])
    return sum(groups["pos"]) - sum(groups["neg"])


@program(P, N, t(1.0, -1.0, 2.0))
def list_of_lists(x):
    buckets = [[], []]
    for v in x:
        if v > 0:
            buckets[0].append(v)
        else:
            buckets[1].append(v)
    return sum(buckets[0]) - sum(buckets[1])


@program(P, N, t(1.0, -1.0, 2.0))
def dict_get_count(x):
    counts = {}
    for v in x:
        k = "p" if v > 0 else "n"
        counts[k] = counts.get(k, 0) + 1
    return x * counts.get("p", 0)


@program(P, N, t(1.0, -1.0, 2.0))
def tuple_of_lists(x):
    pos, neg = [], []
    for v in x:
        (pos if v > 0 else neg).append(v)
    return sum(pos) - sum(neg)


@program(P, N)
def nonlocal_count(x):
    n = 0

    def bump(v):
        nonlocal n
        if v.sum() > 0:
            n += 1
        return v * 2

    y = bump(x)
    z = bump(-x)
    return y + z + n


@program(P, N)
def nonlocal_tensor(x):
    best = x.new_zeros(())

    def see(v):
        nonlocal best
        if v.sum() > best:
            best = v.sum()

    see(x)
    see(-x)
    see(x * 2)
    return best


@program(P, N)
def nonlocal_in_loop(x):
    total = x.new_zeros(())

    def add(v):
        nonlocal total
        total = total + v

    i = 0
    while total < 5 and i < 4:
        add(x.abs().sum())
        i += 1
    return total


COUNT = 0


@program(P, N)
def global_write(x):
    global COUNT
    COUNT = 0
    if x.sum() > 0:
        COUNT = 1
    return x + COUNT


@program(P, N)
def nonlocal_on_way(x):
    n = 0

    def hit():
        nonlocal n
        n += 1

    if x.sum() > 0:
        hit()
    return x + n


@program(P, N, t(1.0, -1.0, 2.0))
def walrus_compr(x):
    ys = [y for v in x if (y := v * 2) > 0]
    return sum(ys)


@program(P, N, t(1.0, -1.0, 2.0))
def walrus_compr_last(x):
    ys = [(last := v * 2) for v in x if v > 0]
    return sum(ys)


@program(P, N, t(1.0, -1.0, 2.0))
def walrus_any(x):
    if any((hit := v) > 0 for v in x):
        return hit * 2
    return x.sum()


@program(P, N, t(1.0, -1.0, 2.0))
def walrus_any_list(x):
    if any((hit := v) > 1 for v in [x[0], x[1], x[2]]):
        return hit * 2
    return x.sum()


@program((t(3.0)), (t(0.0)), (t(1.0)))
def colon_while(x):
    n = 0
    while (x := x - 1).sum() > 0:
        n += 1
    return x, n


@program(P, N, M)
def nonlocal_loop_count(x):
    n = 0
    hits = []

    def see(v):
        nonlocal n
        if v > 0:
            n += 1
            hits.append(v)

    for v in x:
        see(v)
    return n, sum(hits)


@program(P, N, M)
def nonlocal_two_levels(x):
    s = x.new_zeros(())

    def outer():
        def inner(v):
            nonlocal s
            if v > 0:
                s = s + v
            else:
                s = s - 2 * v

        for v in [x[0], x[1]]:
            inner(v)

    outer()
    return s


class Acc:
    def __init__(self):
        self.total = 0.0
        self.items = []
        self.best = None

    def add(self, v):
        if v > 0:
            self.total = self.total + v
            self.items.append(v)
        if self.best is None or v > self.best:
            self.best = v

    def result(self):
        if len(self.items) == 0:
            return self.best
        return torch.stack(self.items).mean() + self.total


@program(P, N, M)
def accumulator_object(x):
    acc = Acc()
    for i in range(3):
        acc.add(x[i])
    return acc.result()


@program(P, N, M)
def accumulator_object_rows(x):
    acc = Acc()
    for v in x:
        acc.add(v)
    return acc.result()


@program(P, N, M)
def alias_nested_holds(x):
    a = []
    d = {"a": a, "b": a}
    if x.sum() > 0:
        d["a"].append(x)
    return len(d["b"])


@program(P, N, M)
def alias_nested_var(x):
    a = [x]
    d = {"a": a}
    if x.sum() > 0:
        d["a"].append(x)
    return len(a)


@program(P, N, M)
def alias_nested_item(x):
    a = [x, x]
    d = {"a": a}
    if x.sum() > 0:
        d["a"][0] = x * 2
    return a[0] + d["a"][1]


@program(P, N, M)
def object_alias(x):
    a = Acc()
    b = a
    if x.sum() > 0:
        b.total = x.sum()
    return a.total


@program(P, N, M)
def object_in_list(x):
    accs = [Acc(), Acc()]
    for i in range(3):
        accs[0 if i < 2 else 1].add(x[i])
    return accs[0].result() + accs[1].result()


@program(P, N, M)
def dict_new_key_both(x):
    d = {}
    if x.sum() > 0:
        d["r"] = x
    else:
        d["r"] = -x
    return d["r"]


@program(P, N, M)
def dict_in_dict(x):
    d = {"a": {"v": x, "n": 0}}
    if x.sum() > 0:
        d["a"]["v"] = x * 2
        d["a"]["n"] += 1
    return d["a"]["v"] * d["a"]["n"]


@program(P, N, M)
def while_object(x):
    class S:
        pass

    s = S()
    s.x = x
    s.n = 0
    while s.x.abs().sum() > 1:
        s.x = s.x / 2
        s.n += 1
    return s.x, s.n


@dataclass
class State:
    h: torch.Tensor
    n: int = 0
    done: bool = False


@program(P, N, M)
def while_dataclass(x):
    s = State(x)
    while not s.done:
        s.h = s.h / 2
        s.n += 1
        if s.h.abs().sum() < 1 or s.n > 4:
            s.done = True
    return s.h, s.n


@program(P, N, M)
def while_dataclass_new(x):
    s = State(x)
    while s.h.abs().sum() > 1:
        s = State(s.h / 2, s.n + 1)
    return s.h, s.n


@program(P, N, M)
def dataclass_replace(x):
    s = State(x)
    if x.sum() > 0:
        s = dataclasses.replace(s, h=x * 2, n=s.n + 1)
    return s.h * s.n


@program(P, N, M)
def nonlocal_in_while(x):
    n = 0

    def step(v):
        nonlocal n
        n += 1
        return v / 2

    while x.abs().sum() > 1:
        x = step(x)
    return x, n


@program(P, N, M)
def nonlocal_ternary(x):
    n = 0

    def hit(v):
        nonlocal n
        n += 1
        return v * 2

    y = hit(x) if x.sum() > 0 else x
    return y + n


@program(P, N, M)
def nonlocal_and(x):
    n = 0

    def hit(v):
        nonlocal n
        n += 1
        return v.max() > 2

    if x.sum() > 0 and hit(x):
        return x + n
    return x - n


@program(P, N, M)
def nonlocal_return(x):
    log = []

    def f(v):
        log.append(v.sum())
        if v.sum() > 0:
            log.append(v.max())
            return v * 2
        return v

    y = f(x)
    return y, len(log)


@program(P, N, M)
def closure_dict_counts(x):
    c = {"n": 0, "s": x.new_zeros(())}

    def f(v):
        if v > 0:
            c["n"] += 1
            c["s"] = c["s"] + v

    for v in x:
        f(v)
    return c["s"] * c["n"]


@program(P, N, M)
def raise_after_change(x):
    n = [0]

    def f(v):
        if v.sum() < 0:
            n[0] += 1
            raise ValueError("neg")
        n[0] += 2
        return v

    return f(x) * n[0]


@program(P, N, M)
def deque_append(x):
    d = collections.deque(maxlen=2)
    for i in range(3):
        if x[i] > 0:
            d.append(x[i])
    return sum(d)


@program(P, N, M)
def attr_list_of_self_object(x):
    class H:
        def __init__(self):
            self.vals = [0, 0, 0]

    h = H()
    for i in range(3):
        if x[i] > 0:
            h.vals[i] = x[i]
    return sum(h.vals)


@program(P, N, M)
def nested_alias(x):
    l = []
    d = {"a": l}
    if x.sum() > -3:
        if x.max() > 2:
            l.append(x)
    return len(d["a"])


@program(P, N, M)
def nested_alias_two(x):
    l = []
    d = {"a": l}
    e = {"b": l}
    if x.sum() > -3:
        if x.max() > 2:
            d["a"].append(x)
    return len(e["b"])


@program(P, N, M)
def nested_buckets(x):
    b = [[], []]
    if x.sum() > -3:
        b[0].append(x[0])
        if x.max() > 2:
            b[1].append(x[1])
    return len(b[0]), len(b[1])
