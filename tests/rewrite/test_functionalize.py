"""Writes that become new values: to parts, through views, by assignment; and back."""

import operator
import random

import pytest
import torch

from symtrace import symbolic_trace
from symtrace.analysis import EffectAnalysis
from symtrace.passes import Pipeline
from symtrace.testing import assert_equivalent

X = torch.arange(12.0).reshape(3, 4) / 7
Y = torch.linspace(-1, 1, 4)


def to_a_row(x, y):
    z = x * 1
    z[1].add_(y)
    return z.tan() * 2


def to_columns_by_assignment(x, y):
    z = x.neg()
    z[:, 0] = 0.25
    z[:, 1:] = y[1:]
    return z


def through_two_views(x, y):
    z = x.exp()
    rows = z[1:]
    rows[:, ::2].mul_(3)
    return z + 1, rows.sum()


def through_a_transposed_view(x, y):
    z = x.sin()
    z.transpose(0, 1)[0].sub_(1)
    z.unsqueeze(0).relu_()
    return z


def through_a_flat_view(x, y):
    z = x.abs()
    flat = z.view(-1)
    flat[3] = 9.0
    flat.mul_(y.sum())
    return z, flat.mean()


def views_made_before_the_write(x, y):
    z = x.cos()
    first, rest = z[0], z[1:]
    before = first * 1
    z.add_(1)
    return before, first + rest.sum(0)


def copied_from_another(x, y):
    z = x.tan()
    z[2].copy_(y)
    z[0].copy_(z[1])
    return z


def operands_of_its_own(x, y):
    z = x.neg()
    z[0].add_(z[1])
    z.mul_(z)
    return z


def a_chosen_row(x, y):
    z = x.neg()
    z[torch.tensor([0, 2])] = y
    z[z > 0] = 0.0
    return z


def made_of_one_that_was_written(x, y):
    z = x.neg()
    z.add_(1)
    w = z * z.exp()
    w[0] = 2.0
    return w


def result_of_a_write(x, y):
    z = x.neg()
    w = z[0].add_(1)
    w.mul_(2)
    return z * w


REPLACED = [
    to_a_row, to_columns_by_assignment, through_two_views, through_a_transposed_view, through_a_flat_view,
    views_made_before_the_write, made_of_one_that_was_written, copied_from_another, operands_of_its_own, a_chosen_row,
    result_of_a_write,
]  # fmt: skip


@pytest.mark.parametrize("body", REPLACED, ids=[body.__name__ for body in REPLACED])
def test_writes_become_new_values(body):
    gm = symbolic_trace(body)
    assert Pipeline("functionalize")(gm).modified
    assert EffectAnalysis(gm.graph).effectful == []
    gm.graph.lint()
    assert_equivalent(symbolic_trace(body), gm, (X, Y))


def returned_with_its_view(x, y):
    z = x.neg()
    z.add_(1)
    return z, z[0]


def through_what_may_be_a_view(x, y):
    z = x.neg()
    z.reshape(-1).add_(1)
    return z


def in_another_mode(x, y):
    z = x * y.sum()
    with torch.no_grad():
        z.add_(1)
    return z


def to_an_input(x, y):
    x[0].add_(1)
    return x * 2


def a_draw(x, y):
    z = x.neg()
    z[0].uniform_()
    return z


@pytest.mark.parametrize(
    "body", [returned_with_its_view, through_what_may_be_a_view, in_another_mode, to_an_input, a_draw]
)
def test_writes_that_stay(body):
    gm = symbolic_trace(body)
    before = gm.code
    pipeline = Pipeline("functionalize")
    assert not pipeline(gm).modified
    assert gm.code == before
    if body is not to_an_input:
        assert pipeline.history.steps[0].remarks


def test_a_number_is_no_tensor():
    gm = symbolic_trace(lambda x: operator.iadd(x + 1, 1))
    assert not Pipeline("functionalize")(gm).modified


def test_new_values_become_writes_again():
    gm = symbolic_trace(to_columns_by_assignment)
    Pipeline("functionalize")(gm)
    Pipeline("reinplace")(gm)
    assert [n for n in gm.graph.nodes if n.target is operator.setitem]
    gm.graph.lint()
    assert_equivalent(to_columns_by_assignment, gm, (X, Y), gradients=False)


@pytest.mark.parametrize("seed", range(60))
def test_random_views_and_writes(seed):
    choices = random.Random(seed)
    steps = [(choices.randrange(6), choices.randrange(4), choices.randrange(5)) for _ in range(8)]

    def body(x, y):
        base = x * 1
        views = [base]
        total = y * 0
        for kind, which, amount in steps:
            view = views[which % len(views)]
            if kind == 0:
                views.append(view.transpose(0, 1))
            elif kind == 1:
                views.append(view[1:] if amount % 2 else view[:, :2])
            elif kind == 2:
                view.add_(amount)
            elif kind == 3:
                view[0] = amount / 3
            elif kind == 4:
                view.mul_(base.sum() / 10)
            else:
                total = total + view.sum()
        return total, base

    gm = symbolic_trace(body)
    Pipeline("functionalize")(gm)
    assert EffectAnalysis(gm.graph).effectful == []
    assert_equivalent(symbolic_trace(body), gm, (X, Y), gradients=False, rtol=1e-5, atol=1e-5)
    Pipeline("dce,reinplace")(gm)
    assert_equivalent(symbolic_trace(body), gm, (X, Y), gradients=False, rtol=1e-5, atol=1e-5)
