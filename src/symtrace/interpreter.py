"""FX's spelling: `symtrace.interpreter`."""

from .runtime import Interpreter
from .tracing import Transformer

__all__ = ["Interpreter", "Transformer"]
