"""Rewriting by patterns: matching, checking, replacing."""

from .matcher import InternalMatch, SubgraphMatcher
from .replace import Match, ReplacedPatterns, replace_pattern, replace_pattern_with_filters
from .why_not import why_not

__all__ = [
    "InternalMatch",
    "Match",
    "ReplacedPatterns",
    "SubgraphMatcher",
    "replace_pattern",
    "replace_pattern_with_filters",
    "why_not",
]
