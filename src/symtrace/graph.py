"""FX's spelling: `symtrace.graph`."""

from .codegen import CodeGen, PythonCode
from .codegen import PyTreeCodeGen as _PyTreeCodeGen
from .codegen import PyTreeInfo as _PyTreeInfo
from .ir import InsertPoint as _InsertPoint
from .ir import NodeList as _node_list
from .runtime import Graph

__all__ = ["CodeGen", "Graph", "PythonCode", "_InsertPoint", "_PyTreeCodeGen", "_PyTreeInfo", "_node_list"]
