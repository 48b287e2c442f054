# ruff: noqa: RET505, B007, PERF401, F841, UP031 - programs as people write them
"""Programs whose values alias, differ in kind or size, or end in exceptions on some of their paths."""

import torch

from ..program import program, t

P, N, B = t(1.0, 2.0, 3.0), t(-1.0, 0.5, -2.0), t(100.0, 50.0, 25.0)

CL = []


@program(P, N)
def inplace_alias(x):
    y = x * 1
    z = y
    if x.sum() > 0:
        y = x * 2
    y.add_(1)
    return y, z


@program(P, N)
def view_alias(x):
    y = x * 1
    v = y[0]
    if x.sum() > 0:
        v.add_(5)
    return y


@program((P, torch.tensor(2)), (N, torch.tensor(0)))
def swap(x, n):
    a, b = x, x + 1
    for i in range(n.item()):
        a, b = b, a * 2
    return a, b


@program((P, torch.tensor(2)), (N, torch.tensor(0)))
def inplace_carried(x, n):
    a = x * 1
    b = a
    for i in range(n.item()):
        a.mul_(2)
    return a, b


@program((P, torch.tensor(2)), (N, torch.tensor(0)))
def inplace_iadd(x, n):
    a = x * 1
    b = a
    for i in range(n.item()):
        a += 1
    return a, b


@program((P, torch.tensor(2)), (N, torch.tensor(0)))
def list_pop(x, n):
    outs = [x, x + 1, x + 2]
    for i in range(n.item()):
        outs.pop()
    return len(outs)


@program((P, torch.tensor(2)), (N, torch.tensor(0)))
def list_extend(x, n):
    outs = [x]
    for i in range(n.item()):
        outs.extend([x, x + i])
    return torch.stack(outs)


@program((P, torch.tensor(2)), (N, torch.tensor(0)))
def list_iadd(x, n):
    outs = [x]
    o2 = outs
    for i in range(n.item()):
        outs += [x + i]
    return len(outs), len(o2)


@program((P, torch.tensor(2)), (N, torch.tensor(0)))
def list_insert(x, n):
    outs = [x]
    for i in range(n.item()):
        outs.insert(0, x + i)
    return torch.stack(outs)


@program((P, torch.tensor(2)), (N, torch.tensor(0)))
def list_set_del(x, n):
    outs = [x, x + 1]
    for i in range(n.item()):
        outs.append(x + i)
        outs[0] = outs[-1] * 2
    return torch.stack(outs), outs[0], outs[:2]


@program((P, torch.tensor(2)), (N, torch.tensor(0)))
def two_growing(x, n):
    a = []
    b = []
    for i in range(n.item()):
        a.append(x + i)
        b.append((x * i, i))
    return len(a) + len(b), [u + v for u, (v, k) in zip(a, b)]


@program((P, torch.tensor(2)), (N, torch.tensor(0)))
def dict_grows(x, n):
    d = {}
    for i in range(n.item()):
        d[i] = x
    return len(d)


@program((P, torch.tensor(2)), (N, torch.tensor(0)))
def strings(x, n):
    s = "a"
    for i in range(n.item()):
        s = "b"
    return x, s


@program((P, torch.tensor(2)), (N, torch.tensor(0)))
def nones(x, n):
    best = None
    for i in range(n.item()):
        if best is None:
            best = x * i
        else:
            best = best + 1
    return x if best is None else best


@program((P, torch.tensor(2)), (N, torch.tensor(0)))
def first_flag(x, n):
    first = True
    for i in range(n.item()):
        if first:
            x = x + 10
            first = False
        x = x * 2
    return x, first


@program(P, N, B)
def while_py_counter_index(x):
    w = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0]
    i = 0
    while x.sum() > 1:
        x = x / 2 * w[i] / w[i]
        i += 1
    return x, i


@program(P, N, B)
def walrus_while(x):
    while (s := x.sum()) > 1:
        x = x / 2
    return x, s


@program(P, N)
def del_var(x):
    y = x
    if x.sum() > 0:
        y = x + 1
    del y
    return x


@program(P, N)
def global_list(x):
    CL.append(1)
    CL.clear()
    outs = CL
    if x.sum() > 0:
        outs.append(x)
    r = len(CL)
    CL.clear()
    return r, x


@program(P, N)
def gen_list(x):
    outs = [x]
    g = (o for o in outs)
    if x.sum() > 0:
        outs.append(x + 1)
    return len(list(g))


@program(P, N)
def ret_shared(x):
    a = [x]
    if x.sum() > 0:
        return a, a
    return a, [x]


@program(P, N)
def obj_in_branch(x):
    class Box:
        pass

    b = Box()
    b.v = x
    if x.sum() > 0:
        b.v = x * 2
    return b.v


@program(P, N)
def dtype_merge(x):
    y = x.long() if x.sum() > 0 else x
    return y.dtype == torch.float32, y


@program(P, N)
def dtype_merge2(x):
    y = x.long() if x.sum() > 0 else x
    if y.dtype == torch.float32:
        return y + 1
    return y - 1


@program(P, N)
def rank_merge(x):
    y = x[None] if x.sum() > 0 else x
    return y * (y.dim()), len(y.shape)


@program(P, N)
def size_merge(x):
    y = x[:2] if x.sum() > 0 else x
    return y.sum() * y.shape[0], torch.arange(y.shape[0])


@program(P, N)
def size_decide(x):
    y = x[:2] if x.sum() > 0 else x
    if y.shape[0] == 2:
        return y + 10
    return y


@program(P, N)
def size_range(x):
    y = x[:2] if x.sum() > 0 else x
    z = 0
    for i in range(y.shape[0]):
        z = z + y[i] * i
    return z


@program(P, N)
def size_unpack(x):
    y = x[:2] if x.sum() > 0 else x
    return sum([v * 2 for v in y])


@program(P, N)
def raises_helper(x):
    if x.sum() > 0:
        return x
    return bad(x)


def bad(x):
    raise ValueError("no %d" % 3)


@program(P, N)
def raise_cause(x):
    if x.sum() < 0:
        raise ValueError("neg") from KeyError("k")
    return x


@program(P, N)
def nested_try(x):
    try:
        y = x * 2
        if x.sum() > 0:
            y = y + 1
    finally:
        z = 1
    return y


@program(P, N)
def with_no_grad(x):
    if x.sum() > 0:
        with torch.no_grad():
            y = x * 2
    else:
        y = x
    return y


@program(P, N)
def in_no_grad(x):
    with torch.no_grad():
        y = x
        if x.sum() > 0:
            y = x * 2
    return y + x


@program(P, N)
def rand_test(x):
    k = 0
    while torch.rand(()) < 0.7:
        k += 1
        x = x + torch.rand(3)
        if torch.rand(()) > 0.9:
            break
    return x, k


@program((P, torch.tensor(3)), (N, torch.tensor(1)))
def enumerate_start(x, n):
    for i, r in enumerate(x[: n.item()], 2):
        x = x + r * i
    for i, r in enumerate(x[: n.item()], start=5):
        x = x + r * i
    return x


@program((P, torch.tensor(3)), (N, torch.tensor(1)))
def rev(x, n):
    for r in reversed(x[: n.item()]):
        x = x + r
    for i in reversed(range(n.item())):
        x = x * 2 + i
    return x


@program((P, torch.tensor(3)), (N, torch.tensor(1)))
def loop_var_after(x, n):
    i = 7
    for i in range(n.item()):
        pass
    return x * i


@program((P, torch.tensor(3)), (N, torch.tensor(0)))
def loop_var_mut(x, n):
    for i in range(n.item()):
        i = i * 2
        x = x + i
    return x


@program(P, N)
def chained_default(x, acc=[]):
    if x.sum() > 0:
        acc.append(1)
    r = len(acc)
    acc.clear()
    return x * r


@program(P, N)
def sets(x):
    s = {1}
    if x.sum() > 0:
        s.add(2)
    return x * len(s)


@program(P, N)
def iterator_branch(x):
    it = iter([1.0, 2.0, 3.0])
    if x.sum() > 0:
        x = x * next(it)
    return x * next(it)


@program(P, N)
def minmax(x):
    a, b = x[0], x[1]
    return max(a, b), min(a, b, x[2]), max(x.sum().item(), 0.5)


@program(P, N)
def not_in(x):
    return (x.sum() > 0) is True, not (x.sum() > 0)
