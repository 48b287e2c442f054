"""FX's spelling of `symtrace.passes.manager`."""

from ..manager import PassManager, pass_result_wrapper, this_before_that_pass_constraint

__all__ = ["PassManager", "pass_result_wrapper", "this_before_that_pass_constraint"]
