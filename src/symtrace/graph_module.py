"""FX's spelling: `symtrace.graph_module`."""

from .runtime import GraphModule

__all__ = ["GraphModule"]
