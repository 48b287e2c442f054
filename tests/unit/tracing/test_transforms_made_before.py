"""What `torch.func` made of a function before the capture is one call of a captured function."""

import pytest
import torch
from torch import nn

import symtrace as fx
from symtrace.testing import assert_equivalent

X = torch.randn(3, 4, generator=torch.Generator().manual_seed(0))


def cube(v):
    return (v**3).sum()


def product(v, w):
    return (v * w).sum(), v.sin()


doubled = torch.func.vmap(lambda v: v.sin() * 2)
dot = torch.func.vmap(torch.dot)
across = torch.func.vmap(lambda v: v * 2, in_dims=1, out_dims=1)
gradient = torch.func.grad(cube)
both = torch.func.grad_and_value(product, argnums=(0, 1), has_aux=True)
hessian = torch.func.hessian(cube)
jacobian = torch.func.jacrev(lambda v: v * v)
forward = torch.func.jacfwd(lambda v: v * v)
nested = torch.func.vmap(torch.func.grad(cube))


class Holds(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))
        self.rows = torch.func.vmap(self.inner)
        self.slope = torch.func.grad(cube)

    def inner(self, v):
        return v * self.weight

    def forward(self, x):
        return self.rows(x) + self.slope(x)


@pytest.mark.parametrize("door", [fx.symbolic_trace, fx.capture, lambda program: fx.capture(program, (X,))])
@pytest.mark.parametrize("program", [
    lambda x: doubled(x), lambda x: dot(x, x), lambda x: across(x), lambda x: gradient(x), lambda x: both(x, x)[0][1],
    lambda x: hessian(x[0]), lambda x: jacobian(x[0]), lambda x: forward(x[0]), lambda x: nested(x), doubled, nested,
])  # fmt: skip
def test_it_is_called_at_each_call(program, door):
    captured = door(program)
    assert_equivalent(program, captured, (X,), calls=2)
    assert torch.equal(captured(X * 2), program(X * 2))


@pytest.mark.parametrize("door", [fx.symbolic_trace, fx.capture, lambda program: fx.capture(program, (X,))])
def test_one_of_a_method_reads_the_parameters(door):
    model = Holds()
    captured = door(model)
    results = []
    for program in (model, captured):
        result = program(X)
        result.sum().backward()
        results.append((result.detach(), model.weight.grad.clone()))
        model.weight.grad = None
    assert torch.equal(results[0][0], results[1][0])
    assert torch.equal(results[0][1], results[1][1])


def test_it_is_as_before_outside_of_a_capture():
    code = doubled.__code__
    fx.symbolic_trace(lambda x: doubled(x))
    assert doubled.__code__ is code
    assert torch.equal(doubled(X), X.sin() * 2)
