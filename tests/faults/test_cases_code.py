"""Cases C22 to C26: generated code."""

import enum
from collections import OrderedDict

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import symtrace as fx


def mask_nan(x, nan):
    return torch.where(nan, float("nan"), x)


def mask_inf(x, inf):
    return torch.where(inf, float("inf"), x)


@pytest.mark.parametrize("f", [mask_nan, mask_inf], ids=lambda f: f.__name__)
def test_c22_a_parameter_does_not_hide_a_constant(f):
    gm = fx.symbolic_trace(f)
    x, m = torch.tensor([1.0, 2.0]), torch.tensor([True, False])
    expected = f(x, m)
    torch.testing.assert_close(gm(x, m), expected, equal_nan=True, rtol=0, atol=0)
    torch.testing.assert_close(fx.Interpreter(gm).run(x, m), expected, equal_nan=True, rtol=0, atol=0)


def _device(x, device):
    return x.to(torch.device("cpu")) + device


SPELLED = {
    "torch": "def f(x, torch):\n    return F.relu(x) + torch",
    "operator": "def f(x, operator):\n    return x.relu().add_(operator)",
    "math": "def f(x, math):\n    return x + math",
    "fx_pytree": "def f(x, fx_pytree):\n    return x + fx_pytree",
    "pytree": "def f(x, pytree):\n    return x + pytree",
    "NoneType": "def f(x, NoneType):\n    return x + NoneType",
    "slice": "def f(x, slice):\n    return x[0:1].sum() + slice",
    "getattr": "def f(x, getattr):\n    return x.T + getattr * x.shape[0]",
    "self": "def f(x, self):\n    return F.relu(x) + self",
    "F": "def f(x, F):\n    return x.relu() + F",
    "dtype": "def f(x, dtype):\n    return x.to(T.float64) + dtype",
    "iadd": "def f(x, iadd):\n    y = x * 1\n    y += iadd\n    return y",
}


def test_c23_device():
    gm = fx.symbolic_trace(_device)
    one = torch.tensor(1.0)
    assert gm(one, one).item() == 2.0


@pytest.mark.parametrize("name", SPELLED)
def test_c23_any_parameter_name_works(name):
    scope = {"F": F, "T": torch}
    exec(SPELLED[name], scope)
    f = scope["f"]
    gm = fx.symbolic_trace(f)
    x, y = torch.ones(1), torch.ones(1)
    assert torch.equal(gm(x, y), f(x.clone(), y))
    if name != "self":  # no module can be called with a keyword `self`
        assert torch.equal(gm(x, **{name: y}), f(x.clone(), y))


NAMES = [
    "class",
    'q"x',
    "q'x",
    "a\\nb",
    "a\nb",
    "a-b",
    "0",
    "for",
    "None",
    "a b",
    "é",
    "self",
    "forward_",
    "__x",
    "1a",
    "x}",
]


class Holder(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.box = nn.Sequential(OrderedDict([(name, nn.Linear(1, 1))]))
        self.other = nn.ModuleDict({name: nn.Sequential(OrderedDict([(name, nn.Identity())]))})

    def forward(self, x):
        y = self.box(x)
        for module in self.other.values():
            y = module(y)
        return y


@pytest.mark.parametrize("name", NAMES)
def test_c24_any_submodule_name_works(name):
    import pickle

    m = Holder(name)
    gm = fx.symbolic_trace(m)
    x = torch.ones(1, 1)
    assert torch.equal(gm(x), m(x))
    assert torch.equal(pickle.loads(pickle.dumps(gm))(x), m(x))
    gm.graph.lint()


@pytest.mark.parametrize("name", ["class", 'q"x', "a-b", "0"])
def test_c24_any_parameter_name_works(name):
    class Weights(nn.Module):
        def __init__(self):
            super().__init__()
            self.ws = nn.ParameterDict({name: nn.Parameter(torch.full((1,), 3.0))})

        def forward(self, x):
            return x * self.ws[name]

    assert fx.symbolic_trace(Weights())(torch.ones(1)).item() == 3.0


class Colour(enum.Enum):
    RED = 2


def tensor_default(x, bias=torch.ones(2)):
    return x + bias


def device_default(x, device=torch.device("cpu")):
    return x.to(device)


def slice_default(x, where=slice(0, 1)):
    return x[where]


def list_default(x, dims=[0]):  # noqa: B006
    return x.sum(dims)


def nan_default(x, fill=float("nan")):
    return x.nan_to_num(1.0) + torch.full_like(x, 1.0).masked_fill(x > 9, fill)


def enum_default(x, colour=Colour.RED):
    return x + 1


def size_default(x, size=torch.Size([2, 1])):
    return x.view(size)


def generic_default(x, thing=object):
    return x + 1


DEFAULTS = [
    tensor_default,
    device_default,
    slice_default,
    list_default,
    nan_default,
    enum_default,
    size_default,
    generic_default,
]


@pytest.mark.parametrize("f", DEFAULTS, ids=lambda f: f.__name__)
def test_c26_defaults_of_any_type(f):
    gm = fx.symbolic_trace(f)
    x = torch.arange(2.0)
    assert torch.equal(gm(x), f(x))
    assert torch.equal(fx.Interpreter(gm).run(x), f(x))


def test_c26_a_given_value_is_used():
    assert fx.symbolic_trace(tensor_default)(torch.zeros(2), torch.full((2,), 5.0)).tolist() == [5.0, 5.0]


def test_c26_defaults_are_the_same_object():
    import inspect

    original = inspect.signature(tensor_default).parameters["bias"].default
    captured = inspect.signature(fx.symbolic_trace(tensor_default).forward).parameters["bias"].default
    assert torch.equal(captured, original)
