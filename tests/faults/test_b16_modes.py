"""B16: gradient modes and autocast are kept."""

import pytest
import torch
from torch import nn

import symtrace as fx

from .support import gradient


def no_grad(x, y):
    with torch.no_grad():
        a = x * y
    return a + y


def no_grad_decorated(x, y):
    @torch.no_grad()
    def frozen(value):
        return value * 2

    return frozen(x) * y + x


def set_grad_enabled(x, y):
    with torch.set_grad_enabled(False):
        a = x.exp()
    return a * y + x


def nested(x, y):
    with torch.no_grad():
        a = x * 2
        with torch.enable_grad():
            b = y * 3
        c = x * 4
    return a + b + c + x


def switched_by_function(x, y):
    before = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    a = x * y
    torch.set_grad_enabled(before)
    return a + y + x


def detached(x, y):
    return x.detach() * y + x


@pytest.mark.parametrize(
    "program",
    [no_grad, no_grad_decorated, set_grad_enabled, nested, switched_by_function, detached],
    ids=lambda f: f.__name__,
)
def test_gradients(program):
    gm = fx.symbolic_trace(program)
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    expected = [torch.zeros(2)] * 2 if program is None else None
    try:
        expected = gradient(program, x, y)
    except RuntimeError:  # one of the inputs gets no gradient at all
        with pytest.raises(RuntimeError):
            gradient(gm, x, y)
        return
    assert all(torch.equal(a, e) for a, e in zip(gradient(gm, x, y), expected, strict=True))
    assert torch.is_grad_enabled()


def inference(x):
    with torch.inference_mode():
        return x * 2


def test_inference_mode():
    assert fx.symbolic_trace(inference)(torch.ones(1)).is_inference()


def autocast_function(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return torch.mm(x, x)


def autocast_nested(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        with torch.autocast("cpu", enabled=False):
            a = torch.mm(x, x)
        b = torch.mm(x, x)
    return a, b, torch.mm(x, x)


class AutocastModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    @torch.autocast("cpu", dtype=torch.bfloat16)
    def forward(self, x):
        return self.fc(x)


@pytest.mark.parametrize(
    "root", [autocast_function, autocast_nested, AutocastModule()], ids=["f", "nested", "module"]
)
def test_autocast(root):
    gm = fx.symbolic_trace(root)
    x = torch.ones(2, 2)
    actual, expected = gm(x), root(x)
    as_tuple = lambda out: out if isinstance(out, tuple) else (out,)
    assert [t.dtype for t in as_tuple(actual)] == [t.dtype for t in as_tuple(expected)]
    torch.testing.assert_close(actual, expected)
    assert not torch.is_autocast_enabled("cpu")


def test_modes_survive_copy_and_dead_code_elimination():
    import copy

    gm = copy.deepcopy(fx.symbolic_trace(no_grad))
    gm.graph.eliminate_dead_code()
    gm.recompile()
    x, y = torch.tensor([1.0]), torch.tensor([2.0])
    leaves = [x.requires_grad_(), y.requires_grad_()]
    out = gm(*leaves).sum()
    assert torch.autograd.grad(out, leaves, allow_unused=True)[0] is None


def test_an_exception_in_the_region_restores_the_mode():
    def program(x):
        with torch.no_grad():
            return torch.mm(x, x)

    gm = fx.symbolic_trace(program)
    with pytest.raises(RuntimeError):
        gm(torch.ones(2, 3))
    assert torch.is_grad_enabled()
