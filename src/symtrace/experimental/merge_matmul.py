"""FX's spelling of `symtrace.passes.merge_matmul`, which traces its argument first."""

from torch import nn

from ..passes.merge_matmul import are_nodes_independent, may_depend_on, split_result_tensors
from ..passes.merge_matmul import merge_matmul as _merge_matmul
from ..runtime import GraphModule
from ..tracing import symbolic_trace

__all__ = ["are_nodes_independent", "may_depend_on", "merge_matmul", "split_result_tensors"]


def merge_matmul(in_mod: nn.Module) -> GraphModule:
    """Return a module in which matrix products with one right operand are merged into one.

    Args:
        in_mod: A module; one that is no GraphModule is traced. It is left as it is.
    """
    return _merge_matmul(in_mod if isinstance(in_mod, GraphModule) else symbolic_trace(in_mod))
