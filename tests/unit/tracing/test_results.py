"""What calls gave on fake tensors is remembered where metadata decides it, and only there."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

import symtrace
from symtrace.tracing.fakes.results import Results, known_by, module_known_by


class _Counted:
    """A function that counts its calls."""

    def __init__(self, function):
        self.function = function
        self.calls = 0

    def __call__(self, *args, **kwargs):
        self.calls += 1
        return self.function(*args, **kwargs)


def _called_twice(function, *args, **kwargs):
    """Return how often a function ran, and its two results, for two calls with other tensors of the same metadata."""
    results, mode, counted = Results(), FakeTensorMode(), _Counted(function)
    found = []
    for _ in range(2):
        fakes = [mode.from_tensor(one.clone()) if isinstance(one, torch.Tensor) else one for one in args]
        found.append(results.call(mode, known_by("call_function", function, None), counted, fakes, kwargs))
    return counted.calls, found


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (torch.relu, (torch.ones(2, 3),)),
        (torch.add, (torch.ones(2, 3), torch.ones(3, dtype=torch.float64))),
        (F.linear, (torch.ones(4, 2, 3), torch.ones(5, 3))),
        (F.layer_norm, (torch.ones(2, 3), (3,))),
        (F.conv2d, (torch.ones(1, 3, 8, 8).to(memory_format=torch.channels_last), torch.ones(2, 3, 3, 3))),
        (torch.sum, (torch.ones(2, 3, dtype=torch.int32),)),
        (torch.sort, (torch.ones(2, 3),)),
        (torch.eq, (torch.ones(2), 1)),
    ],
)
def test_the_second_result_is_made_without_a_call_and_like_the_first(function, args):
    calls, (first, second) = _called_twice(function, *args)
    assert calls == 1
    assert type(first) is type(second)
    firsts, seconds = ((one,) if isinstance(one, FakeTensor) else tuple(one) for one in (first, second))
    for one, two in zip(firsts, seconds, strict=True):
        assert (one.shape, one.stride(), one.dtype, one.device) == (
            two.shape,
            two.stride(),
            two.dtype,
            two.device,
        )
        assert one is not two


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (torch.transpose, (torch.ones(2, 3), 0, 1)),  # a view
        (torch.relu_, (torch.ones(2, 3),)),  # its argument
        (torch.Tensor.add_, (torch.ones(2, 3), 1)),
        (torch.Tensor.fill_, (torch.ones(2, 3), 1)),
        (torch.split, (torch.ones(4, 3), 2)),
    ],
)
def test_what_shares_memory_or_writes_runs_each_time(function, args):
    assert _called_twice(function, *args)[0] == 2


def test_numbers_of_other_types_are_other_arguments():
    results, mode, counted = Results(), FakeTensorMode(), _Counted(torch.add)
    x = mode.from_tensor(torch.ones(2, dtype=torch.int64))
    dtypes = [results.call(mode, torch.add, counted, (x, one), {}).dtype for one in (1, 1.0, True)]
    assert dtypes == [torch.int64, torch.float32, torch.int64]
    assert counted.calls == 3


def test_autocast_and_modes_of_gradients_are_part_of_what_is_remembered():
    results, mode, counted = Results(), FakeTensorMode(), _Counted(F.linear)
    weight = mode.from_tensor(nn.Parameter(torch.ones(4, 3)))
    x = mode.from_tensor(torch.ones(2, 3))

    def call():
        return results.call(mode, F.linear, counted, (x, weight), {})

    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert call().dtype == torch.bfloat16
    assert call().dtype == torch.float32
    assert call().requires_grad
    with torch.no_grad():
        assert not call().requires_grad
    assert counted.calls == 3


def test_gradients_flow_through_what_is_remembered():
    results, mode = Results(), FakeTensorMode()
    weight = mode.from_tensor(nn.Parameter(torch.ones(4, 3)))
    for _ in range(2):
        x = mode.from_tensor(torch.ones(2, 3)).requires_grad_()
        y = results.call(mode, F.linear, F.linear, (x, weight), {})
        assert y.requires_grad
        assert not y.is_leaf
        first, second = torch.autograd.grad(y.sum(), (x, weight), create_graph=True)
        assert (first.shape, second.shape) == (x.shape, weight.shape)
        assert first.requires_grad


def test_layers_with_the_same_settings_are_one():
    first, second = module_known_by(nn.Linear(3, 4)), module_known_by(nn.Linear(3, 4))
    assert first[0] == second[0]
    assert first[0] != module_known_by(nn.Linear(3, 5))[0]
    assert module_known_by(nn.Dropout(0.1))[0] != module_known_by(nn.Dropout(0.2))[0]
    assert module_known_by(nn.Dropout(0.1).eval())[0] != module_known_by(nn.Dropout(0.1))[0]


class _Own(nn.Linear):
    pass


@pytest.mark.parametrize(
    "module",
    [_Own(2, 2), nn.Sequential(nn.Linear(2, 2)), nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))],
)
def test_modules_that_may_do_anything_are_not_known(module):
    assert module_known_by(module)[0] is None


def test_a_layer_with_a_hook_is_not_known():
    layer = nn.Linear(2, 2)
    layer.register_forward_hook(lambda *given: None)
    assert module_known_by(layer)[0] is None


def test_functions_of_the_program_are_not_known():
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

    assert known_by("call_function", Doubled.apply, None) is None
    assert known_by("call_function", lambda x: x, None) is None


def test_gradients_that_the_program_asks_for_are_those_of_eager():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(3))

        def forward(self, x):
            y = x
            for layer in self.layers:
                y = torch.tanh(layer(y))
            (grad,) = torch.autograd.grad(y.sum(), x)
            return y + grad

    model, x = Model(), torch.randn(2, 3, requires_grad=True)
    captured = symtrace.capture(model, (x,))
    assert torch.equal(captured(x), model(x))
