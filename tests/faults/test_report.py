"""The report lists what a program takes from the world, each with its line, and nothing for what it does not."""

import copy
import dataclasses
import enum
import os
import pathlib
import pickle
import socket
import sys
import time
import types
from typing import NamedTuple

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import symtrace as fx

DOORS = [fx.symbolic_trace, fx.capture, lambda program: fx.capture(program, (ONES,))]
ONES = torch.ones(3)


class Mode(enum.Enum):
    SLOW = 1


@dataclasses.dataclass(slots=True)
class Slotted:
    width: int = 3


class Config:
    depth = 2

    def __init__(self):
        self.width = 3
        self.unread = 4

    @property
    def area(self):
        return self.width * self.width  # area


class Sizes(NamedTuple):
    width: int = 3


SCALE = 2.0
MODE = Mode.SLOW
CONFIG = Config()
SLOTTED = Slotted()
NAMESPACE = types.SimpleNamespace(width=3)
TABLE = {"wide": 3}
FACTORS = [1.0, 2.0]
settings = types.ModuleType("settings_of_a_program")
settings.FACTOR = 5


def scaled(x):
    return x * SCALE  # reached


BY_NAME = {"scaled": scaled}


class Model(nn.Module):
    factor = 1.5

    def __init__(self):
        super().__init__()
        self.scale, self.mode, self.name, self.none = 2.0, Mode.SLOW, "wide", None
        self.config, self.sizes, self.list = Config(), Sizes(), [1, 2]
        self.array = np.ones(3, dtype=np.float32)
        self.dtype = torch.float32
        self.lin = nn.Linear(3, 3)
        self.inner = Inner()
        self.unread = 7

    def forward(self, x):
        return self.lin(self.run(x))

    def helper(self, x):
        return x * self.scale  # helper

    @property
    def twice(self):
        return self.scale * 2  # twice


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.eps = 0.5

    def forward(self, x):
        return x + self.eps  # inner


def line(program, mark=None):
    """Return the line of a program's first statement, or of the one that a comment marks."""
    if mark is None:
        return program.__code__.co_firstlineno
    with open(__file__, encoding="utf-8") as file:
        return next(number for number, text in enumerate(file, 1) if text.rstrip().endswith(f"# {mark}"))


def model_of(program):
    return type("Model", (Model,), {"run": program})()


def entries(program, door):
    gm = door(model_of(program))
    assert torch.equal(gm(ONES), gm(ONES))
    return list(gm.report)


def closes_over(value):
    return lambda self, x: x * value


def aliased(self, x):
    config = self.config
    return x * config.width  # aliased


def in_a_function(self, x):
    def inner():
        return self.scale  # in_a_function

    return x * inner()


def of_a_parameter(config, x):
    return x * config.width  # of_a_parameter


CONSTANTS = [
    (lambda self, x: x * self.scale, "`self.scale` is 2.0", None),
    (lambda self, x: x * 2 if self.mode is Mode.SLOW else x, "`self.mode` is <Mode.SLOW: 1>", None),
    (lambda self, x: x * 2 if self.name == "wide" else x, "`self.name` is 'wide'", None),
    (lambda self, x: x * 2 if self.none is None else x, "`self.none` is None", None),
    (lambda self, x: x * self.factor, "`self.factor` is 1.5", None),
    (lambda self, x: x * type(self).factor, "`Model.factor` is 1.5", None),
    (lambda self, x: x.to(self.dtype), "`self.dtype` is torch.float32", None),
    (lambda self, x: x * self.config.width, "`self.config.width` is 3", None),
    (lambda self, x: x * self.config.depth, "`self.config.depth` is 2", None),
    (lambda self, x: x * self.config.area, "`self.width` is 3", "area"),
    (lambda self, x: x * self.sizes.width, "`self.sizes` is Sizes(width=3)", None),
    (lambda self, x: x * self.list[0], "`self.list` is [1, 2]", None),
    (lambda self, x: x * self.lin.in_features, "`self.lin.in_features` is 3", None),
    (lambda self, x: x + torch.from_numpy(self.array), "`self.array` is an array of shape (3,)", None),
    (lambda self, x: x * getattr(self, "scale", 1), "`self.scale` is 2.0", None),
    (lambda self, x: x * getattr(self.config, "width", 1), "`self.config.width` is 3", None),
    (lambda self, x: self.helper(x), "`self.scale` is 2.0", "helper"),
    (lambda self, x: x * self.twice, "`self.scale` is 2.0", "twice"),
    (lambda self, x: self.inner(x), "`self.eps` is 0.5", "inner"),
    (lambda self, x: x * sum(self.scale for _ in range(2)), "`self.scale` is 2.0", None),
    (aliased, "`self.config.width` is 3", "aliased"),
    (in_a_function, "`self.scale` is 2.0", "in_a_function"),
    (lambda self, x: of_a_parameter(self.config, x), "`Config.width` is 3", "of_a_parameter"),
    (lambda self, x: x * SCALE, "`SCALE` is 2.0", None),
    (lambda self, x: x * 2 if MODE is Mode.SLOW else x, "`MODE` is <Mode.SLOW: 1>", None),
    (lambda self, x: x * CONFIG.width, "`CONFIG.width` is 3", None),
    (lambda self, x: x * SLOTTED.width, "`SLOTTED.width` is 3", None),
    (lambda self, x: x * NAMESPACE.width, "`NAMESPACE.width` is 3", None),
    (lambda self, x: x * TABLE["wide"], "`TABLE` is {'wide': 3}", None),
    (lambda self, x: x * FACTORS[1], "`FACTORS` is [1.0, 2.0]", None),
    (lambda self, x: x * settings.FACTOR, "`settings.FACTOR` is 5", None),
    (lambda self, x: BY_NAME["scaled"](x), "`SCALE` is 2.0", "reached"),
    (closes_over(4), "`value` is 4", None),
    (lambda self, x: x * 2 if torch.backends.mkldnn.enabled is not None else x, "`torch.backends.mkldnn.enabled` is",
     None),
    (lambda self, x: x * len(sys.argv), "`sys.argv` is", None),
]  # fmt: skip


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(("program", "message", "mark"), CONSTANTS)
def test_a_plain_value_that_is_read_by_name_is_listed(program, message, mark, door):
    found = [entry for entry in entries(program, door) if entry.message.startswith(message)]
    assert [entry.kind for entry in found] == ["constant"]
    assert (found[0].location.file, found[0].location.line) == (__file__, line(program, mark))


WORLD = [
    (lambda self, x: x * time.time(), "what `time` gives"),
    (lambda self, x: x * 2 if os.environ.get("SOME_VARIABLE") else x, "the environment variable `SOME_VARIABLE`"),
    (lambda self, x: x * int(os.getenv("SOME_VARIABLE", "3")), "the environment variable `SOME_VARIABLE`"),
    (lambda self, x: x * 2 if "SOME_VARIABLE" in os.environ else x, "the environment variable `SOME_VARIABLE`"),
    (lambda self, x: x.to("cuda" if torch.cuda.is_available() and x is None else "cpu"),
     "what `torch.cuda.is_available` gives"),
    (lambda self, x: x * (torch.cuda.device_count() + 1), "what `torch.cuda.device_count` gives"),
    (lambda self, x: x * torch.get_num_threads(), "what `torch.get_num_threads` gives"),
    (lambda self, x: x * os.cpu_count(), "what `os.cpu_count` gives"),
    (lambda self, x: x * 2 if os.path.exists("/nowhere") else x, "what `os.path.exists` gives"),
    (lambda self, x: x * len(socket.gethostname()), "what `socket.gethostname` gives"),
    (lambda self, x: x * len(pathlib.Path(__file__).read_text()), "what the file"),
]  # fmt: skip


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(("program", "message"), WORLD)
def test_what_the_world_answers_is_listed(program, message, door):
    found = [entry for entry in entries(program, door) if entry.kind == "frozen"]
    assert len(found) == 1
    assert found[0].message.startswith(message)
    assert (found[0].location.file, found[0].location.line) == (__file__, line(program))


@pytest.mark.parametrize("program", [
    lambda self, x: F.relu(x) + 1, lambda self, x: self.lin(x), lambda self, x: x * (2 if self.training else 3),
    lambda self, x: x + torch.zeros(3), lambda self, x: x.to(self.lin.weight.dtype), lambda self, x: x * math_pi(),
    lambda self, x: x if torch.jit.is_scripting() else x * 2,
])  # fmt: skip
def test_a_program_that_takes_nothing_has_an_empty_report(program):
    gm = fx.capture(model_of(program))
    assert list(gm.report) == []
    assert str(gm.report) == "nothing was assumed"


def math_pi():
    from math import pi

    return pi


@pytest.mark.parametrize("program", [
    lambda x: x.to(torch.get_default_dtype()), lambda x: x + torch.zeros(3, dtype=torch.get_default_dtype()),
    lambda x: x * 2 if torch.get_default_dtype() is torch.float32 else x,
    lambda x: x * 2 if torch.get_default_dtype() == torch.float32 else x,
    lambda x: x * 2 if torch.are_deterministic_algorithms_enabled() else x,
    lambda x: x * 2 if torch.get_float32_matmul_precision() == "highest" else x,
])  # fmt: skip
@pytest.mark.parametrize("door", DOORS)
def test_settings_of_torch_are_followed_or_guarded(program, door):
    gm = door(program)
    assert torch.equal(gm(ONES), program(ONES))
    before = torch.get_default_dtype(), torch.get_float32_matmul_precision()
    try:
        torch.set_default_dtype(torch.float64)
        torch.set_float32_matmul_precision("medium")
        torch.use_deterministic_algorithms(True)
        expected = program(ONES)
        try:
            result = gm(ONES)
        except fx.GuardError:
            return
        assert result.dtype == expected.dtype
        assert torch.equal(result, expected)
    finally:
        torch.set_default_dtype(before[0])
        torch.set_float32_matmul_precision(before[1])
        torch.use_deterministic_algorithms(False)


class Scales(Model):
    def forward(self, x):
        return x * self.scale + self.factor


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Scales() for _ in range(3)])
        for number, layer in enumerate(self.layers):
            layer.scale = float(number)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def test_layers_share_an_entry_and_functions_a_line():
    report = fx.symbolic_trace(Layers()).report
    messages = [entry.message for entry in report]
    assert "`self.scale` is 0.0 or 1.0 or 2.0" in messages
    assert len(messages) == len(set(messages)) == 2
    assert str(report).count("\n") == 0


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x * self.calls


def test_what_the_program_keeps_itself_is_no_constant():
    assert [entry.kind for entry in fx.symbolic_trace(Counting()).report] == ["state"]


@fx.wrap
def opaque(x):
    return x * SCALE


class Leaf(nn.Module):
    def forward(self, x):
        return x * SCALE


class Calls(nn.Module):
    def __init__(self):
        super().__init__()
        self.leaf = Leaf()

    def forward(self, x):
        return opaque(self.leaf(x))


def test_what_runs_at_each_call_assumes_nothing():
    assert list(fx.symbolic_trace(Calls(), leaves=[Leaf]).report) == []


def test_values_are_those_of_the_capture():
    model = model_of(lambda self, x: x * self.scale)
    gm = fx.symbolic_trace(model)
    model.scale = 9.0
    assert [entry.message for entry in gm.report] == ["`self.scale` is 2.0"]


@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, lambda gm: pickle.loads(pickle.dumps(gm))])
def test_copies_have_the_report(copied):
    gm = fx.symbolic_trace(Inner())
    assert [entry.message for entry in copied(gm).report] == ["`self.eps` is 0.5"]
