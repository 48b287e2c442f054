"""symtrace: a PyTorch program as a graph that you can read, check, edit and run again as Python.

`import symtrace as fx` takes the place of `torch.fx`. Names are loaded when they are first used, so that
`import symtrace.ir` does not load torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import (
        annotate,
        experimental,
        graph,
        graph_module,
        immutable_collections,
        interop,
        interpreter,
        node,
        passes,
        proxy,
        subgraph_rewriter,
        testing,
        traceback,
    )
    from .codegen import CodeGen
    from .errors import GraphEditError, GuardError, LintError, SymtraceError, TraceError, explain
    from .ir import Node, map_arg
    from .ops import has_side_effect
    from .passes import optimize
    from .rewrite import replace_pattern
    from .runtime import Graph, GraphModule, Interpreter
    from .tracing import (
        PH,
        Attribute,
        ParameterProxy,
        Proxy,
        ProxyableClassMeta,
        Tracer,
        Transformer,
        capture,
        symbolic_trace,
        wrap,
    )
    from .visualize import diff

_HOME = {
    "PH": "tracing",
    "Attribute": "tracing",
    "CodeGen": "codegen",
    "Graph": "runtime",
    "GraphEditError": "errors",
    "GraphModule": "runtime",
    "GuardError": "errors",
    "Interpreter": "runtime",
    "LintError": "errors",
    "Node": "ir",
    "ParameterProxy": "tracing",
    "Proxy": "tracing",
    "ProxyableClassMeta": "tracing",
    "SymtraceError": "errors",
    "TraceError": "errors",
    "Tracer": "tracing",
    "Transformer": "tracing",
    "capture": "tracing",
    "diff": "visualize",
    "explain": "errors",
    "has_side_effect": "ops",
    "map_arg": "ir",
    "optimize": "passes",
    "replace_pattern": "rewrite",
    "symbolic_trace": "tracing",
    "wrap": "tracing",
}
_MODULES = frozenset({
    "annotate", "experimental", "graph", "graph_module", "immutable_collections", "interop", "interpreter", "node",
    "passes", "proxy", "subgraph_rewriter", "testing", "traceback",
})  # fmt: skip

__all__ = [
    "PH",
    "Attribute",
    "CodeGen",
    "Graph",
    "GraphEditError",
    "GraphModule",
    "GuardError",
    "Interpreter",
    "LintError",
    "Node",
    "ParameterProxy",
    "Proxy",
    "ProxyableClassMeta",
    "SymtraceError",
    "TraceError",
    "Tracer",
    "Transformer",
    "annotate",
    "capture",
    "diff",
    "experimental",
    "explain",
    "graph",
    "graph_module",
    "has_side_effect",
    "immutable_collections",
    "interop",
    "interpreter",
    "map_arg",
    "node",
    "optimize",
    "passes",
    "proxy",
    "replace_pattern",
    "subgraph_rewriter",
    "symbolic_trace",
    "testing",
    "traceback",
    "wrap",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        if _HOME[name] == "tracing":  # a capture honours what other packages have told torch.fx
            importlib.import_module(".interop.torch_fx_registry", __name__)
        value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    elif name in _MODULES:
        value = importlib.import_module(f".{name}", __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
