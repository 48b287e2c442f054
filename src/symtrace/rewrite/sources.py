"""Patterns and replacements as users give them: callables, modules, graphs."""

from __future__ import annotations

from typing import Any

from torch import nn

from ..errors import ArgumentError, PatternError
from ..ir import Graph

__all__ = ["check_graph_module", "graph_of"]


def graph_of(what: str, source: Any) -> tuple[Graph, nn.Module | None]:
    """Return the graph of a pattern or a replacement and the module in which its targets resolve.

    Args:
        what: What `source` is, for messages.
        source: A Graph, a GraphModule, an nn.Module or a callable; the last two are traced.

    Raises:
        PatternError: It is something else (ST207).
        TraceError: It can't be traced.
    """
    if isinstance(source, Graph):
        return source, source.owning_module
    if isinstance(source, nn.Module) and isinstance(getattr(source, "graph", None), Graph):
        graph: Any = source.graph
        return graph, source
    if not callable(source):
        raise PatternError("ST207", what=what, actual=type(source).__name__)
    from ..tracing import symbolic_trace

    traced = symbolic_trace(source)
    return traced.graph, traced


def check_graph_module(module: Any, what: str = "gm") -> None:
    """Raise unless `module` is a GraphModule of this package.

    Raises:
        ArgumentError: It is something else (ST112).
    """
    if isinstance(module, nn.Module) and isinstance(getattr(module, "graph", None), Graph):
        return
    foreign = type(module).__module__.startswith("torch.fx") or hasattr(module, "graph")
    raise ArgumentError(
        "ST112",
        what=what,
        expected="a symtrace.GraphModule",
        actual=f"{type(module).__module__}.{type(module).__qualname__}",
        hints=("convert it first: symtrace.interop.from_torch_fx(gm)",) if foreign else ("capture it first",),
    )
