"""Consoles of the command line: results to stdout, progress to stderr."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["console", "print_whole", "progress"]


def console() -> Console:
    """Return the console for results; colours only on a terminal."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True)


def print_whole(renderable: Any) -> None:
    """Print `renderable`; on a terminal cut to its width, into a file or pipe with whole lines."""
    from rich.console import Console
    from rich.measure import Measurement

    out = Console(highlight=False)
    if not out.is_terminal:
        wide = out.options.update(width=1_000_000)
        out = Console(highlight=False, width=max(80, Measurement.get(out, wide, renderable).maximum))
        lines = out.render_lines(renderable, pad=False)
        for line in lines:
            out.file.write("".join(segment.text for segment in line).rstrip() + "\n")
        return
    out.print(renderable)


@contextmanager
def progress(text: str) -> Iterator[None]:
    """Show what is being done while it is, if stderr is a terminal."""
    from rich.console import Console

    out = Console(stderr=True)
    if not out.is_terminal:
        yield
        return
    with out.status(text):
        yield
