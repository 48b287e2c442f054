"""`symtrace explain CODE`."""

from __future__ import annotations

import click

from ..diagnostics import definitions
from ..errors import explain
from .output import console

__all__ = ["command"]


@click.command("explain")
@click.argument("code", required=False)
def command(code: str | None) -> None:
    """Explain a diagnostic CODE, with worked examples; without CODE, list all codes."""
    out = console()
    if code is None:
        for entry in definitions():
            out.print(f"[bold red]{entry.code}[/]  ", end="")
            out.print(entry.title, markup=False)
        return
    text = explain(code)
    if out.is_terminal:
        from rich.markdown import Markdown

        out.print(Markdown(text, code_theme="ansi_dark"))
    else:
        click.echo(text, nl=False)
