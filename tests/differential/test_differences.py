"""Programs on which torch.fx is wrong or refuses: symtrace must mean what eager means."""

from __future__ import annotations

from typing import Any

import pytest
import torch.fx

import symtrace

from .compare import assert_means_the_same, assert_same_value, capture, code_lines, rows, run_all
from .corpus import DIFFERING
from .program import Program

each = pytest.mark.parametrize("program", DIFFERING, ids=lambda program: program.name)


def outcome(fx: Any, program: Program) -> Any:
    """Return the graph and its code, or the kind of failure."""
    try:
        gm = capture(fx, program, program.make())
        return rows(gm), code_lines(gm)
    except Exception as error:
        return type(error).__name__


@each
def test_means_what_eager_means(program: Program):
    original = program.make()
    captured = capture(symtrace, program, original)
    assert_means_the_same(program, captured, program.make())


@each
def test_interpreter_means_what_eager_means(program: Program):
    captured = capture(symtrace, program, program.make())
    run = symtrace.Interpreter(captured).run
    assert_same_value(run_all(run, program), run_all(program.make(), program), subclass=True)


@each
def test_torch_fx_really_differs(program: Program):
    theirs = outcome(torch.fx, program)
    if isinstance(theirs, str):
        return
    captured = capture(torch.fx, program, program.make())
    try:
        assert_means_the_same(program, captured, program.make())
    except Exception:
        return
    assert outcome(symtrace, program) != theirs, "the two agree: move the program to the agreeing part"
