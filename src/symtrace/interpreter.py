"""FX's spelling: `symtrace.interpreter`."""

from .tracing import Transformer
from .runtime import Interpreter

__all__ = ["Interpreter", "Transformer"]
