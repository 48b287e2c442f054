"""`symtrace draw TARGET -o FILE`."""

from __future__ import annotations

import click

from .capturing import capture_target
from .options import TargetOptions, target_options
from .output import console, progress

__all__ = ["command"]


@click.command("draw")
@click.argument("target")
@click.option(
    "-o", "--output", required=True, metavar="FILE", help="The suffix picks the format: .svg, .dot, …"
)
@target_options
def command(target: str, output: str, options: TargetOptions) -> None:
    """Draw the graph of TARGET into FILE; with inputs, shapes and dtypes too."""
    from ..visualize import draw

    gm, _ = capture_target(target, options)
    with progress(f"drawing {output}"):
        path = draw(gm, output)
    console().print(f"wrote {path}: {len(gm.graph.nodes)} nodes", markup=False)
