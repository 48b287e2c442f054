"""Files and functions stay short enough to be read in one go."""

import ast

import pytest

from .source import ROOT, files, name, tree

LISTS_OF_PROGRAMS = "tests/differential/programs/"
CODE = files() + [path for path in files(ROOT / "tests") if not name(path).startswith(LISTS_OF_PROGRAMS)]
ALL = [pytest.param(path, id=name(path)) for path in CODE]
SOURCE = [pytest.param(path, id=name(path)) for path in files()]


def code_lines(function):
    """Lines of a function without its docstring."""
    body = function.body
    doc = body[0] if ast.get_docstring(function, clean=False) is not None else None
    return function.end_lineno - function.lineno + 1 - (doc.end_lineno - doc.lineno + 1 if doc else 0)


@pytest.mark.parametrize("path", ALL)
def test_no_file_is_over_600_lines(path):
    count = len(path.read_text(encoding="utf-8").splitlines())
    assert count <= 600


@pytest.mark.parametrize("path", SOURCE)
def test_no_function_is_much_over_60_lines(path):
    functions = [n for n in ast.walk(tree(path)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    long = [f"{f.name}, line {f.lineno}: {code_lines(f)}" for f in functions if code_lines(f) > 70]
    assert not long


@pytest.mark.parametrize("path", SOURCE)
def test_every_module_says_what_it_is_for(path):
    assert ast.get_docstring(tree(path))
