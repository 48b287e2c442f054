"""Programs whose data decides which way they go, with inputs for every way."""

from __future__ import annotations

import torch

ROWS = [
    torch.tensor(row)
    for row in (
        [1.0, 2.0, 3.0, 4.0],
        [-1.0, -2.0, -3.0, -4.0],
        [-3.0, -4.0, -5.0, -6.0],
        [0.5, 0.2, -0.3, 0.1],
        [2.0, -1.0, 5.0, 5.0],
        [-0.1, -0.1, -0.1, -0.1],
        [0.0, 0.0, 0.0, 0.0],
    )
]


def assigned_on_both_ways(x):
    if x.sum() > 0:
        y = x + 1
    else:
        y = x - 1
    return y * 2


def assigned_on_one_way(x):
    y = x * 3
    if x.sum() > 0:
        y = x + 1
    return y


def numbers(x):
    if x.sum() > 0:
        scale, shift = 2, 1.0
    else:
        scale, shift = 3, -1.0
    return x * scale + shift


def the_same_on_both_ways(x):
    if x.sum() > 0:
        scale = 2
    else:
        scale = 2
    return x * scale if scale == 2 else -x


def chain(x):
    if x[0] > 1:
        y = x
    elif x[0] > 0:
        y = x * 2
    elif x[0] > -2:
        y = x * 3
    else:
        y = x * 4
    return y.sin()


def nested(x):
    if x.sum() > 0:
        y = x
        if x.max() > 3:
            y = y * 2
            if x.min() > 0:
                y = y + 1
    else:
        y = -x
    return y


def early_return(x):
    if x.sum() > 0:
        return x * 2
    if x.max() < -2:
        return x * 3
    y = x + 1
    return y


def early_return_in_else(x):
    if x.sum() > 0:
        y = x * 2
    else:
        return x.cos()
    return y + x


def returns_nested(x):
    if x.sum() > 0:
        if x.max() > 3:
            return x * 5
        x = x + 1
    return x * 7


def returns_tuple(x):
    if x.sum() > 0:
        return x, {"a": x * 2}
    return -x, {"a": x * 3}


def conditional_expression(x):
    y = x * 2 if x.mean() > 0 else -x
    return y + (x[0] if x[0] > 0 else x[1])


def short_circuit(x):
    if x.sum() > 0 and x.min() > 0:
        return x + 1
    if x.sum() < -9 or x.max() == 5:
        return x + 2
    if not (x.sum() > 0):
        return x + 3
    return x + 4


def comparison_chain(x):
    if 0 < x[0] < 1:
        return x * 2
    if -2 <= x[0] < 0 <= x[1] * 0:
        return x * 3
    return x


def asserts(x):
    assert x.max() < 4.5, "too large"
    return x * 2


def raises(x):
    if x.max() > 4.5:
        raise ValueError("too large")
    return x * 2


def raises_on_the_way(x):
    if x.sum() > 0:
        if x.max() > 4.5:
            raise ValueError("too large")
        y = x + 1
    else:
        y = x
    return y


def in_place(x):
    y = x.clone()
    if x.sum() > 0:
        y += 1
        y.mul_(2)
        y[0] = 0
    return y


def view_written(x):
    y = x * 1
    z = y[1:]
    if x.sum() > 0:
        z.add_(10)
    return y


def helper(x):
    return _helper(x, 2) + _helper(-x, 3)


def _helper(x, factor):
    if x.sum() > 0:
        return x * factor
    return x / factor


def unpacked(x):
    a, b = x[:2], x[2:]
    if a.sum() > b.sum():
        a, b = b, a
    return a - 2 * b


def lists_and_dicts(x):
    if x.sum() > 0:
        parts, table = [x, x + 1], {"k": x}
    else:
        parts, table = [x * 2, x * 3], {"k": -x}
    return parts[0] + parts[1] * table["k"]


def size_decides(x):
    if x.shape[0] == 4 and x.sum() > 0:
        return x + 1
    return x


def tensor_as_test(x):
    if (x > 0).all():
        return x + 1
    if (x > 0).any():
        return x + 2
    return x


def clip_by_norm(x):
    norm = x.norm()
    if norm > 1.0:
        x = x / norm
    return x


def walrus(x):
    if (total := x.sum()) > 0:
        return x + total
    return x - total


def grad_mode_inside(x):
    if x.sum() > 0:
        with torch.no_grad():
            y = x * 2
        y = y + x
    else:
        y = x * 3
    return y


def random_on_one_way(x):
    if x.sum() > 0:
        x = x + torch.rand(4)
    return x + torch.rand(4)


def continues(x):
    y = x
    for step in range(3):
        if x.sum() > step * 3:
            y = y + step
        else:
            y = y - step
    return y


def number_decides(x):
    n = 0
    if x.sum() > 0:
        n = n + 1
    if x[0] > 0:
        n = n + 2
    if n > 2:
        return x * n
    return x - n


PROGRAMS = [
    value
    for name, value in list(globals().items())
    if callable(value) and not name.startswith("_") and getattr(value, "__module__", "") == __name__
]
