"""FX's spelling of `symtrace.rewrite.matcher`."""

from ...rewrite.matcher import InternalMatch, SubgraphMatcher

__all__ = ["InternalMatch", "SubgraphMatcher"]
