"""FX's spelling of `symtrace.passes.cse`."""

from ...cse import CSEPass, get_CSE_banned_ops

__all__ = ["CSEPass", "get_CSE_banned_ops"]
