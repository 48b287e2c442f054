"""From a program to a graph."""

from .entry import capture, symbolic_trace
from .inputs import PH, PHBase, PHWithMeta
from .proxy import Attribute, ParameterProxy, Proxy
from .proxyable import ProxyableClassMeta
from .recording import GraphAppendingTracer, Scope, TracerBase
from .report import Decision, Report
from .tracer import Tracer
from .transformer import Transformer
from .wrapping import wrap

__all__ = [
    "PH",
    "Attribute",
    "Decision",
    "GraphAppendingTracer",
    "PHBase",
    "PHWithMeta",
    "ParameterProxy",
    "Proxy",
    "ProxyableClassMeta",
    "Report",
    "Scope",
    "Tracer",
    "TracerBase",
    "Transformer",
    "capture",
    "symbolic_trace",
    "wrap",
]
