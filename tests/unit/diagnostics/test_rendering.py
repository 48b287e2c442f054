"""A diagnostic as text, with and without colours, and the line and column it points at."""

import sys

import pytest
from rich.console import Console

from symtrace.diagnostics import Diagnostic, Label, Location, render_rich, render_text


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "model.py"
    path.write_text(
        "def forward(x):\n    h = x * 2\n    if h.sum() > 0:  # ñ\n        return 'é' + h\n", encoding="utf-8"
    )
    return path


def branch(source, column=8, end_column=19):
    return Diagnostic.of(
        "ST012",
        construct="`if`",
        location=Location(str(source), 3, column, "forward", end_column),
        labels=(Label("h.sum() > 0 depends on argument `x`", Location("model.py", 1)),),
        hints=("use torch.where",),
    )


def printed(diagnostic, **options):
    console = Console(width=400, **options)
    with console.capture() as capture:
        console.print(render_rich(diagnostic))
    return capture.get().rstrip("\n")


def test_text_has_place_labels_hints_and_a_pointer_to_the_long_form(source):
    assert render_text(branch(source)).splitlines() == [
        "ST012: `if` on a traced value: "
        "symbolically traced variables cannot be used as inputs to control flow",
        f"  --> {source}:3:8   if h.sum() > 0:  # ñ",
        "      h.sum() > 0 depends on argument `x`  (model.py:1)",
        "  help: use torch.where",
        "  note: `symtrace explain ST012` shows worked examples",
    ]


def test_terminal_form_is_the_text_plus_carets_under_the_meant_part(source):
    plain, rich = render_text(branch(source)).splitlines(), printed(branch(source)).splitlines()
    carets = rich.pop(2)
    assert rich == plain
    start = rich[1].index("h.sum() > 0")
    assert carets == " " * start + "^" * len("h.sum() > 0")


def test_terminal_form_has_colours_only_on_a_terminal(source):
    assert "\x1b[" in printed(branch(source), force_terminal=True, color_system="truecolor")
    assert "\x1b[" not in printed(branch(source))


def test_square_brackets_in_the_users_line_are_no_markup(tmp_path):
    path = tmp_path / "m.py"
    path.write_text("if x[bold] > y[/bold]:\n")
    diagnostic = Diagnostic.of("ST012", construct="`if`", location=Location(str(path), 1, 4))
    assert "if x[bold] > y[/bold]:" in printed(diagnostic)


def test_columns_count_bytes_and_carets_count_characters(source):
    line = Location(str(source), 4, 1 + len("        return 'é' + ".encode()), "forward", 0)
    start, end = line.span
    assert line.text[start:end] == "h"


@pytest.mark.parametrize("column", [0, 500])
def test_an_unknown_or_impossible_column_gives_no_carets(source, column):
    assert "^" not in printed(branch(source, column=column, end_column=0))


def test_a_place_without_source_shows_only_file_and_line():
    diagnostic = Diagnostic.of("ST012", construct="`if`", location=Location("<string>", 7), hints=())
    assert "  --> <string>:7\n" in render_text(diagnostic)
    assert "  --> <string>:7\n" in printed(diagnostic)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="columns are recorded from Python 3.11 on")
def test_a_frame_gives_the_part_of_the_line_that_runs(tmp_path):
    path = tmp_path / "frame.py"
    path.write_text("def run(f):\n    value = 1 + f(2)\n")
    names = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    seen = []
    names["run"](lambda n: seen.append(Location.of_frame(sys._getframe(1))) or n)
    (place,) = seen
    start, end = place.span
    assert (place.line, place.function, place.text[start:end]) == (2, "run", "f(2)")


def test_a_missing_field_is_reported_when_the_diagnostic_is_made():
    with pytest.raises(KeyError, match="construct"):
        Diagnostic.of("ST012")


def test_functions_are_named_and_addresses_left_out():
    def local():
        pass

    for value, name in [(len, "len"), (sys.stdout.write, "write"), (branch, "branch")]:
        text = render_text(Diagnostic.of("ST112", what=repr(value), expected="x < y", actual="z > y"))
        assert text.startswith(f"ST112: {name} must be x < y, not z > y")
    assert " at 0x" not in render_text(Diagnostic.of("ST112", what=repr(local), expected=object(), actual=""))
