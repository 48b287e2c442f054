"""The table of codes: unique, ordered, found by what a person types."""

import string
import subprocess
import sys

import pytest

from symtrace.diagnostics import define, definition, definitions
from symtrace.diagnostics.pages import find_code, index_page, nearest_codes, page, write_pages
from symtrace.errors import ArgumentError, UsageError, explain


def test_a_code_is_defined_once():
    with pytest.raises(ValueError, match="ST012 is defined twice"):
        define("ST012", "again", "again")


def test_definitions_come_in_order_of_code():
    codes = [entry.code for entry in definitions()]
    assert codes == sorted(set(codes))


@pytest.mark.parametrize("entry", definitions(), ids=lambda entry: entry.code)
def test_help_uses_only_fields_that_the_message_or_the_raiser_names(entry):
    fields = {name for _, name, _, _ in string.Formatter().parse(entry.message) if name is not None}
    extra = {
        name for text in entry.help for _, name, _, _ in string.Formatter().parse(text) if name is not None
    }
    assert all(name.isidentifier() for name in fields | extra)
    assert "code" not in fields | extra, "`code` is the constructor's own parameter"


@pytest.mark.parametrize("typed", ["ST012", "st012", " St012 ", "012", "12"])
def test_a_code_is_found_however_it_is_typed(typed):
    assert find_code(typed) == "ST012"


@pytest.mark.parametrize("typed", ["", "ST", "ST9999", "twelve", "-12", "ST²", "0.12"])
def test_what_is_no_code_is_not_found(typed):
    assert find_code(typed) is None


def test_nearest_codes_go_by_number_then_by_title():
    assert nearest_codes("ST100", limit=2) == ("ST101", "ST102")
    assert "ST103" in nearest_codes("node in use")
    assert nearest_codes("\N{SNOWMAN}")


def test_page_has_the_text_both_programs_and_the_remedies():
    entry, text = definition("ST103"), page("ST103")
    assert text.startswith("# ST103: node still in use\n")
    for part in (entry.explain, entry.example, entry.remedy, *entry.help):
        assert part.strip() in text
    assert "{" not in text.split("\n")[2], "the message is shown without its template fields"


def test_page_of_a_command_line_code_shows_a_console():
    assert "```console\n$ symtrace" in page("ST401")


def test_explain_gives_the_page_and_names_the_nearest_codes_of_an_unknown_one():
    assert explain("103") == page("ST103")
    with pytest.raises(UsageError, match="ST2|ST11") as caught:
        explain("ST190")
    assert caught.value.code == "ST402"


def test_written_pages_replace_stale_ones(tmp_path):
    (tmp_path / "ST999.md").write_text("old")
    (tmp_path / "notes.md").write_text("kept")
    written = write_pages(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in written} | {"notes.md"}
    assert (tmp_path / "index.md").read_text() == index_page()


def test_an_error_survives_pickling_with_all_it_says():
    import pickle

    error = ArgumentError("ST112", what="args", expected="a tuple", actual="a list", hints=("use a tuple",))
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.hints) == (ArgumentError, str(error), ("use a tuple",))


def test_codes_and_errors_need_neither_torch_nor_rich():
    script = "import sys, symtrace.errors; print(sorted({'torch', 'rich', 'click'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
