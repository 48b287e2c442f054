"""FX's spelling: `symtrace.interpreter`."""

from .capture import Transformer
from .runtime import Interpreter

__all__ = ["Interpreter", "Transformer"]
