"""The table of a graph: the five columns, laid out as users of FX's `print_tabular` know them."""

import pytest
import torch
import torch.fx

from symtrace.errors import UsageError
from symtrace.visualize import format_rows, format_table


def test_columns_and_layout():
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    total = graph.call_method("sum", (x,), {"dim": 0})
    graph.output((total, x))
    assert format_table(graph).splitlines() == [
        "opcode       name    target    args           kwargs",
        "-----------  ------  --------  -------------  ----------",
        "placeholder  x       x         ()             {}",
        "call_method  sum_1   sum       (x,)           {'dim': 0}",
        "output       output  output    ((sum_1, x),)  {}",
    ]


def test_a_graph_module_is_shown_as_its_graph():
    gm = torch.fx.symbolic_trace(torch.nn.ReLU())
    assert format_table(gm) == format_table(gm.graph)


def test_an_empty_graph_has_the_titles_only():
    assert format_table(torch.fx.Graph()).splitlines() == [
        "opcode    name    target    args    kwargs",
        "--------  ------  --------  ------  --------",
    ]


def test_cells_of_several_lines_stay_in_their_column():
    assert format_rows(["a", "b"], [["one\ntwo", "1"], ["x", "y"]]).splitlines() == [
        "a    b",
        "---  ---",
        "one  1",
        "two",
        "x    y",
    ]


def test_plain_has_no_rule():
    assert format_rows(["a", "b"], [["one", "1"]], style="plain").splitlines() == ["a    b", "one  1"]


def test_markdown_escapes_what_would_end_a_cell():
    assert format_rows(["a"], [["x | y\nz"]], style="markdown").splitlines() == [
        "| a           |",
        "|-------------|",
        "| x \\| y<br>z |",
    ]


def test_an_unknown_style_is_named_with_the_known_ones():
    with pytest.raises(
        UsageError, match=r"`html` is not a known table style; use one of simple, plain"
    ) as caught:
        format_table(torch.fx.Graph(), style="html")
    assert caught.value.code == "ST407"
