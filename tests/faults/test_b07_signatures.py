"""B7: the captured module has the signature of the original."""

import inspect
from typing import Optional

import pytest
import torch

import symtrace as fx


def keyword_only(x, *, scale):
    return x * scale


def keyword_default(x, *, scale=2.0):
    return x * scale


def after_default(x, y=1.0, *, a, b=3.0):
    return x * y + a - b


def after_varargs(x, *rest, scale=1.0):
    return x * scale


def everything(a, b=1, *rest, c, d=2, **extra):
    return a + b + c + d


def positional_only(a, b, /, c):
    return a + b + c


def positional_only_default(a, b=2.0, /, *, c=1.0):
    return a + b + c


def annotated(x: torch.Tensor, scale: float = 2.0, mask: torch.Tensor | None = None) -> torch.Tensor:
    return x * scale


def annotated_by_string(x: "torch.Tensor", *, flag: "bool" = False) -> "torch.Tensor":
    return x + 1


def varargs(*xs):
    return xs[0]


def varkw(x, **extra):
    return x


PROGRAMS = [
    keyword_only,
    keyword_default,
    after_default,
    after_varargs,
    everything,
    positional_only,
    positional_only_default,
    annotated,
    annotated_by_string,
    varargs,
    varkw,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_signature_of_a_function(program):
    gm = fx.symbolic_trace(program)
    assert inspect.signature(gm.forward) == inspect.signature(program)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_signature_of_a_module(program):
    def forward(self, *args, **kwargs):
        raise AssertionError

    source = inspect.getsource(program).replace(f"def {program.__name__}(", "def forward(self, ")
    scope = {"torch": torch, "Optional": Optional}
    exec(source, scope)
    module = type("M", (torch.nn.Module,), {"forward": scope["forward"]})()
    gm = fx.symbolic_trace(module)
    assert inspect.signature(gm.forward) == inspect.signature(module.forward)


def test_keyword_only_is_enforced():
    gm = fx.symbolic_trace(keyword_default)
    assert gm(torch.ones(1), scale=3.0).item() == 3.0
    with pytest.raises(TypeError):
        gm(torch.ones(1), 3.0)


def test_no_trace_in_the_code_either():
    assert "*" in fx.symbolic_trace(keyword_only).code.split("):")[0]
