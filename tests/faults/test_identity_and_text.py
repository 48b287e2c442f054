"""What Python asks of an object without an operator: identity, hash, text. And refusals that a program catches."""

import functools
import sys

import pytest
import torch
from torch import nn

import symtrace as fx
from symtrace.testing import assert_equivalent


@functools.lru_cache
def cached(n):
    return n * 2


def handled(x):
    try:
        if x.sum() > 0:
            return x
        return -x
    except Exception:
        return x + 100


def left_by_finally(x):
    try:
        if x.sum() > 0:
            x = x + 1
    finally:
        return x  # noqa: B012


def kept(x):
    dtype = x.dtype
    return x + 1 if dtype is torch.float32 else x - 1


PROGRAMS = {
    "set": lambda x: x + 1 if x.dtype in {torch.float32} else x - 1,
    "size_in_set": lambda x: x + 1 if x.shape[1] in {3} else x - 1,
    "get": lambda x: x * {3: 5}.get(x.shape[1], 1),
    "key": lambda x: x * {2: 5}[x.dim()],
    "cache": lambda x: x * cached(x.shape[1]),
    "fstring": lambda x: x * {"3": 5}.get(f"{x.shape[1]}", 1),
    "str": lambda x: x * {"3": 5}.get(str(x.shape[1]), 1),
    "format": lambda x: x * {"03": 5}.get(f"{x.shape[1]:02d}", 1),
    "dtype_str": lambda x: x + 1 if str(x.dtype) == "torch.float32" else x - 1,
    "device_str": lambda x: x + 1 if str(x.device).startswith("cpu") else x - 1,
    "is": lambda x: x + 1 if x.dtype is torch.float32 else x - 1,
    "is_not": lambda x: x + 1 if x.dtype is not torch.float32 else x - 1,
    "is_right": lambda x: x + 1 if torch.float32 is x.dtype else x - 1,
    "is_kept": kept,
    "grad": lambda x: x + 1 if x.grad is None else x - 1,
    "size": lambda x: x + 1 if isinstance(x.shape, torch.Size) else x - 1,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_answers_of_an_example(name):
    program, x = PROGRAMS[name], torch.randn(2, 3)
    captured = fx.capture(program, (x,))
    assert_equivalent(program, captured, [(torch.randn(2, 3),), (torch.randn(5, 3),)])
    other = torch.randn(2, 4, dtype=torch.float64)
    try:
        result = captured(other)
    except fx.GuardError:
        return
    assert torch.equal(result, program(other))


@pytest.mark.parametrize("name", sorted(set(PROGRAMS) - {"size"}))
def test_without_an_example_there_is_no_answer(name):
    with pytest.raises(fx.TraceError):
        fx.symbolic_trace(PROGRAMS[name])


@pytest.mark.parametrize("program", [handled, left_by_finally])
def test_a_refusal_that_the_program_catches(program):
    with pytest.raises(fx.TraceError, match="ST012"):
        fx.symbolic_trace(program)


def test_text_that_is_only_shown(capsys):
    def program(x):
        print(f"shape {x.shape}")
        return x + 1

    captured = fx.capture(program, (torch.ones(2),))
    assert captured(torch.ones(5)).shape == (5,)


def log(text: str) -> int:
    return len(text)


def beside_a_print(x: torch.Tensor, n: int) -> torch.Tensor:
    print("x")
    k = len(str(n))  # noqa: E702
    return x + k


def by_a_call_named_log(x: torch.Tensor, n: int) -> torch.Tensor:
    return x + log(f"{n}")


def in_the_condition_of_an_assertion(x: torch.Tensor, n: int) -> torch.Tensor:
    assert len(str(n)) == 1, "one digit"
    return x + n


def of_what_is_printed_and_used(x: torch.Tensor, n: int) -> torch.Tensor:
    return x + (len(str(n)) if print("x") is None else 0)


def behind_a_text_with_a_bracket(x: torch.Tensor, n: int) -> torch.Tensor:
    print("(")
    k = len(str(n))  # noqa: E702
    return x + k


def in_a_text_that_says_raise(x: torch.Tensor, n: int) -> torch.Tensor:
    return x + len(f"no: raise {n}")


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 records no columns")
@pytest.mark.parametrize(
    "program",
    [
        behind_a_text_with_a_bracket,
        in_a_text_that_says_raise,
        beside_a_print,
        by_a_call_named_log,
        in_the_condition_of_an_assertion,
        of_what_is_printed_and_used,
    ],
)
def test_text_that_is_used_on_a_line_that_shows_one_is_guarded(program):
    captured = fx.capture(program, (torch.ones(2), 1))
    assert captured(torch.ones(2), 1).equal(program(torch.ones(2), 1))
    with pytest.raises(fx.GuardError):
        captured(torch.ones(2), 10)


class Asks(nn.Module):
    def forward(self, x):
        return x + 1 if self.training is True else x - 1


def test_identity_of_the_training_flag():
    model = Asks()
    captured = fx.symbolic_trace(model)
    assert_equivalent(model, captured, (torch.ones(2),))
    with pytest.raises(fx.GuardError):
        captured.eval()(torch.ones(2))


def test_a_context_that_is_entered_again_before_it_is_left():
    def program(x):
        outer = torch.no_grad()
        with outer, torch.enable_grad():
            with outer:
                y = x * 2
            z = x * 3
        return y + z

    assert_equivalent(program, fx.symbolic_trace(program), (torch.ones(2, requires_grad=True),))
