"""A list, dict or object that leaves the program in several places is one object in the captured program, too."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from typing import Any

import pytest
import torch
from torch import nn

import symtrace as fx


@dataclasses.dataclass
class Pair:
    first: torch.Tensor
    second: Any


def captures(model: Any, *example: Any) -> list[Any]:
    return [fx.symbolic_trace(model), fx.capture(model), fx.capture(model, example)]


class ListKept(nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        out = [x + 1]
        self.kept = out
        out.append(x * 2)
        return out


class DictKept(nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        self.kept = {"a": x + 1}
        return x, self.kept


class ObjectKept(nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        self.kept = Pair(x + 1, [x])
        return self.kept


class InnerKept(nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        inner = OrderedDict(a=x + 1)
        self.kept = [inner]
        return inner


PROGRAMS = {
    "list": (ListKept, lambda out, model: out is model.kept),
    "dict": (DictKept, lambda out, model: out[1] is model.kept),
    "object": (ObjectKept, lambda out, model: out is model.kept),
    "inner": (InnerKept, lambda out, model: out is model.kept[0]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_kept_and_returned_is_one_object(name: str) -> None:
    program, is_one = PROGRAMS[name]
    x = torch.ones(2)
    model = program()
    assert is_one(model(x), model)
    for captured in captures(program(), x):
        out = captured(x)
        assert is_one(out, captured)
        again = captured(x)
        assert again is not out
        assert is_one(again, captured)


def test_two_attributes_hold_one_dict() -> None:
    class Program(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.one = self.two = {"a": x}
            return x

    for captured in captures(Program(), torch.ones(2)):
        captured(torch.ones(2))
        assert captured.one is captured.two


def test_one_list_is_returned_twice() -> None:
    def program(x: torch.Tensor) -> Any:
        both = [x + 1]
        return both, {"again": both}

    for captured in captures(program, torch.ones(2)):
        one, other = captured(torch.ones(2))
        assert one is other["again"]
        assert type(one) is list


def test_two_equal_lists_are_two() -> None:
    def program(x: torch.Tensor) -> Any:
        y = x + 1
        return [y], [y]

    for captured in captures(program, torch.ones(2)):
        one, other = captured(torch.ones(2))
        assert one is not other


@pytest.mark.parametrize("make", [lambda x: [x, x + 1], lambda x: {0: x, 1: x + 1}])
def test_a_container_that_is_an_input_is_given_back_itself(make: Any) -> None:
    def program(given: Any) -> Any:
        return given, given[0] + 1

    given = make(torch.ones(2))
    captured = fx.capture(program, (given,))
    assert captured(given)[0] is given


def test_a_container_that_is_an_input_is_kept_itself() -> None:
    class Program(nn.Module):
        def forward(self, given: Any) -> torch.Tensor:
            self.kept = given["inner"]
            return given["inner"][0] + 1

    given = {"inner": [torch.ones(2)]}
    captured = fx.capture(Program(), (given,))
    captured(given)
    assert captured.kept is given["inner"]


def test_one_that_is_kept_twice_on_one_way_only_is_refused() -> None:
    class Program(nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            if x.sum() > 0:
                self.one = self.two = [x + 1]
            return x

    with pytest.raises(fx.errors.TraceError, match="ST022"):
        fx.capture(Program())


@dataclasses.dataclass(slots=True)
class Slotted:
    first: torch.Tensor
    second: Any = None


def test_what_a_program_puts_on_an_object_that_is_an_input_is_not_lost() -> None:
    def traced(given: Any) -> Any:
        given.extra = given.first + 1
        return given

    def constant(given: Any) -> Any:
        given.extra = 3
        return given.first

    def in_slot(given: Any) -> Any:
        given.second = 3
        return given.first

    cases = (
        (traced, Pair(torch.ones(2), 1)),
        (constant, Pair(torch.ones(2), 1)),
        (in_slot, Slotted(torch.ones(2))),
    )
    for program, given in cases:
        with pytest.raises(fx.errors.TraceError, match="ST022"):
            fx.capture(program, (given,))
        assert not hasattr(given, "extra")
