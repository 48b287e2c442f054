"""FX's spelling of `symtrace.rewrite.named`."""

from ...rewrite.named import SubgraphMatcherWithNameNodeMap

__all__ = ["SubgraphMatcherWithNameNodeMap"]
