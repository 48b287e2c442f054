"""A graph in the DOT language, and as a drawing laid out by Graphviz."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .._base.files import replace_file
from ..errors import UsageError
from ..ir import Node, region_uses
from .describe import call_text, nodes_of, regions_in, value_text

__all__ = ["OP_COLOURS", "draw", "to_dot"]

OP_COLOURS = {
    "placeholder": "#d5e8d4",
    "get_attr": "#e1d5e7",
    "call_module": "#dae8fc",
    "call_function": "#fff2cc",
    "call_method": "#ffe6cc",
    "output": "#f8cecc",
}
_LONGEST_LINE = 60


def _quoted(text: str) -> str:
    """Return `text` as a DOT string; in DOT only the quote needs escaping, in labels the backslash too."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\r", "").replace("\n", "\\n")
    return f'"{escaped}"'


def _label(node: Any) -> str:
    call = call_text(node)
    if len(call) > _LONGEST_LINE:
        call = call[: _LONGEST_LINE - 1] + "…"
    lines = [node.name, call]
    shape = value_text(node)
    if shape:
        lines.append(shape)
    return "\n".join(lines)


def to_dot(graph: Any, name: str = "graph") -> str:
    """Return `graph` in the DOT language: a box per node, coloured by op kind, an arrow per use.

    Args:
        graph: A Graph or GraphModule.
        name: Name of the drawing.

    Returns:
        Text that `dot` and other Graphviz tools read, ending with a newline.
    """
    lines = [
        f"digraph {_quoted(name)} {{",
        "  rankdir=TB;",
        '  node [shape=box, style="rounded,filled", fontname="Helvetica", fontsize=10];',
        "  edge [color=gray40];",
    ]
    edges: list[str] = []
    _write(nodes_of(graph), "", "  ", lines, edges)
    return "\n".join([*lines, *edges, "}"]) + "\n"


def _write(nodes: Any, path: str, indent: str, lines: list[str], edges: list[str]) -> None:
    """Write nodes, with a box around those of each region, and an arrow from what a region is given to where it is."""
    for node in nodes:
        colour = OP_COLOURS.get(node.op, "#ffffff")
        identity = _quoted(path + node.name)
        lines.append(f'{indent}{identity} [label={_quoted(_label(node))}, fillcolor="{colour}"];')
        edges += [f"  {_quoted(path + source.name)} -> {identity};" for source in node.all_input_nodes]
        inputs = {id(use.region.graph): use.inputs for use in region_uses(node)}
        for name, inner in regions_in(node):
            inside = f"{path}{node.name}.{name}."
            lines.append(f"{indent}subgraph {_quoted('cluster_' + inside)} {{")
            lines.append(f"{indent}  label={_quoted(f'{node.name}: {name}')};")
            _write(inner.nodes, inside, f"{indent}  ", lines, edges)
            lines.append(f"{indent}}}")
            taken = [part for part in inner.nodes if part.op == "placeholder"]
            for part, value in zip(taken, inputs.get(id(inner), ()), strict=False):
                if isinstance(value, Node):
                    source, target = _quoted(path + value.name), _quoted(inside + part.name)
                    edges.append(f"  {source} -> {target} [style=dashed];")


def _layout(source: str, path: Path) -> bytes:
    kind = path.suffix[1:].lower()
    try:
        import graphviz
    except ImportError:
        raise UsageError(
            "ST406", path=path, reason="the Python package `graphviz` is not installed"
        ) from None
    if kind not in graphviz.FORMATS:
        known = "dot, gv, svg, png, pdf and other formats of Graphviz"
        raise UsageError("ST407", what="drawing format", value=path.suffix or str(path), known=known)
    try:
        result: bytes = graphviz.Source(source).pipe(format=kind)
    except graphviz.ExecutableNotFound:
        raise UsageError("ST406", path=path, reason="the program `dot` is not installed") from None
    except graphviz.CalledProcessError as error:
        detail = (error.stderr or b"").decode(errors="replace").strip().splitlines()
        raise UsageError(
            "ST406", path=path, reason="`dot` failed: " + (detail[0] if detail else "")
        ) from None
    return result


def draw(graph: Any, path: str | os.PathLike[str]) -> Path:
    """Draw `graph` into a file; the suffix picks the format.

    Args:
        graph: A Graph or GraphModule.
        path: `.dot` and `.gv` hold the text of `to_dot`; `.svg`, `.png`, `.pdf` and the other formats of
            Graphviz need the Python package `graphviz` and the program `dot`.

    Returns:
        The path that was written. It is replaced in one step: a failure leaves an older file as it was.

    Raises:
        UsageError: A tool is missing or failed (ST406), the format is unknown (ST407), or the file can't
            be written (ST405).
    """
    where = Path(path)
    source = to_dot(graph)
    data = source.encode() if where.suffix.lower() in (".dot", ".gv") else _layout(source, where)
    try:
        replace_file(where, data)
    except OSError as error:
        raise UsageError("ST405", path=where, reason=error.strerror or str(error)) from None
    return where
