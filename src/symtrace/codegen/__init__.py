"""From a graph to Python source that means the same."""

from .codegen import CodeGen, PyTreeCodeGen, PyTreeInfo
from .source import PythonCode, generate

__all__ = ["CodeGen", "PyTreeCodeGen", "PyTreeInfo", "PythonCode", "generate"]
