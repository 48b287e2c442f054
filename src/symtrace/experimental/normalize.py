"""FX's spelling of `symtrace.passes.normalize`."""

from ..passes.normalize import NormalizeArgs, NormalizeOperators

__all__ = ["NormalizeArgs", "NormalizeOperators"]
