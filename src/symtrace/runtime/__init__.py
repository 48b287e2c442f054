"""Running graphs: `GraphModule`, `Interpreter`, and `Graph` with torch's meaning."""

from .graph import Graph
from .graph_module import GraphModule
from .interpreter import Interpreter

__all__ = ["Graph", "GraphModule", "Interpreter"]
