"""Random programs: the capture, its copies and its conversions mean what the program means."""

from __future__ import annotations

import copy
import pickle

import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import symtrace as fx
from symtrace.testing import assert_equivalent, random_program

INPUTS = [
    (torch.linspace(-2, 2, 12).view(3, 4), torch.linspace(1, -1, 12).view(3, 4)),
    (torch.linspace(-1, 3, 20).view(5, 4), torch.linspace(2, -2, 20).view(5, 4)),
]
relaxed = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
few = settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.too_slow])
choices = st.randoms(use_true_random=False)
lengths = st.integers(0, 14)


@relaxed
@given(choices, lengths)
def test_captured_means_the_same(random, length):
    program = random_program(random, length)
    assert_equivalent(program, fx.symbolic_trace(program), INPUTS, modes=(True, False))


@few
@given(choices, lengths)
def test_interpreter_means_the_same(random, length):
    program = random_program(random, length).eval()
    gm = fx.symbolic_trace(program)
    assert_equivalent(program.forward, fx.Interpreter(gm).run, INPUTS, gradients=False)


@few
@given(choices, lengths)
def test_dead_code_elimination_changes_nothing(random, length):
    program = random_program(random, length)
    gm = fx.symbolic_trace(program)
    gm.graph.eliminate_dead_code()
    gm.graph.lint()
    assert_equivalent(program, gm, INPUTS)


@few
@given(choices, lengths)
def test_round_trips_keep_graph_and_meaning(random, length):
    gm = fx.symbolic_trace(random_program(random, length))
    for back in (
        pickle.loads(pickle.dumps(gm)),
        copy.deepcopy(gm),
        copy.copy(gm),
        fx.Transformer(gm).transform(),
    ):
        assert str(back.graph) == str(gm.graph)
        assert back.code == gm.code
    assert_equivalent(gm, pickle.loads(pickle.dumps(gm)), INPUTS)


@few
@given(choices, lengths)
def test_conversion_to_torch_fx_and_back(random, length):
    from symtrace.interop import from_torch_fx, to_torch_fx

    gm = fx.symbolic_trace(random_program(random, length))
    theirs = to_torch_fx(gm)
    assert_equivalent(gm, theirs, INPUTS)
    back = from_torch_fx(theirs)
    assert str(back.graph) == str(gm.graph)
    assert back.code == gm.code
