"""Plain-text rendering of a diagnostic."""

from __future__ import annotations

from .model import Diagnostic, Location

__all__ = ["render_text"]


def _place(location: Location) -> str:
    text = location.text
    return f"{location}   {text}" if text else str(location)


def render_text(diagnostic: Diagnostic) -> str:
    """Render `diagnostic` as lines of text, without a trailing newline."""
    lines = [f"{diagnostic.code}: {diagnostic.message}"]
    if diagnostic.location is not None:
        lines.append(f"  --> {_place(diagnostic.location)}")
    for label in diagnostic.labels:
        where = f"  ({label.location})" if label.location is not None else ""
        lines.append(f"      {label.message}{where}")
    lines.extend(f"  help: {hint}" for hint in diagnostic.hints)
    lines.append(f"  note: `symtrace explain {diagnostic.code}` shows worked examples")
    return "\n".join(lines)
