"""FX's spelling of `symtrace.passes.manager`."""

from ..manager import PassManager, inplace_wrapper, pass_result_wrapper, this_before_that_pass_constraint
from ..manager import sort_passes as _topological_sort_passes

__all__ = [
    "PassManager",
    "_topological_sort_passes",
    "inplace_wrapper",
    "pass_result_wrapper",
    "this_before_that_pass_constraint",
]
