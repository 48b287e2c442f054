"""What a failing graph says about the user's program: notes on the exception itself."""

from __future__ import annotations

import linecache
from types import TracebackType
from typing import Any

from ..codegen.regions import Path
from ..codegen.source import PythonCode
from ..ir import Node, Region

__all__ = ["add_note", "note_for_node", "note_generated_line"]


def add_note(error: BaseException, note: str) -> None:
    """Attach a line of text to an exception, so that it is shown with the traceback."""
    if hasattr(error, "add_note"):
        error.add_note(note)
        return
    notes = getattr(
        error, "__notes__", None
    )  # Python 3.10 has no notes of its own; tools still read the attribute
    if notes is None:
        error.__notes__ = notes = []  # type: ignore[attr-defined]
    notes.append(note)


def note_for_node(node: Node) -> str:
    """Return a note that names the node and the user's line behind it."""
    text = f"while running node `{node.name}`: {node.format_node()}"
    frame = node.origin.frames[-1] if node.origin is not None and node.origin.frames else None
    if frame is not None:
        source = linecache.getline(frame.file, frame.line).strip()
        return f"{text}\n  from {frame.file}:{frame.line} in {frame.function}: {source}"
    if node.stack_trace:
        return f"{text}\n  from the program at:\n{node.stack_trace.rstrip()}"
    return text


def note_generated_line(error: BaseException, module: Any, filename: str, code: PythonCode) -> None:
    """Name on `error` the generated line that failed and the node behind it, which may be one of a region."""
    trace: TracebackType | None = error.__traceback__
    line = 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == filename:
            line = trace.tb_lineno
        trace = trace.tb_next
    name = code.line_map.get(line)
    if not name:
        return
    node = _node_in(module.graph._names.get(name), code.inner_map.get(line, ()))
    source = linecache.getline(filename, line).strip()
    note = f"in generated line {line}: {source}"
    add_note(error, note if node is None else f"{note}\n{note_for_node(node)}")


def _node_in(node: Node | None, path: Path) -> Node | None:
    """Return a node of a region of another one; the latter where there is none, since the graph has changed."""
    for place, name in path:
        region = node.args[place] if node is not None and len(node.args) > place else None
        inner = region.graph._names.get(name) if isinstance(region, Region) else None
        if inner is None:
            return node
        node = inner
    return node
