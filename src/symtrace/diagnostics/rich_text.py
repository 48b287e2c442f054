"""Rendering of a diagnostic for a terminal: colours, and the meant part of the line underlined."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .model import Diagnostic, Location

if TYPE_CHECKING:
    from rich.text import Text

__all__ = ["render_rich"]


def _shown(location: Location) -> str:
    """Return file, line and column, the file as seen from the current folder if it is below it."""
    below = os.path.join(os.getcwd(), "")
    return str(location).removeprefix(below) if location.file.startswith(below) else str(location)


def _append_place(out: Text, location: Location) -> None:
    place = _shown(location)
    prefix = f"  --> {place}   "
    out.append("  --> ", style="bold blue")
    out.append(place, style="cyan")
    text = location.text
    if not text:
        out.append("\n")
        return
    out.append("   ")
    out.append(text, style="default")
    out.append("\n")
    span = location.span
    if span is not None:
        from rich.cells import cell_len

        start, end = span
        out.append(" " * (cell_len(prefix) + cell_len(text[:start])))
        out.append("^" * max(1, cell_len(text[start:end])), style="bold red")
        out.append("\n")


def render_rich(diagnostic: Diagnostic, *, name: str = "") -> Text:
    """Render `diagnostic` with colours, one fault in a few lines, without a trailing newline.

    Args:
        diagnostic: The occurrence to show.
        name: Name of the exception class, put before the code.

    Returns:
        A `rich.text.Text`; printed without colours it reads as `render_text` does, save that the
        part of the line that is meant is underlined with carets, and files below the current folder are
        shown from there.
    """
    from rich.text import Text

    out = Text(no_wrap=True, overflow="ignore")
    if name:
        out.append(f"{name}: ", style="bold red")
    out.append(diagnostic.code, style="bold red")
    out.append(f": {diagnostic.message}\n", style="bold")
    if diagnostic.location is not None:
        _append_place(out, diagnostic.location)
    for label in diagnostic.labels:
        out.append(f"      {label.message}")
        if label.location is not None:
            out.append(f"  ({_shown(label.location)})", style="cyan")
        out.append("\n")
    for hint in diagnostic.hints:
        out.append("  help: ", style="bold green")
        out.append(f"{hint}\n")
    out.append("  note: ", style="bold yellow")
    out.append(f"`symtrace explain {diagnostic.code}` shows worked examples")
    return out
