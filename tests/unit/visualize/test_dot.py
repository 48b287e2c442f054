"""Drawings: DOT text that Graphviz can read, and files that are replaced whole or not at all."""

import re
import stat
import sys

import pytest
import torch
import torch.fx

from symtrace.errors import UsageError
from symtrace.visualize import draw, to_dot


def small():
    return torch.fx.symbolic_trace(lambda x, y: torch.relu(x) + y * x)


def test_a_box_per_node_and_an_arrow_per_use():
    graph = small().graph
    text = to_dot(graph)
    boxes = re.findall(r'^  "(\w+)" \[label=', text, re.M)
    arrows = set(re.findall(r'^  "(\w+)" -> "(\w+)";', text, re.M))
    assert boxes == [node.name for node in graph.nodes]
    assert arrows == {(source.name, node.name) for node in graph.nodes for source in node.all_input_nodes}


def test_the_colour_tells_the_op_kind():
    text = to_dot(small())
    colours = dict(re.findall(r'"(\w+)" \[label=.*fillcolor="(#\w+)"', text))
    assert colours["x"] == colours["y"] != colours["relu"] == colours["add"] != colours["output"]


def test_quotes_backslashes_and_newlines_in_arguments_are_escaped():
    graph = torch.fx.Graph()
    graph.call_function(print, ('say "hi"\\', "two\nlines"))
    (line,) = [line for line in to_dot(graph).splitlines() if "label=" in line]
    label = re.search(r'label="((?:[^"\\]|\\.)*)", fillcolor="#', line)
    assert label is not None, "the label ends where it should"
    assert r"\\n" in label.group(1), "the escape in the repr is shown, not obeyed"
    assert r"\"hi\"" in label.group(1)


def test_long_calls_are_cut():
    graph = torch.fx.Graph()
    graph.call_function(print, ("x" * 5000,))
    assert max(map(len, to_dot(graph).splitlines())) < 300


def test_shapes_are_part_of_the_label():
    gm = small()
    next(iter(gm.graph.nodes)).meta["val"] = torch.ones(2, 3)
    assert r"\nf32[2, 3]" in to_dot(gm)


def test_dot_files_need_no_tool(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert draw(small(), tmp_path / "g.dot").read_text() == to_dot(small())


def test_a_missing_program_is_named_and_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="the program `dot` is not installed") as caught:
        draw(small(), tmp_path / "g.svg")
    assert caught.value.code == "ST406"
    assert not list(tmp_path.iterdir())


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "graphviz", None)
    with pytest.raises(UsageError, match="package `graphviz` is not installed"):
        draw(small(), tmp_path / "g.svg")


@pytest.fixture
def fake_dot(tmp_path, monkeypatch):
    """Put a program named `dot` on the path that copies its input, or fails when the input asks for it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "dot"
    program.write_text(
        f"#!{sys.executable}\n"
        "import sys\n"
        "text = sys.stdin.read()\n"
        "if 'boom' in text:\n"
        "    sys.exit('syntax error near boom')\n"
        "print('drawn', *sys.argv[1:], len(text))\n"
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(folder))


def test_the_suffix_picks_the_format(tmp_path, fake_dot):
    assert "-Tsvg" in draw(small(), tmp_path / "g.svg").read_text()
    assert "-Tpdf" in draw(small(), tmp_path / "g.PDF").read_text()


def test_an_unknown_suffix_is_refused(tmp_path, fake_dot):
    with pytest.raises(UsageError) as caught:
        draw(small(), tmp_path / "g.docx")
    assert caught.value.code == "ST407"


def test_a_failed_layout_leaves_the_old_file(tmp_path, fake_dot):
    path = tmp_path / "g.svg"
    path.write_text("old")
    with pytest.raises(UsageError, match="syntax error near boom"):
        draw(torch.fx.symbolic_trace(lambda boom: boom + 1), path)
    assert path.read_text() == "old"
    assert {p.name for p in tmp_path.iterdir()} == {"g.svg", "bin"}


def test_a_missing_folder_is_an_error_of_its_own(tmp_path):
    with pytest.raises(UsageError, match="No such file or directory") as caught:
        draw(small(), tmp_path / "none" / "g.dot")
    assert caught.value.code == "ST405"
