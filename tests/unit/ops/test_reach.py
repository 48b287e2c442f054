"""Which functions can write to no more than their arguments, by what their code names."""

import functools
import math

import pytest
import torch

from symtrace.ops.reach import reaches_only_arguments

MODEL = torch.nn.Linear(2, 2)
HELD: list = []
push = HELD.append
PI = 3.14


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.tanh(x) * PI

    @staticmethod
    def backward(ctx, gradient):
        return MODEL(gradient)  # runs later, with the backward pass


class Writing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        MODEL.weight.zero_()
        return x


class Holding(torch.autograd.Function):
    held = HELD

    @staticmethod
    def forward(ctx, x):
        return x


def wrapped(function):
    @functools.wraps(function)
    def run(*args):
        return function(*args)

    return run


def imports(x):
    import gc

    return gc.get_objects() and x


def inner(x):
    return [MODEL(row) for row in x]


@pytest.mark.parametrize(
    "function",
    [
        Scaled.apply,
        lambda x: math.sqrt(2) * torch.nn.functional.relu(x),
        lambda x: Scaled.apply(x).add_(1),
        lambda x, scale=(1, 2): x * scale[0],
        wrapped(lambda x: x + 1),
        torch.no_grad()(lambda x: x + 1),
    ],
)
def test_these_reach_their_arguments_only(function):
    assert reaches_only_arguments(function)


@pytest.mark.parametrize(
    "function",
    [
        Writing.apply,
        Holding.apply,
        lambda x: Writing.apply(x),
        lambda x: push(x),
        lambda x: x.grad_fn.next_functions,
        lambda x: torch.ops.mine.write(x),
        lambda x: globals()["MODEL"](x),
        lambda x: (lambda y: MODEL(y))(x),
        lambda x, model=MODEL: model(x),
        wrapped(lambda x: MODEL(x)),
        torch.no_grad()(lambda x: MODEL(x)),
        imports,
        inner,
        push,
        MODEL,
        functools.partial(MODEL),
    ],
)
def test_these_may_reach_more(function):
    assert not reaches_only_arguments(function)
