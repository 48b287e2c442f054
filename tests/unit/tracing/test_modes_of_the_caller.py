"""A captured program leaves gradient modes as its caller has them, just as the original does."""

import pytest
import torch

import symtrace as fx


def inside(x):
    with torch.no_grad():
        y = x * 2
    return y + x * 3


def nested(x):
    with torch.no_grad():
        with torch.enable_grad():
            z = x * 3
        y = x * 2
    return y + z


def switched(x):
    with torch.set_grad_enabled(False):
        y = x * 2
    return y + x


@torch.no_grad()
def helper(x):
    return x * x


def decorated(x):
    return helper(x) + x


@pytest.mark.parametrize("program", [inside, nested, switched, decorated], ids=lambda f: f.__name__)
@pytest.mark.parametrize("enabled", [True, False])
def test_the_mode_of_the_caller_is_kept(program, enabled):
    gm = fx.symbolic_trace(program)
    x = torch.ones(1, requires_grad=True)
    with torch.set_grad_enabled(enabled):
        expected, actual = program(x), gm(x)
        assert torch.is_grad_enabled() is enabled
    assert actual.requires_grad is expected.requires_grad


@pytest.mark.parametrize("program", [inside, nested, switched, decorated], ids=lambda f: f.__name__)
def test_a_with_statement_is_recorded_once(program):
    code = fx.symbolic_trace(program).code
    assert "enter_mode" not in code
    assert "with torch" in code
