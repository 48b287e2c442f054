"""Values as source text: evaluated again they are the same value, of the same type."""

import collections
import enum
import functools
import math
import operator
import sys

import pytest
import torch
from torch.utils import _pytree as pytree

from symtrace.cli.expressions import Writer, quoted
from symtrace.errors import UsageError


class Colour(enum.Enum):
    RED = 1


Point = collections.namedtuple("Point", "x y")


def again(value):
    """Evaluate the text of `value` with the modules that it asks for."""
    writer = Writer()
    text = writer.expression(value, "a value")
    scope = {}
    for module in writer.imports:
        exec(f"import {module}", scope)
    return eval(text, scope)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        -0.0,
        1e-300,
        math.inf,
        2 - 3j,
        complex(0, -math.inf),
        "it's",
        'say "hi"\n\\',
        b"\x00x",
        (),
        (1,),
        [1, (2, [3])],
        {"a": {1, 2}, 3: frozenset([4])},
        slice(None, 2),
        range(1, 9, 2),
        ...,
        torch.float32,
        torch.channels_last,
        torch.strided,
        torch.device("cuda", 1),
        torch.Size([1, 2]),
        collections.OrderedDict(b=1, a=2),
        torch.relu,
        torch.nn.functional.relu,
        torch.nn.functional.gelu,
        torch.Tensor.add_,
        torch.nn.Linear,
        torch.ops.aten.add.Tensor,
        operator.add,
        getattr,
        type(None),
        math,
    ],
)
def test_the_text_makes_the_value_again(value):
    made = again(value)
    assert type(made) is type(value)
    assert made == value
    assert repr(made) == repr(value)


def test_classes_of_importable_modules(monkeypatch):
    module = type(sys)("literal_example")
    module.Colour, module.Point = Colour, Point
    monkeypatch.setitem(sys.modules, "literal_example", module)
    for cls in (Colour, Point):
        monkeypatch.setattr(cls, "__module__", "literal_example")
    assert again([Colour.RED, Point(1, (2,))]) == [Colour.RED, Point(1, (2,))]


def test_a_partial_keeps_function_and_arguments():
    made = again(functools.partial(torch.add, 2, alpha=3))
    assert (made.func, made.args, made.keywords) == (torch.add, (2,), {"alpha": 3})


def test_a_tree_spec_survives():
    spec = pytree.tree_structure({"a": [1, (2, 3)], "b": None})
    assert again(spec) == spec


@pytest.mark.parametrize(
    "tensor",
    [
        torch.tensor([0.1, -0.0, math.inf, math.nan, 1e-45]),
        torch.tensor(1 / 3, dtype=torch.float64),
        torch.tensor([1.1, 3e38], dtype=torch.bfloat16),
        torch.tensor([[True], [False]]),
        torch.tensor([2**62 + 1]),
        torch.zeros(0, 3),
        torch.tensor(7),
        torch.tensor([0.1, 65504.0], dtype=torch.float16),
    ],
)
def test_a_small_tensor_survives_bit_for_bit(tensor):
    made = again(tensor)
    assert (made.dtype, made.shape) == (tensor.dtype, tensor.shape)
    assert torch.equal(made.reshape(-1).view(torch.uint8), tensor.reshape(-1).view(torch.uint8))


def test_the_shortest_public_name_is_used():
    assert Writer().expression(torch.nn.Linear, "a class") == "torch.nn.Linear"


def local():
    def inner():
        pass

    return inner


@pytest.mark.parametrize(
    "value",
    [lambda x: x, local(), object(), torch.zeros(1000), torch.zeros(2).to_sparse(), torch.nn.Linear(1, 1)],
    ids=["lambda", "nested function", "object", "large tensor", "sparse tensor", "module"],
)
def test_what_has_no_text_is_refused_by_name(value):
    with pytest.raises(UsageError, match="can't write `the value`") as caught:
        Writer().expression(value, "the value")
    assert caught.value.code == "ST409"


@pytest.mark.parametrize(
    "text", ["", "plain", "it's", 'a "b"', "both ' and \"", "back\\slash", "line\nend", "é"]
)
def test_quoted_is_a_literal_of_the_text(text):
    assert eval(quoted(text)) == text
    assert quoted("plain") == '"plain"'
