"""Shapes that the ways of a decision, and rounds of a loop, give."""

from __future__ import annotations

import torch

from ..program import program, t

P, N = t(1.0, 2.0, 3.0), t(-1.0, -2.0, -3.0)
ROWS = torch.ones(2, 3)


@program((P, N), (N, P))
def the_same_on_two_ways(x, y):
    if x.sum() > 0:
        return x, y.shape, y.size(0)
    return y, y.shape, y.size(0)


@program((P, t(1.0)), (N, t(1.0)))
def of_two_inputs(x, y):
    shape = x.shape if x.sum() > 0 else y.shape
    return y.new_ones(shape), shape, len(shape), shape[0]


@program((P, ROWS), (N, ROWS))
def of_two_ranks(x, y):
    shape = x.shape if x.sum() > 0 else y.shape
    return x.new_ones(shape)


@program((P, N), (N, P), (P * 3, N))
def in_a_loop_that_returns(x, y):
    v = y * 1
    for _ in range(2):
        v = v * 0.5 + x
        if v.sum() > 6:
            return v, y.shape, y.size(0)
    return v, x.shape, x.size(0)


@program((P, ROWS), (N, ROWS), (P * 0, ROWS))
def carried_by_a_loop(x, y):
    shape = y.shape
    while x.sum() > 1:
        x = x / 2
        shape = torch.Size([shape[0] + 1, shape[1]])
    return x.new_zeros(shape)


@program((P, N), (N, P))
def under_no_grad(x, y):
    with torch.no_grad():
        if y.sum() > 4:
            return y, y.shape
    return y * 2, y.shape
