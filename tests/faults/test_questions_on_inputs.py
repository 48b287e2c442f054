"""What a program asks of its inputs beside sizes and content is answered for the examples, and checked at each call.

Each case asks a question that is answered one way for the example and the other way for another input. The captured
program gives what eager gives for the example, and refuses the other input rather than give what the example decided.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import numbers
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import nn

import symtrace as fx


class Subclass(torch.Tensor):
    pass


class First(NamedTuple):
    a: torch.Tensor


class Second(NamedTuple):
    a: torch.Tensor


@dataclasses.dataclass
class Data:
    a: torch.Tensor


@dataclasses.dataclass
class Derived(Data):
    pass


def tensor() -> torch.Tensor:
    return torch.arange(1.0, 3.0)


def parameter() -> nn.Parameter:
    return nn.Parameter(tensor())


def tagged() -> torch.Tensor:
    value = tensor()
    value.mark = 1  # type: ignore[attr-defined]
    return value


def matches_int(x: Any) -> bool:
    match x:
        case int():
            return True
    return False


def matches_parameter(x: Any) -> bool:
    match x:
        case nn.Parameter():
            return True
    return False


def reads_class(x: Any) -> bool:
    return x.__class__ is torch.Tensor


def tries_attribute(x: Any) -> bool:
    try:
        return bool(x.mark == 1)
    except AttributeError:
        return False


@functools.singledispatch
def dispatched(x: Any) -> bool:
    return False


@dispatched.register
def _(x: int) -> bool:
    return True


@dispatched.register
def _(x: nn.Parameter) -> bool:
    return True


CASES: dict[str, tuple[Callable[[Any], bool], Any, Any]] = {
    "isinstance of a parameter": (lambda x: isinstance(x, nn.Parameter), tensor(), parameter()),
    "isinstance of a tensor for one": (lambda x: isinstance(x, nn.Parameter), parameter(), tensor()),
    "isinstance of a subclass": (lambda x: isinstance(x, Subclass), tensor(), tensor().as_subclass(Subclass)),
    "isinstance in a union": (lambda x: isinstance(x, nn.Parameter | list), tensor(), parameter()),
    "a class for a dtype": (lambda x: isinstance(x, torch.FloatTensor), tensor(), tensor().double()),
    "of a result": (lambda x: isinstance(x * 1, torch.FloatTensor), tensor(), tensor().double()),
    "type": (lambda x: type(x) is torch.Tensor, tensor(), parameter()),
    "__class__": (reads_class, tensor(), parameter()),
    "a pattern": (matches_parameter, tensor(), parameter()),
    "a pattern for one": (matches_parameter, parameter(), tensor()),
    "a dispatcher": (dispatched, tensor(), parameter()),
    "is_tensor": (torch.is_tensor, tensor(), 3),
    "is_tensor of a number": (torch.is_tensor, 3, tensor()),
    "hasattr": (lambda x: hasattr(x, "mark"), tensor(), tagged()),
    "hasattr of a tensor that has it": (lambda x: hasattr(x, "mark"), tagged(), tensor()),
    "getattr with a default": (lambda x: getattr(x, "mark", 0) == 1, tensor(), tagged()),
    "getattr of a tensor that has it": (lambda x: getattr(x, "mark", 0) == 1, tagged(), tensor()),
    "an attribute in try": (tries_attribute, tensor(), tagged()),
    "an attribute in try that is there": (tries_attribute, tagged(), tensor()),
    "int": (lambda x: isinstance(x, int), 1, 1.5),
    "int of the same value": (lambda x: isinstance(x, int), 1, 1.0),
    "bool": (lambda x: isinstance(x, bool), 1, True),
    "type of a number": (lambda x: type(x) is int, 1, True),
    "class of a number": (lambda x: x.__class__ is int, 1, 1.5),
    "text of a number": (lambda x: f"{x}" == "1", 1, True),
    "text of a number and a tensor": (lambda x: f"{x.real}" == "2", 2, torch.tensor(2.0)),
    "a number of numpy": (lambda x: type(x) is float, 1.5, np.float64(1.5)),
    "an abstract class": (lambda x: isinstance(x, numbers.Integral), 1, 1.5),
    "a result of a number": (lambda x: isinstance(x * 2, int), 1, 1.5),
    "a number in a dict": (lambda x: isinstance(x["n"], int), {"n": 1}, {"n": 1.5}),
    "a pattern of a number": (matches_int, 1, 1.5),
    "a pattern of another": (matches_int, 1.5, 1),
    "a dispatcher of a number": (dispatched, 1, 1.5),
    "list": (lambda x: isinstance(x, list), [tensor()], (tensor(),)),
    "type of a list": (lambda x: type(x) is list, [tensor()], (tensor(),)),
    "a list in a list": (lambda x: isinstance(x[0], list), [[tensor()]], [(tensor(),)]),
    "dict": (lambda x: type(x) is dict, {"a": tensor()}, collections.OrderedDict(a=tensor())),
    "named tuple": (lambda x: isinstance(x, First), First(tensor()), Second(tensor())),
    "plain tuple": (lambda x: isinstance(x, First), First(tensor()), (tensor(),)),
    "data class": (lambda x: type(x) is Data, Data(tensor()), Derived(tensor())),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_asked_of_an_input_is_checked_at_each_call(name: str) -> None:
    question, example, other = CASES[name]

    def program(x: Any) -> torch.Tensor:
        return torch.ones(2) if question(x) else torch.zeros(2)

    captured = fx.capture(program, (example,))
    assert program(example).equal(captured(example))
    assert not program(example).equal(program(other))
    with pytest.raises(fx.errors.GuardError):
        captured(other)


def test_two_inputs_that_the_program_compares_by_is_are_two_at_each_call() -> None:
    def program(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + 1 if x is y else x

    x, y = tensor(), tensor()
    captured = fx.capture(program, (x, y))
    assert captured(x, y).equal(x)
    with pytest.raises(fx.errors.GuardError, match="is"):
        captured(x, x)
    with pytest.raises(fx.errors.DataDependentError, match="ST013"):
        fx.capture(program, (x, x))


def in_a_list(x: Any) -> Any:
    return x[0] + 1 if x[0] is x[1] else x[0]


def is_not(x: Any) -> Any:
    return x[0] if x[-1] is not x[0] else x[0] + 1


def deeper(x: Any) -> Any:
    return x[0][0] + 1 if x[0][0] is x[1][0] else x[0][0]


def in_a_chain(x: Any) -> Any:
    return x[0] + 1 if x[0] is x[1] is x[2] else x[0]


def in_an_inner_function(x: Any) -> Any:
    return (lambda i, j: x[i] + 1 if x[i] is x[j] else x[i])(0, 1)


def in_a_generator(x: Any) -> Any:
    return sum(value for value in x if value is not x[0]) + x[0]


def of_fields(x: Any) -> Any:
    return x.a + 1 if x.a is x.b else x.a


def of_items(x: Any) -> Any:
    return x["a"] + 1 if x.get("b") is x["a"] else x["a"]


def with_another_input(x: Any, y: Any) -> Any:
    return x[0] + 1 if x[0] is y else x[0]


class Pair(NamedTuple):
    a: torch.Tensor
    b: torch.Tensor


@dataclasses.dataclass
class Both:
    a: torch.Tensor
    b: torch.Tensor


def beside_a_pattern(x: Any) -> Any:
    match x:
        case [first, _]:
            found = first
        case _:
            found = 0
    return found + 1 if x[0] is x[1] else found


IN_A_LAMBDA = lambda x: x[0] + 1 if x[-1] is not x[0] else x[0]  # noqa: E731
WITHOUT_TEXT: dict[str, Any] = {}
exec("def of_items(x): return x[0].a + 1 if x[0].a is x[1]['b'] else x[0].a", WITHOUT_TEXT)  # noqa: S102


@pytest.mark.parametrize(
    ("program", "inputs"),
    [
        (beside_a_pattern, lambda a, b: ([a, b],)),
        (IN_A_LAMBDA, lambda a, b: ([a, b],)),
        (WITHOUT_TEXT["of_items"], lambda a, b: ([Both(a, a), {"b": b}],)),
        (in_a_list, lambda a, b: ([a, b],)),
        (in_a_list, lambda a, b: ((a, b),)),
        (is_not, lambda a, b: ([a, b],)),
        (deeper, lambda a, b: ([[a], [b]],)),
        (in_a_chain, lambda a, b: ([a, b, b],)),
        (in_an_inner_function, lambda a, b: ([a, b],)),
        (in_a_generator, lambda a, b: ([a, b],)),
        (of_fields, lambda a, b: (Pair(a, b),)),
        (of_fields, lambda a, b: (Both(a, b),)),
        (of_items, lambda a, b: ({"a": a, "b": b},)),
        (with_another_input, lambda a, b: ([a], b)),
    ],
)
def test_parts_of_inputs_that_the_program_compares_by_is_are_two_at_each_call(
    program: Callable[..., Any], inputs: Callable[..., Any]
) -> None:
    x, y = tensor(), tensor()
    captured = fx.capture(program, inputs(x, y))
    for a, b in ((x, y), (y, x)):
        assert captured(*inputs(a, b)).equal(program(*inputs(a, b)))
    with pytest.raises(fx.errors.GuardError, match="is"):
        captured(*inputs(x, x))
    with pytest.raises(fx.errors.DataDependentError, match="ST013"):
        fx.capture(program, inputs(x, x))


@pytest.mark.parametrize(
    ("example", "other"), [(2, len), (2.0, len), (None, len), (tensor(), len), (nn.ReLU(), 2)]
)
def test_what_can_be_called_is_asked_at_each_call(example: Any, other: Any) -> None:
    def program(x: torch.Tensor, f: Any) -> torch.Tensor:
        return x + 1 if callable(f) else x

    captured = fx.capture(program, (tensor(), example))
    assert captured(tensor(), example).equal(program(tensor(), example))
    with pytest.raises(fx.GuardError):
        captured(tensor(), other)


def test_a_class_that_nothing_asks_for_is_free() -> None:
    captured = fx.capture(lambda x, n: x * n, (tensor(), 2))
    assert captured(parameter(), 2).equal(tensor() * 2)
    assert captured(tensor(), 2.5).equal(tensor() * 2.5)


def test_the_class_of_a_size_is_no_guard() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return x + 1 if isinstance(x.shape[0], int) and type(x.shape[0] * 2) is int else x

    captured = fx.capture(program, (tensor(),))
    assert [guard.condition for guard in captured.guards] == ["x.dim() is 1"]
    assert captured(torch.ones(3)).equal(torch.full((3,), 2.0))


def test_what_was_put_on_an_input_and_is_no_plain_value_is_refused() -> None:
    x = tensor()
    x.mask = tensor()  # type: ignore[attr-defined]
    with pytest.raises(fx.errors.TraceError, match="`mask`"):
        fx.capture(lambda x: x * x.mask, (x,))


def test_tensors_lack_attributes_again_after_a_capture() -> None:
    fx.capture(lambda x: x + 1, (tensor(),))
    assert "__getattr__" not in vars(torch.Tensor)


def test_questions_are_asked_again_when_a_captured_program_is_captured() -> None:
    def program(x: torch.Tensor, n: Any) -> torch.Tensor:
        return x + n if isinstance(n, int) and not isinstance(x, nn.Parameter) else x

    once = fx.capture(program, (tensor(), 2))
    twice = fx.capture(once, (tensor(), 2))
    assert twice(tensor(), 3).equal(tensor() + 3)
    for other in ((tensor(), 2.5), (parameter(), 2)):
        with pytest.raises(fx.errors.GuardError):
            twice(*other)
