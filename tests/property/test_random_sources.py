"""Random programs as source text: captured, and compared with the original over calls, seeds, sizes and modes."""

import random

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from symtrace.testing.fuzzing import Block, Program, Statement, compare, random_source, shrink
from symtrace.testing.fuzzing.__main__ import program_of

CHUNKS = 20
IN_A_CHUNK = 100


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_program_differs(chunk):
    first = 1_000_000 + chunk * IN_A_CHUNK
    kinds = []
    for seed in range(first, first + IN_A_CHUNK):
        verdict = compare(program_of(seed), ("symbolic_trace", "capture")[seed % 10 == 0])
        kinds.append(verdict.kind)
        assert verdict.kind != "differs", f"program {seed}: {verdict.detail}\n{program_of(seed).source()}"
    assert kinds.count("refused") < 0.2 * IN_A_CHUNK
    assert kinds.count("equal") > 0.4 * IN_A_CHUNK


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(st.randoms(use_true_random=False), st.integers(1, 6))
def test_no_drawn_program_differs(choices, length):
    program = random_source(choices, length)
    verdict = compare(program)
    assert verdict.kind != "differs", f"{verdict.detail}\n{program.source()}"


def test_a_program_is_the_same_for_the_same_number():
    assert program_of(7) == program_of(7)
    assert program_of(7).source() == program_of(7).source()


def test_shrinking_leaves_what_fails():
    program = random_source(random.Random(1), 8)
    needle = Statement("{a}.add_({b})", (0, 1))
    program = Program((*program.body, Block("no_grad", (needle, *program.body))), program.inner)
    smallest = shrink(program, lambda candidate: ".add_(" in candidate.source())
    assert smallest.size == 1
    assert ".add_(" in smallest.source()


def test_a_difference_is_found(monkeypatch):
    from symtrace.testing.fuzzing import compare as module

    monkeypatch.setitem(module.__globals__["DOORS"], "wrong", lambda model, loaded: _Halved(model))
    verdict = compare(Program((Statement("{r} = {a} + {b}", (0, 1)),)), "wrong")
    assert verdict.kind == "differs"
    assert "result" in verdict.detail


class _Halved(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, *args, **kwargs):
        return self.model(*args, **kwargs) * 0.5

    def state_dict(self, **kwargs):
        return self.model.state_dict(**kwargs)
