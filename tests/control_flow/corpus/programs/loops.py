"""`while` and `for` with bounds that data decides."""

from __future__ import annotations

import torch

from ..program import program, t

ROWS = torch.arange(6.0).reshape(3, 2)
ONE_ROW = torch.ones(1, 2)
NO_ROWS = torch.zeros(0, 2)
SMALL, LARGE, HUGE = t(0.5, 0.25), t(3.0, 4.0), t(100.0, 50.0)


def n(value):
    return torch.tensor(value)


@program(SMALL, LARGE, HUGE)
def while_norm(x):
    while x.norm() > 1:
        x = x / 2
    return x


@program(SMALL, LARGE, HUGE)
def while_counted(x):
    steps = 0
    while x.norm() > 1:
        x = x / 2
        steps += 1
    return x, steps


@program(SMALL, LARGE, HUGE)
def while_with_two_tests(x):
    steps = 0
    while x.norm() > 1 and steps < 3:
        x = x / 2
        steps += 1
    return x * steps


@program(SMALL, LARGE, HUGE)
def while_break(x):
    y = x
    while True:
        if y.norm() < 1:
            break
        y = y / 3
    return y


@program(SMALL, LARGE, HUGE)
def while_continue(x):
    i = 0
    total = torch.zeros(2)
    while x.norm() > 1:
        i += 1
        x = x / 2
        if x[0] > 10:
            continue
        total = total + x
    return total * i


@program(SMALL, LARGE, HUGE)
def while_else(x):
    while x.norm() > 1:
        x = x / 2
        if x[0] > 20:
            break
    else:
        x = x + 100
    return x


@program(SMALL, LARGE, HUGE)
def while_return(x):
    while x.norm() > 1:
        x = x / 2
        if x[0] > 20:
            return x * 1000
    return x


@program(SMALL, LARGE, HUGE)
def nested_while(x):
    outer = 0
    while x.norm() > 1:
        y = x
        while y.norm() > 2:
            y = y - y / 2
        x = x / 4 + y * 0
        outer += 1
    return x + outer


@program(SMALL, LARGE, HUGE)
def while_carries_pair(x):
    a, b = x, x * 0
    while a.norm() > 1:
        a, b = a / 2, b + a
    return a, b


@program(SMALL, LARGE)
def while_with_loop_inside(x):
    while x.norm() > 1:
        for _ in range(2):
            x = x / 1.5
    return x


@program((SMALL, n(0)), (SMALL, n(1)), (SMALL, n(4)))
def range_of_item(x, k):
    for _ in range(k.item()):
        x = x * 2
    return x


@program((SMALL, n(0)), (SMALL, n(1)), (SMALL, n(4)))
def range_with_index(x, k):
    for i in range(int(k)):
        x = x + i
    return x


@program((SMALL, n(0)), (SMALL, n(1)), (SMALL, n(5)))
def range_with_start_and_step(x, k):
    for i in range(1, int(k), 2):
        x = x * (i + 1)
    return x


@program((SMALL, n(0)), (SMALL, n(1)), (SMALL, n(4)))
def list_grown(x, k):
    outs = [x]
    for i in range(k.item()):
        x = x * 2
        outs.append(x)
    return torch.stack(outs)


@program((SMALL, n(1)), (SMALL, n(4)))
def list_grown_from_empty(x, k):
    outs = []
    for i in range(k.item()):
        outs.append(x + i)
    return torch.stack(outs)


@program((SMALL, n(0)), (SMALL, n(2)))
def list_comprehension_of_range(x, k):
    return torch.stack([x * i for i in range(k.item() + 1)])


@program(ROWS, ONE_ROW, NO_ROWS)
def rows(x):
    total = torch.zeros(2)
    for row in x:
        total = total + row * row
    return total


@program(ROWS, ONE_ROW, NO_ROWS)
def enumerated_rows(x):
    total = torch.zeros(2)
    for i, row in enumerate(x):
        total = total + row * i
    return total


@program((ROWS, ROWS + 1), (ONE_ROW, ONE_ROW))
def zipped_rows(a, b):
    total = torch.zeros(2)
    for x, y in zip(a, b):
        total = total + x * y
    return total


@program(ROWS, -ROWS, ONE_ROW)
def rows_with_if(x):
    total = torch.zeros(2)
    for row in x:
        if row.sum() > 4:
            total = total + row
        else:
            total = total - 1
    return total


@program(ROWS, -ROWS, ONE_ROW)
def rows_with_break(x):
    total = torch.zeros(2)
    for row in x:
        if row.sum() > 4:
            break
        total = total + row
    return total


@program(ROWS, -ROWS, ONE_ROW)
def rows_with_continue(x):
    total = torch.zeros(2)
    for row in x:
        if row.sum() < 2:
            continue
        total = total + row
    return total


@program(ROWS, -ROWS, ONE_ROW)
def rows_with_return(x):
    for row in x:
        if row.sum() > 4:
            return row * 10
    return x.sum(0)


@program(ROWS, -ROWS)
def for_else(x):
    total = torch.zeros(2)
    for row in x:
        if row.sum() > 4:
            break
        total = total + row
    else:
        total = total + 100
    return total


@program(ROWS, ONE_ROW)
def filtered_rows(x):
    kept = [row for row in x if row.sum() > 0]
    return torch.stack(kept)


@program(ROWS, ONE_ROW)
def mapped_rows(x):
    return torch.stack([row * 2 for row in x])


@program(torch.arange(8.0).reshape(2, 2, 2), torch.ones(1, 1, 2))
def nested_rows(x):
    total = torch.zeros(2)
    for plane in x:
        for row in plane:
            total = total + row
    return total


@program(t(1.0, -1.0, 2.0), t(0.0, 0.0, 0.0), t(1.0, 0.0, 0.0))
def over_nonzero(x):
    total = torch.zeros(())
    for index in x.nonzero().flatten():
        total = total + x[index] * 2
    return total


@program((SMALL, n(0)), (SMALL, n(3)))
def loop_draws_random(x, k):
    for _ in range(k.item()):
        x = x + torch.rand(2)
    return x


@program((SMALL, n(0)), (SMALL, n(3)))
def loop_in_place(x, k):
    y = x.clone()
    for i in range(k.item()):
        y[0] += i
        y.mul_(2)
    return y


@program((SMALL, n(0)), (SMALL, n(3)))
def last_value_of_variable(x, k):
    i = -1
    for i in range(k.item()):
        x = x + 1
    return x * i


@program((SMALL, n(0)), (SMALL, n(3)), (SMALL, n(6)))
def loop_with_raise(x, k):
    for i in range(k.item()):
        x = x * 2
        if x.norm() > 10:
            raise ValueError("diverged")
    return x


@program((SMALL, n(0)), (SMALL, n(3)))
def loop_then_branch(x, k):
    for i in range(k.item()):
        x = x * 2
    if x.norm() > 2:
        x = x - 1
    return x


@program((SMALL, n(1)), (SMALL, n(3)), (LARGE, n(2)))
def branch_with_loop(x, k):
    if x.sum() > 1:
        for _ in range(k.item()):
            x = x * 2
    else:
        x = x + 1
    return x


@program(SMALL, LARGE)
def plain_loop_with_branch(x):
    for i in range(4):
        if x.norm() > 1:
            x = x / 2
        else:
            x = x * 1.5
    return x


@program(SMALL, LARGE)
def plain_loop_with_break(x):
    for i in range(4):
        if x.norm() < 1:
            break
        x = x / 2
    return x


@program(SMALL, LARGE)
def plain_loop_with_return(x):
    for i in range(4):
        if x.norm() < 1:
            return x + i
        x = x / 2
    return x - 1


@program(SMALL, LARGE)
def plain_loop_with_continue(x):
    total = torch.zeros(2)
    for i in range(4):
        x = x / 2
        if x.norm() > 1:
            continue
        total = total + x
    return total


@program((SMALL, n(0)), (SMALL, n(3)))
def while_index(x, k):
    i = 0
    while i < k:
        x = x + i
        i += 1
    return x


@program((SMALL, n(0)), (SMALL, n(3)))
def while_tensor_index(x, k):
    i = torch.zeros((), dtype=torch.long)
    while i < k:
        x = x + i
        i = i + 1
    return x


@program((SMALL, n(0)), (SMALL, n(3)))
def two_lists(x, k):
    a, b = [x], [x * 0]
    for i in range(k.item()):
        a.append(a[-1] * 2)
        b.append(a[-1] + i)
    return torch.stack(a), torch.stack(b)


@program((SMALL, n(0)), (SMALL, n(3)))
def concatenated(x, k):
    seq = x.unsqueeze(0)
    for _ in range(k.item()):
        seq = torch.cat([seq, seq[-1:] * 2])
    return seq
