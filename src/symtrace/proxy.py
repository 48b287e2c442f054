"""FX's spelling: `symtrace.proxy`."""

from .tracing import Attribute, GraphAppendingTracer, ParameterProxy, Proxy, Scope, TracerBase
from .errors import TraceError

__all__ = ["Attribute", "GraphAppendingTracer", "ParameterProxy", "Proxy", "Scope", "TraceError", "TracerBase"]
