"""Every code: its long form is complete, its example provokes it, its remedy runs."""

import string

import pytest

from symtrace.diagnostics import definitions
from symtrace.diagnostics.pages import page
from symtrace.errors import SymtraceError

from .programs import GOLDEN, rendered, run_console, run_python

CODES = {entry.code: entry for entry in definitions()}
WITH_EXAMPLE = [code for code, entry in CODES.items() if entry.example]
WITH_REMEDY = [code for code, entry in CODES.items() if entry.remedy]


@pytest.mark.parametrize("code", CODES)
def test_the_long_form_is_complete(code):
    entry = CODES[code]
    assert entry.title
    assert entry.explain.strip(), "every code says why it happens and how to get rid of it"
    assert bool(entry.example) <= bool(entry.remedy), "an example without a remedy leaves the reader alone"
    assert len(entry.message.splitlines()[0]) <= 180
    fields = [name for _, name, _, _ in string.Formatter().parse(entry.message) if name is not None]
    assert all(name and name.isidentifier() for name in fields)


@pytest.mark.parametrize("code", WITH_EXAMPLE)
def test_the_example_provokes_its_code(code, tmp_path):
    source = CODES[code].example
    if source.startswith("$ "):
        done = run_console(source, tmp_path)
        assert done.returncode == 2
        assert f" {code}: " in done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert not any(tmp_path.iterdir())
        return
    with pytest.raises(SymtraceError) as caught:
        run_python(source, "example.py")
    assert caught.value.code == code
    stored = GOLDEN / f"{code}.txt"
    assert rendered(caught.value) == stored.read_text(encoding="utf-8"), "renew: python -m tests.errors.renew"


@pytest.mark.parametrize("code", WITH_REMEDY)
def test_the_remedy_runs(code, tmp_path, capsys):
    source = CODES[code].remedy
    if source.startswith("$ "):
        done = run_console(source, tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        return
    run_python(source, "remedy.py")


@pytest.mark.parametrize("code", CODES)
def test_the_docs_page_is_the_definition(code, request):
    stored = request.config.rootpath / "docs" / "errors" / f"{code}.md"
    assert stored.read_text(encoding="utf-8") == page(code), (
        "regenerate with `python -m symtrace.diagnostics.pages docs/errors`"
    )
