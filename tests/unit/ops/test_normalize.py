"""Arguments in their normal form, as torch.fx gives it."""

import operator

import pytest
import torch
import torch.fx.operator_schemas as reference
import torch.nn.functional as F

from symtrace.ops import normalize_function, normalize_module

CASES = [
    (torch.flatten, ("x", 1), {}),
    (torch.flatten, ("x",), {"start_dim": 1}),
    (torch.relu, ("x",), {}),
    (F.relu, ("x",), {}),
    (F.max_pool2d, ("x", 2), {}),
    (torch.cumsum, ("x", 0), {}),
    (operator.add, ("x", 1), {}),
    (torch.ops.aten.add.Tensor, ("x", "y"), {}),
    (len, ("x",), {}),
    (F.gelu, ("x",), {}),
    (torch.sum, ("x",), {"dim": 1}),
    (torch.cat, (("x", "y"), 1), {}),
    (torch.mean, ("x",), {}),
    (F.linear, ("x", "w"), {"bias": None}),
    (F.dropout, ("x",), {"p": 0.1}),
    (F.embedding, ("x", "w"), {}),
    (F.cross_entropy, ("x", "y"), {"reduction": "sum"}),
    (torch.relu, ("x", "y", "z"), {}),
    (torch.relu, ("x",), {"nonsense": 1}),
]


@pytest.mark.parametrize("only", [False, True])
@pytest.mark.parametrize(("target", "args", "kwargs"), CASES)
def test_agrees_with_torch_fx(target, args, kwargs, only):
    def call(function):
        return function(target, args, kwargs, normalize_to_only_use_kwargs=only)

    expected = call(reference.normalize_function)
    actual = call(normalize_function)
    if expected is None:
        assert actual is None
    else:
        assert actual.args == expected.args
        assert list(actual.kwargs.items()) == list(expected.kwargs.items())


TYPED = [
    (torch.add, ("x", 1), (torch.Tensor, int), {}, {}),
    (torch.add, ("x", "y"), (torch.Tensor, torch.Tensor), {"alpha": 2}, {"alpha": int}),
    (torch.sum, ("x", 1), (torch.Tensor, int), {}, {}),
    (torch.sum, ("x", [1, 2]), (torch.Tensor, list[int]), {}, {}),
    (torch.mul, ("x", 2.0), (torch.Tensor, float), {}, {}),
    (torch.conv2d, ("x", "w"), (torch.Tensor, torch.Tensor), {}, {}),
]


@pytest.mark.parametrize("only", [False, True])
@pytest.mark.parametrize(("target", "args", "arg_types", "kwargs", "kwarg_types"), TYPED)
def test_types_choose_the_overload(target, args, arg_types, kwargs, kwarg_types, only):
    def call(function):
        return function(target, args, kwargs, arg_types, kwarg_types, normalize_to_only_use_kwargs=only)

    expected = call(reference.normalize_function)
    actual = call(normalize_function)
    assert (actual.args, actual.kwargs) == (expected.args, expected.kwargs)


def test_ambiguous_overload_is_an_error_that_lists_them():
    with pytest.raises(RuntimeError, match="schema match was ambiguous") as caught:
        normalize_function(torch.add, ("x", 1))
    assert caught.value.code == "ST201"
    assert "aten::add.Scalar" in str(caught.value)


def test_modules_are_matched_to_their_forward():
    root = torch.nn.Module()
    root.pool = torch.nn.MaxPool2d(2)
    root.attention = torch.nn.MultiheadAttention(4, 2)
    root.own = torch.nn.Module()
    assert normalize_module(root, "pool", ("x",)) == (("x",), {})
    assert normalize_module(root, "pool", ("x",), normalize_to_only_use_kwargs=True) == ((), {"input": "x"})
    normal = normalize_module(root, "attention", ("q", "k", "v"), {"need_weights": False})
    assert normal.args == ("q", "k", "v")
    assert normal.kwargs["need_weights"] is False
    assert normal.kwargs["average_attn_weights"] is True
    assert normalize_module(root, "own", ("x",)) is None
    with pytest.raises(AttributeError):
        normalize_module(root, "missing", ("x",))
