"""Tracebacks, breakpoints and coverage point at the user's text, also inside decisions and loops."""

from __future__ import annotations

import bdb
import inspect
import sys
import trace

import pytest
import torch

import symtrace


def decides(x, y):
    if x.sum() > 0:
        x = x * 2
        for row in y:
            x = x + row
            if row.sum() > 100:
                x = x @ torch.ones(7)  # fails
        return x
    while x.sum() < -10:
        x = x[:, 0]  # fails too
    return x + sum([row.sum() for row in y if row.sum() > 0])


FIRST = inspect.getsourcelines(decides)[1]
LINES = dict(enumerate(inspect.getsourcelines(decides)[0], FIRST))
BODY = {line for line in LINES if line > FIRST}
FAILING = [(torch.ones(3), torch.full((2, 3), 100.0), "x @ torch.ones(7)"),
           (torch.full((3,), -10.0), torch.ones(2, 3), "x = x[:, 0]")]  # fmt: skip


def _line_of(text):
    return next(line for line, source in LINES.items() if text in source)


@pytest.mark.parametrize("interpreted", [False, True])
@pytest.mark.parametrize(("x", "y", "text"), FAILING)
def test_an_error_in_a_region_names_its_very_line(x, y, text, interpreted):
    module = symtrace.capture(decides)
    run = symtrace.Interpreter(module).run if interpreted else module
    with pytest.raises((RuntimeError, IndexError)) as caught:
        run(x, y)
    notes = "\n".join(caught.value.__notes__)
    assert f"{__file__}:{_line_of(text)} in decides: " in notes
    first = caught.value.__notes__[0]
    assert f"{__file__}:{_line_of(text)}" in first


def test_each_line_of_a_region_is_that_of_its_node():
    module = symtrace.capture(decides)
    source = module.graph.python_code("self")
    assert source.inner_map.keys() <= source.line_map.keys()
    for line, path in source.inner_map.items():
        node = next(node for node in module.graph.nodes if node.name == source.line_map[line])
        for place, name in path:
            node = next(inner for inner in node.args[place].graph.nodes if inner.name == name)
        text = source.src.splitlines()[line - 1].strip()
        if (
            node.op in ("call_function", "call_method")
            and " = " in text.partition(";")[0]
            and "," not in text
        ):
            assert text.startswith(node.name) or text.endswith("None"), text


def _captured_with(watch):
    sys.settrace(watch)
    try:
        symtrace.capture(decides)
    finally:
        sys.settrace(None)


def test_a_trace_function_sees_the_lines_of_both_ways():
    seen = set()

    def watch(frame, event, argument):
        if frame.f_code.co_filename != __file__:
            return None
        if event == "line" and frame.f_lineno in BODY:
            seen.add((frame.f_code.co_name, frame.f_lineno))
        return watch

    _captured_with(watch)
    assert {line for _, line in seen} == BODY
    assert {name for name, _ in seen} <= {"decides", "<listcomp>"}


def test_a_breakpoint_in_a_branch_is_hit():
    hits = []

    class Debugger(bdb.Bdb):
        def user_line(self, frame):
            if self.break_here(frame):
                hits.append((frame.f_code.co_name, frame.f_lineno, sorted(frame.f_locals)))
            self.set_continue()

    debugger = Debugger()
    line = _line_of("x = x[:, 0]")
    assert debugger.set_break(__file__, line) is None
    try:
        debugger.runcall(symtrace.capture, decides)
    finally:
        debugger.clear_all_breaks()
    assert hits
    assert {hit[:2] for hit in hits} == {("decides", line)}
    assert all("x" in hit[2] for hit in hits)


def test_lines_that_a_capture_runs_are_counted():
    tracer = trace.Trace(count=1, trace=0)
    tracer.runfunc(symtrace.capture, decides)
    counts = tracer.results().counts
    assert {line for (file, line) in counts if file == __file__ and line in BODY} == BODY


def test_coverage_sees_both_ways():
    coverage = pytest.importorskip("coverage")
    measured = coverage.Coverage(data_file=None, include=[__file__])
    measured.start()
    try:
        symtrace.capture(decides)
    finally:
        measured.stop()
    assert set(measured.get_data().lines(__file__)) >= BODY
