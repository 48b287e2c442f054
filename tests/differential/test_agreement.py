"""Programs on which symtrace and torch.fx must agree: graph, printed forms, code and results."""

from __future__ import annotations

import pytest
import torch.fx

import symtrace

from .compare import assert_means_the_same, assert_same_graph, assert_same_value, capture, rows, run_all
from .corpus import AGREEING
from .program import Program

each = pytest.mark.parametrize("program", AGREEING, ids=lambda program: program.name)


@each
def test_same_graph_and_code(program: Program):
    ours = capture(symtrace, program, program.make())
    theirs = capture(torch.fx, program, program.make())
    assert_same_graph(ours, theirs)


@each
def test_same_results_as_eager(program: Program):
    captured = capture(symtrace, program, program.make())
    assert_means_the_same(program, captured, program.make())


@each
def test_interpreter_gives_the_same_results(program: Program):
    captured = capture(symtrace, program, program.make())
    if program.kwargs:
        pytest.skip("torch.fx's Interpreter takes positional arguments; keywords are tested in tests/faults")
    results = run_all(symtrace.Interpreter(captured).run, program)
    assert_same_value(results, run_all(program.make(), program), subclass=True)


@each
def test_identity_transformer_keeps_the_graph(program: Program):
    captured = capture(symtrace, program, program.make())
    transformed = symtrace.Transformer(captured).transform()
    assert rows(transformed) == rows(captured)
