"""FX's spelling of `symtrace.rewrite`."""

from .rewrite import Match, ReplacedPatterns, replace_pattern, replace_pattern_with_filters

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]
