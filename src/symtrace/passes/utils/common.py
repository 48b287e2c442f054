"""FX's spelling of `symtrace.passes.lifting`."""

from ..lifting import HolderModule, compare_graphs, lift_subgraph_as_module

__all__ = ["HolderModule", "compare_graphs", "lift_subgraph_as_module"]
