"""FX's spelling: `symtrace.proxy`."""

from .errors import TraceError
from .tracing import Attribute, GraphAppendingTracer, ParameterProxy, Proxy, Scope, TracerBase

__all__ = [
    "Attribute",
    "GraphAppendingTracer",
    "ParameterProxy",
    "Proxy",
    "Scope",
    "TraceError",
    "TracerBase",
]
