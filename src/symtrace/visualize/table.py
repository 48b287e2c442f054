"""A graph as a table of text: one row per node, without extra dependencies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..errors import UsageError
from .describe import nodes_of, regions_in

__all__ = ["STYLES", "format_rows", "format_table"]

COLUMNS = ("opcode", "name", "target", "args", "kwargs")
STYLES = ("simple", "plain", "markdown")


def _fold(row: Sequence[str]) -> list[list[str]]:
    """Split the cells of one row into the lines it takes."""
    cells = [cell.splitlines() or [""] for cell in row]
    height = max(len(lines) for lines in cells)
    return [[lines[i] if i < len(lines) else "" for lines in cells] for i in range(height)]


def format_rows(headers: Sequence[str], rows: Sequence[Sequence[str]], style: str = "simple") -> str:
    """Lay out rows of text under headers.

    Args:
        headers: Titles of the columns.
        rows: One sequence of cells per row, as long as `headers`.
        style: `"simple"` (a rule under the titles), `"plain"` (no rule) or `"markdown"`.

    Returns:
        The table, without a trailing newline.

    Raises:
        UsageError: Unknown style (ST407).

    Example:
        >>> print(format_rows(["node", "time"], [["relu", "3 us"]]))
        node    time
        ------  ------
        relu    3 us
    """
    if style not in STYLES:
        raise UsageError("ST407", what="table style", value=style, known=", ".join(STYLES))
    if style == "markdown":
        rows = [[cell.replace("|", "\\|").replace("\n", "<br>") for cell in row] for row in rows]
    lines = [line for row in rows for line in _fold([cell.strip() for cell in row])]
    padding = 0 if style == "plain" else 2
    widths = [len(title) + padding for title in headers]
    for line in lines:
        for index, cell in enumerate(line):
            if len(cell) > widths[index]:
                widths[index] = len(cell)

    def lay(cells: Sequence[str], start: str = "", between: str = "  ", end: str = "") -> str:
        text = between.join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        return (start + text + end).rstrip()

    rule = ["-" * width for width in widths]
    if style == "markdown":
        edges = ("| ", " | ", " |")
        out = [lay(headers, *edges), lay(rule, "|-", "-|-", "-|")]
        out += [lay(line, *edges) for line in lines]
    else:
        out = [lay(headers)]
        out += [lay(rule)] if style == "simple" else []
        out += [lay(line) for line in lines]
    return "\n".join(out)


def _rows(nodes: Iterable[Any], path: str) -> Iterator[list[str]]:
    for node in nodes:
        yield [str(node.op), f"{path}{node.name}", str(node.target), str(node.args), str(node.kwargs)]
        for name, inner in regions_in(node):
            yield from _rows(inner.nodes, f"{path}{node.name}.{name}.")


def format_table(graph: Any, style: str = "simple") -> str:
    """Return the nodes of `graph` as a table with the columns opcode, name, target, args and kwargs.

    Args:
        graph: A Graph or GraphModule.
        style: As for `format_rows`.

    Returns:
        The table, without a trailing newline.

    Raises:
        UsageError: Unknown style (ST407).
    """
    rows = list(_rows(nodes_of(graph), ""))
    return format_rows(COLUMNS, rows, style)
