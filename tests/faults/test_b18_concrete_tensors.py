"""B18: a tensor in `concrete_args` is an example; the input stays an input."""

# ruff: noqa: PT017 - where a refusal is allowed, what it says is checked in the except block

import pytest
import torch

import symtrace as fx


def add(x, t):
    return x + t


def use_twice(x, t):
    return (x * t).relu() + t.sum()


def only_the_example(t):
    return t * 2


@pytest.mark.parametrize("program", [add, use_twice], ids=lambda f: f.__name__)
def test_result_depends_on_what_is_given(program):
    gm = fx.symbolic_trace(program, concrete_args={"t": torch.tensor(5.0)})
    for value in (5.0, 7.0, -1.0):
        t, x = torch.tensor(value), torch.tensor(2.0)
        try:
            assert torch.equal(gm(x, t), program(x, t))
        except fx.errors.GuardError as error:
            assert value != 5.0
            assert "t" in str(error)


def test_the_only_input():
    gm = fx.symbolic_trace(only_the_example, concrete_args={"t": torch.tensor(5.0)})
    assert gm(torch.tensor(7.0)).item() == 14.0


def test_trace_with_example_positionally():
    graph = fx.Tracer().trace(only_the_example, torch.tensor(5.0))
    gm = fx.GraphModule(torch.nn.Module(), graph)
    assert gm(torch.tensor(7.0)).item() == 14.0


def test_a_branch_on_the_example_is_guarded():
    def program(x, t):
        if t.dim() == 1:
            return x + t.sum()
        return x * 2

    gm = fx.symbolic_trace(program, concrete_args={"t": torch.ones(3)})
    x = torch.tensor(1.0)
    assert gm(x, torch.ones(3)).item() == 4.0
    with pytest.raises(fx.errors.GuardError):
        gm(x, torch.ones(2, 2))
