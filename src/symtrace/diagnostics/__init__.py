"""Codes, occurrences and their rendering; the families of codes register themselves here."""

from . import (
    capture_codes,
    example_codes,
    graph_codes,
    lint_codes,
    pass_codes,
    rewrite_codes,
    runtime_codes,
    usage_codes,
)
from .model import Diagnostic, Label, Location
from .registry import Definition, define, definition, definitions
from .rich_text import render_rich
from .text import render_text

__all__ = [
    "Definition",
    "Diagnostic",
    "Label",
    "Location",
    "capture_codes",
    "define",
    "definition",
    "definitions",
    "example_codes",
    "graph_codes",
    "lint_codes",
    "pass_codes",
    "render_rich",
    "render_text",
    "rewrite_codes",
    "runtime_codes",
    "usage_codes",
]
