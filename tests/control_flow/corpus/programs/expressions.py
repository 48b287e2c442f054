"""Conditional expressions, `and`, `or`, `not`, chains, `in`, `any`, `all`, `min`, `max`, `sum`, `sorted`."""

from __future__ import annotations

import torch

from ..program import program, t

UP, DOWN, FLAT = t(1.0, 2.0, 3.0), t(-1.0, -2.0, -3.0), t(0.0, 0.0, 0.0)
MIXED = t(-1.0, 5.0, 2.0)


@program(UP, DOWN)
def ternary(x):
    return x * 2 if x.sum() > 0 else x - 1


@program(UP, DOWN, MIXED)
def nested_ternary(x):
    return x if x.min() > 0 else (x * 2 if x.max() > 0 else x * 3)


@program(UP, DOWN)
def ternary_number(x):
    k = 2 if x.sum() > 0 else 3
    return x * k


@program(UP, DOWN)
def ternary_in_call(x):
    return torch.add(x, x if x.sum() > 0 else -x, alpha=2)


@program(UP, DOWN, MIXED)
def and_condition(x):
    if x.sum() > 0 and x.min() > 0:
        return x + 1
    return x - 1


@program(UP, DOWN, MIXED)
def or_condition(x):
    if x.min() > 0 or x.max() < 0:
        return x + 1
    return x - 1


@program(UP, DOWN, MIXED)
def not_and_or(x):
    if not (x.min() > 0 or not x.max() > 0) and x.sum() > 1:
        return x + 1
    return x - 1


@program(UP, DOWN, FLAT)
def chain(x):
    if 0 < x.sum() < 10:
        return x + 1
    return x - 1


@program(UP, DOWN, FLAT, MIXED)
def long_chain(x):
    if -10 < x.min() <= x.max() < 4:
        return x + 1
    return x - 1


@program(UP, DOWN)
def short_circuit_random(x):
    if x.sum() > 0 and torch.rand(()) > -1:
        return x + torch.rand(3)
    return x + torch.rand(3)


@program(UP, DOWN)
def value_of_and(x):
    y = x.sum() > 0 and x.max()
    return x if y else -x


@program(UP, FLAT)
def value_of_or(x):
    return (x.sum() or x.sum() + 1) * x


@program(UP, DOWN)
def constant_operand(x):
    flag = True
    if flag and x.sum() > 0:
        return x + 1
    return x - 1


@program(UP, DOWN, MIXED)
def any_of_generator(x):
    if any(v > 2 for v in x.unbind()):
        return x + 1
    return x - 1


@program(UP, DOWN, MIXED)
def all_of_generator(x):
    if all(v > 0 for v in x.unbind()):
        return x + 1
    return x - 1


@program(UP, DOWN, MIXED)
def any_of_list(x):
    a, b, c = x.unbind()
    if any([a > 2, b > 2, c > 2]):
        return x + 1
    return x - 1


@program((UP, DOWN), (DOWN, UP))
def max_of_two(x, y):
    return max(x.sum(), y.sum()) * x


@program((UP, DOWN), (DOWN, UP))
def min_with_key(x, y):
    return min([x, y], key=lambda v: v.sum()) * 2


@program(UP, MIXED, DOWN)
def sorted_values(x):
    a, b, c = x.unbind()
    ordered = sorted([a, b, c])
    return ordered[0] * 1 + ordered[1] * 10 + ordered[2] * 100


@program(UP, MIXED)
def sorted_with_key(x):
    ordered = sorted(x.unbind(), key=lambda v: -v)
    return torch.stack(ordered)


@program(UP, DOWN)
def sum_of_generator(x):
    return sum(v * v for v in x.unbind())


@program(UP, MIXED)
def contained_number(x):
    if x[0].item() in (1.0, 2.0):
        return x + 1
    return x - 1


@program((UP, t(1.0)), (UP, t(7.0)))
def contained_in_tensor(x, v):
    if v in x:
        return x + 1
    return x - 1


@program(UP, MIXED)
def not_contained(x):
    if x[0].item() not in [1.0, 2.0]:
        return x + 1
    return x - 1


@program(UP, DOWN)
def lambda_with_ternary(x):
    pick = lambda v: v * 2 if v.sum() > 0 else v  # noqa: E731
    return pick(x) + pick(-x)


@program(UP, DOWN)
def clamp_by_hand(x):
    s = x.sum()
    s = 1.0 if s > 1.0 else (-1.0 if s < -1.0 else s)
    return x * s


@program(UP, DOWN, MIXED)
def filtered_comprehension(x):
    kept = [v * 2 for v in x.unbind() if v > 0]
    return sum(kept) + x


@program(UP, DOWN, MIXED)
def counted_comprehension(x):
    return x * sum(1 for v in x.unbind() if v > 0)


@program(UP, MIXED)
def ternary_comprehension(x):
    return torch.stack([v if v > 0 else v * 10 for v in x.unbind()])


@program(UP, DOWN)
def dict_comprehension(x):
    d = {i: (v if v > 0 else -v) for i, v in enumerate(x.unbind())}
    return d[0] + d[2]


@program(UP, DOWN)
def boolean_of_comparison(x):
    positive = bool((x > 0).all())
    return x * positive


@program(UP, DOWN)
def number_arithmetic(x):
    n = int(x.sum().item())
    if n > 0:
        n = n * 2
    return x * n
