"""`symtrace show TARGET`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .capturing import capture_target
from .options import TargetOptions, target_options
from .output import console, print_whole

if TYPE_CHECKING:
    from ..runtime import GraphModule

__all__ = ["command"]


@click.command("show")
@click.argument("target")
@target_options
@click.option(
    "--format",
    "form",
    type=click.Choice(["tree", "table", "code"]),
    default="tree",
    show_default=True,
    help="By module, one row per node, or as Python.",
)
def command(target: str, options: TargetOptions, form: str) -> None:
    """Print the graph of TARGET; with inputs, shapes and dtypes too."""
    gm, _ = capture_target(target, options)
    if form == "tree":
        from ..visualize import graph_tree

        print_whole(graph_tree(gm, title=target))
    elif form == "table":
        _print_table(gm)
    else:
        _print_code(gm)


def _print_table(gm: GraphModule) -> None:
    from rich.text import Text

    from ..visualize import format_table
    from ..visualize.tree import OP_STYLES

    out = console()
    for line in format_table(gm).splitlines():
        out.print(Text(line, style=OP_STYLES.get(line.split(" ", 1)[0], "")))


def _print_code(gm: GraphModule) -> None:
    out = console()
    if out.is_terminal:
        from rich.syntax import Syntax

        out.print(Syntax(gm.code.strip("\n"), "python", theme="ansi_dark", word_wrap=False))
    else:
        click.echo(gm.code.strip("\n"))
