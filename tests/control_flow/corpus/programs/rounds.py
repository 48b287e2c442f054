# ruff: noqa: D101, D102, D103, SIM108, RET505, B007, B011, PERF401, FBT - programs as people write them
"""Loops, and what they carry from round to round."""

import torch
from torch import nn

from ..program import program, t

POS, NEG = t(1.0, 2.0, 3.0), t(-1.0, 0.5, -2.0)

BIG = t(100.0, 50.0, 25.0)


@program(POS, NEG, BIG)
def while_halving(x):
    while x.sum() > 1:
        x = x / 2
    return x


@program(POS, NEG, BIG)
def while_counting(x):
    n = 0
    while x.sum() > 1:
        x = x / 2
        n += 1
    return x, n


@program(POS, BIG, NEG)
def while_break_else(x):
    while x.sum() > 4:
        x = x / 2
        if x[0] < 7:
            break
    else:
        x = x + 100
    return x


@program(POS, BIG, NEG)
def bounded_while(x):
    i = 0
    while i < 5 and x.sum() > 1:
        x = x / 2
        i += 1
    return x * i


@program(POS, BIG, NEG)
def flag_loop(x):
    done = False
    while not done:
        x = x * 0.5
        done = x.sum() < 1
    return x


@program((t(4.0, 9.0),), (t(1.0, 1.0),), (t(100.0, 3.0),))
def newton(x):
    y = x
    while (y * y - x).abs().max() > 1e-3:
        y = (y + x / y) / 2
    return y


@program((POS, torch.tensor(0)), (POS, torch.tensor(1)), (NEG, torch.tensor(4)))
def for_range_item(x, n):
    for i in range(n.item()):
        x = x * 2 + i
    return x


@program((POS, torch.tensor(0)), (POS, torch.tensor(1)), (NEG, torch.tensor(4)))
def for_range_int(x, n):
    total = 0.0
    for i in range(int(n)):
        total = total + x[0] * i
    return x + total


@program((POS, torch.tensor(0)), (POS, torch.tensor(1)), (NEG, torch.tensor(5)))
def for_range_break(x, n):
    for i in range(n.item()):
        if x.sum() > 20:
            break
        x = x * 2
    else:
        x = x + 1
    return x


@program((POS, torch.tensor(0)), (POS, torch.tensor(1)), (NEG, torch.tensor(5)))
def for_range_continue(x, n):
    for i in range(n.item()):
        if i % 2 == 1:
            continue
        x = x + i
    return x


@program((POS, torch.tensor(0)), (POS, torch.tensor(2)), (NEG, torch.tensor(5)))
def for_range_return(x, n):
    for i in range(n.item()):
        x = x * 2
        if x.sum() > 40:
            return x, i
    return x, -1


@program((POS, torch.tensor(1)), (POS, torch.tensor(2)), (NEG, torch.tensor(5)))
def variable_after_loop(x, n):
    for i in range(n.item()):
        y = x * i
    return y + i


@program((POS, torch.tensor(0)), (POS, torch.tensor(2)))
def unbound_after_loop(x, n):
    for i in range(n.item()):
        y = x * i
    return y


@program((POS, torch.tensor(1)), (POS, torch.tensor(3)))
def start_and_step(x, n):
    for i in range(1, n.item() * 2, 2):
        x = x + i
    return x


@program((POS, torch.tensor(0)), (POS, torch.tensor(1)), (NEG, torch.tensor(3)))
def list_grows(x, n):
    outs = []
    for i in range(n.item()):
        x = x * 2
        outs.append(x + i)
    outs.append(x)
    return torch.stack(outs)


@program((POS, torch.tensor(1)), (NEG, torch.tensor(3)))
def list_grows_conditionally(x, n):
    outs = [x]
    for i in range(n.item()):
        if x.sum() > 0:
            outs.append(x + i)
        x = x - 1
    return torch.stack(outs), len(outs)


@program((POS, torch.tensor(0)), (POS, torch.tensor(1)), (NEG, torch.tensor(3)))
def nested_loops(x, n):
    for i in range(n.item()):
        for j in range(n.item()):
            x = x + i * j
        x = x * 2
    return x


@program((POS, torch.tensor(0)), (POS, torch.tensor(1)), (NEG, torch.tensor(3)))
def plain_inner_loop(x, n):
    for i in range(n.item()):
        for j in range(3):
            x = x + j
    return x


@program((POS, torch.tensor(2)), (BIG, torch.tensor(3)))
def while_in_for(x, n):
    for i in range(n.item()):
        while x.sum() > 10:
            x = x / 2
        x = x * 3
    return x


@program(POS, BIG, NEG)
def plain_range_break(x):
    for i in range(20):
        x = x * 0.5
        if x.sum() < 1:
            break
    return x


@program(POS, BIG, NEG)
def plain_short_break(x):
    for scale in (0.5, 0.25, 0.125):
        if x.sum() < 3:
            break
        x = x * scale
    return x


@program(POS, BIG, NEG)
def plain_break_else(x):
    for i in range(3):
        if x.sum() < 3:
            break
        x = x * 0.5
    else:
        x = x + 1000
    return x


@program(POS, BIG, NEG)
def plain_return(x):
    for i in range(3):
        if x.sum() < 3:
            return x * 7
        x = x * 0.5
    return x


@program(POS, NEG)
def branch_in_plain_loop(x):
    for i in range(3):
        if x[i] > 0:
            x = x * 2
        else:
            x = x - 1
    return x


@program(POS, BIG, NEG)
def tuple_carried(x):
    state = (x, x * 0)
    while state[0].sum() > 1:
        state = (state[0] / 2, state[1] + 1)
    return state[0] + state[1]


@program(POS, BIG, NEG)
def dict_carried(x):
    state = {"h": x, "c": x * 0}
    while state["h"].sum() > 1:
        state["h"] = state["h"] / 2
        state["c"] = state["c"] + state["h"]
    return state["c"]


@program(POS, BIG, NEG)
def list_items_replaced(x):
    hs = [x, x + 1]
    while hs[0].sum() > 1:
        for i in range(2):
            hs[i] = hs[i] / 2
    return hs[0] * hs[1]


@program((t(1.0, 0.0, 2.0),), (t(0.0, 0.0, 0.0),))
def over_masked_rows(x):
    out = x * 0
    for row in x[x > 0]:
        out = out + row
    return out


@program((POS, torch.tensor(0)), (POS, torch.tensor(1)), (NEG, torch.tensor(3)))
def enumerate_rows(x, n):
    for i, row in enumerate(x[: n.item()]):
        x = x + row * i
    return x


@program((POS, torch.tensor(0)), (POS, torch.tensor(1)), (NEG, torch.tensor(3)))
def zip_rows(x, n):
    k = n.item()
    total = x.sum()
    for a, b in zip(x[:k], x[:k] * 2):
        total = total + a * b
    return total


@program((POS, torch.tensor(1)), (NEG, torch.tensor(3)))
def draws_in_loop(x, n):
    for i in range(n.item()):
        x = x + torch.rand(3)
    return x


@program(POS.detach(), BIG.detach(), NEG.detach())
def in_place_in_loop(x):
    while x.sum() > 1:
        x.mul_(0.5)
    return x + 1


@program(POS, BIG, NEG)
def growing_tensor(x):
    y = x[:1]
    while y.sum() < 10:
        y = torch.cat([y, y.abs() + 1])
    return y.sum()


@program(POS, BIG, NEG)
def no_grad_in_loop(x):
    scale = torch.ones(())
    with torch.no_grad():
        while (x * scale).sum() > 1:
            scale = scale / 2
    return x * scale


@program(POS, BIG, NEG)
def raise_in_loop(x):
    n = 0
    while x.sum() > 1:
        x = x / 2
        n += 1
        if n > 4:
            raise RuntimeError("does not converge")
    return x


@program((POS, torch.tensor(0)), (NEG, torch.tensor(3)))
class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(3, 3)

    def forward(self, x, n):
        h = torch.zeros(3)
        for _ in range(n.item()):
            h = torch.tanh(self.cell(x + h))
        return h + x


@program(POS, BIG, NEG, BIG)
class CountsRounds(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("rounds", torch.zeros(()))

    def forward(self, x):
        while x.sum() > 1:
            x = x / 2
            self.rounds += 1
        return x * (1 + self.rounds)


@program(POS, BIG, NEG, BIG)
class AssignsInLoop(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("h", torch.ones(3))

    def forward(self, x):
        while x.sum() > 1:
            self.h = self.h * 0.5 + x.detach()
            x = x / 2
        return x + self.h


@program(POS, BIG, NEG, BIG)
class CountsHalvings(nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = 0

    def forward(self, x):
        while x.sum() > 1:
            x = x / 2
            self.steps += 1
        return x * self.steps
