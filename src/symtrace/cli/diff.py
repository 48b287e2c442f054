"""`symtrace diff FIRST SECOND`."""

from __future__ import annotations

from typing import Any

import click

from .capturing import capture_target
from .options import TargetOptions, target_options
from .output import console

__all__ = ["command", "print_marked"]

_STYLES = {"-": "red", "+": "green", "m": "yellow", "~": "yellow", "@": "dim", "=": "bold"}


@click.command("diff")
@click.argument("first")
@click.argument("second", required=False)
@target_options
@click.option(
    "--run", "text", help="Compare FIRST with what these passes make of it, instead of with SECOND."
)
def command(first: str, second: str | None, options: TargetOptions, text: str | None) -> None:
    """Print where the graphs of two programs differ, node by node, and the modules that they use."""
    import copy

    from ..visualize import diff

    if (second is None) == (text is None):
        raise click.UsageError("give either a SECOND program or --run")
    left, _ = capture_target(first, options)
    if second is not None:
        right, _ = capture_target(second, options)
    else:
        from ..passes import Pipeline

        left.eval()
        right = copy.deepcopy(left)
        Pipeline(text or "")(right)
    print_marked(console(), str(diff(left, right)))


def print_marked(out: Any, text: str) -> None:
    """Print lines in the colour of their marks."""
    from rich.text import Text

    for line in text.splitlines():
        out.print(Text(line, style=_STYLES.get(line[:1], "") if line[1:2] in (" ", "=") else ""))
