"""FX's spelling: `symtrace.traceback`."""

from .runtime.node_meta import (
    current_stack_trace as format_stack,
)
from .runtime.node_meta import (
    get_current_meta,
    has_preserved_node_meta,
    preserve_node_meta,
    set_current_meta,
    set_stack_trace,
)

__all__ = [
    "format_stack",
    "get_current_meta",
    "has_preserved_node_meta",
    "preserve_node_meta",
    "set_current_meta",
    "set_stack_trace",
]
