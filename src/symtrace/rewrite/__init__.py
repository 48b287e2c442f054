"""Rewriting by patterns: matching, checking, replacing."""

from .matcher import InternalMatch, SubgraphMatcher
from .replace import Match, ReplacedPatterns, replace_pattern, replace_pattern_with_filters
from .rules import Rule, RuleSet, RuleStatistics, constant
from .why_not import why_not
from .wildcard import any_call

__all__ = [
    "InternalMatch",
    "Match",
    "ReplacedPatterns",
    "Rule",
    "RuleSet",
    "RuleStatistics",
    "SubgraphMatcher",
    "any_call",
    "constant",
    "replace_pattern",
    "replace_pattern_with_filters",
    "why_not",
]
