"""FX's spelling of `symtrace.passes.const_fold`."""

from ..passes.const_fold import FoldedGraphModule, get_unique_attr_name_in_module, split_const_subgraphs

__all__ = ["FoldedGraphModule", "get_unique_attr_name_in_module", "split_const_subgraphs"]
