"""Cases C63 to C67: arguments."""

# ruff: noqa: PT017 - where a refusal is allowed, what it says is checked in the except block

import pytest
import torch
from torch import nn

import symtrace as fx


def scaled(x, scale=1.0):
    return x * scale


class Scaled(nn.Module):
    def forward(self, x, scale=1.0):
        return x * scale


@pytest.mark.parametrize("root", [scaled, Scaled()], ids=["function", "module"])
def test_c63_an_unknown_name_is_refused(root):
    with pytest.raises((TypeError, ValueError)) as caught:
        fx.symbolic_trace(root, concrete_args={"scal": 3.0})
    assert "scal" in str(caught.value)


def test_c63_a_tensor_is_an_example():
    def h(x, t):
        return x + t

    gm = fx.symbolic_trace(h, concrete_args={"t": torch.tensor(5.0)})
    try:
        assert gm(torch.tensor(0.0), torch.tensor(7.0)).item() == 7.0
    except fx.errors.GuardError as error:
        assert "t" in str(error)


def test_c63_another_number_than_the_fixed_one_is_refused():
    gm = fx.symbolic_trace(scaled, concrete_args={"scale": 3.0})
    assert gm(torch.tensor(1.0), 3.0).item() == 3.0
    try:
        assert gm(torch.tensor(1.0), 4.0).item() == 4.0
    except (fx.errors.GuardError, AssertionError) as error:
        assert "scale" in str(error)


def masked(x, mask=None):
    if mask is not None:
        x = x * mask
    return x


def masked_negated(x, mask=None):
    if mask is None:
        return x
    return x * mask


def two_options(x, a=None, b=None):
    if a is not None:
        x = x + a
    return x if b is None else x * b


class Masked(nn.Module):
    def forward(self, x, mask=None):
        return masked(x, mask)


@pytest.mark.parametrize("f", [masked, masked_negated, Masked()], ids=["masked", "negated", "module"])
def test_c65_a_parameter_left_out_is_none(f):
    gm = fx.symbolic_trace(f)
    x, mask = torch.ones(2), torch.tensor([1.0, 0.0])
    assert gm(x).tolist() == [1.0, 1.0]
    for args, kwargs in [((x, mask), {}), ((x,), {"mask": mask})]:
        try:
            assert gm(*args, **kwargs).tolist() == [1.0, 0.0]
        except (fx.errors.GuardError, TypeError) as error:
            assert "mask" in str(error)


def test_c65_several_options():
    gm = fx.symbolic_trace(two_options)
    x, one = torch.ones(2), torch.full((2,), 3.0)
    assert gm(x).tolist() == [1.0, 1.0]
    for kwargs in ({"a": one}, {"b": one}, {"a": one, "b": one}):
        try:
            assert torch.equal(gm(x, **kwargs), two_options(x, **kwargs))
        except (fx.errors.GuardError, TypeError):
            pass


class Inner(nn.Module):
    def forward(self, a, b):
        return a + b


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, *xs):
        return self.inner(*xs)


class OuterKeywords(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, **kw):
        return self.inner(**kw)


class OuterList(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, xs):
        return self.inner(*xs)


def test_c67_forwarded_varargs():
    t = torch.tensor(1.0)
    gm = fx.capture(Outer(), (t, t))
    assert gm(t, torch.tensor(4.0)).item() == 5.0


def test_c67_forwarded_keywords():
    t = torch.tensor(1.0)
    gm = fx.capture(OuterKeywords(), (), {"a": t, "b": t})
    assert gm(a=t, b=torch.tensor(4.0)).item() == 5.0


def test_c67_forwarded_list():
    t = torch.tensor(1.0)
    gm = fx.capture(OuterList(), ([t, t],))
    assert gm([t, torch.tensor(4.0)]).item() == 5.0


def test_c67_loops_over_varargs():
    def total(*xs):
        out = xs[0]
        for x in xs[1:]:
            out = out + x
        return out

    t = torch.tensor(1.0)
    gm = fx.capture(total, (t, t, t))
    assert gm(t, t, torch.tensor(5.0)).item() == 7.0
