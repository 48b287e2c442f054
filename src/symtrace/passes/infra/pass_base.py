"""FX's spelling of `symtrace.passes.base`."""

from ..base import PassBase, PassResult

__all__ = ["PassBase", "PassResult"]
