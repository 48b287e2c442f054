"""FX's spelling of `symtrace.interop.make_fx`."""

from ..interop import make_fx

__all__ = ["make_fx"]
