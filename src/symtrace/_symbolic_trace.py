"""FX's spelling of `symtrace.tracing`."""

from .tracing import PH, PHBase, PHWithMeta, ProxyableClassMeta, Tracer, symbolic_trace, wrap
from .tracing.hooks import is_tracing as is_fx_tracing
from .tracing.wrapping import wrapped_methods as _wrapped_methods_to_patch

__all__ = [
    "PH",
    "PHBase",
    "PHWithMeta",
    "ProxyableClassMeta",
    "Tracer",
    "_wrapped_methods_to_patch",
    "is_fx_tracing",
    "symbolic_trace",
    "wrap",
]
