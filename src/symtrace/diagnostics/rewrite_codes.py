"""ST2xx: operator schemas, patterns, passes and partitions."""

from __future__ import annotations

from .registry import define

define("ST201", "ambiguous overload",
       "Tried to normalize arguments to {target} but the schema match was ambiguous! Please provide argument types"
       " to the normalize_arguments() call. Available schemas:\n{schemas}",
       help=("give arg_types and kwarg_types",))
define("ST202", "empty pattern", "the pattern computes nothing: {reason}",
       help=("let the pattern call at least one function, method or module and return its result",))
define("ST203", "dead code in a pattern", "`{node}` in the pattern is used by nothing and has no effect",
       help=("remove it, or return it",))
define("ST204", "replacement takes other inputs", "the pattern has {pattern} input(s), the replacement {replacement}",
       help=("give both the same parameters, also those that one of them does not use",))
define("ST205", "replacement returns another number of values",
       "the pattern returns {pattern} value(s), the replacement {replacement}",
       help=("return one value of the replacement for each value of the pattern",))
define("ST206", "input unknown", "the replacement uses its input `{name}`, but the pattern uses nothing in its place",
       help=("use the input in the pattern too, or not in the replacement",))
define("ST207", "not a pattern", "{what} must be a Graph, a GraphModule, an nn.Module or a callable, not {actual}")
define("ST208", "target missing in both modules",
       "the replacement uses `{target}`, which neither it nor the module that is rewritten has",
       help=("give the replacement as an nn.Module that has it",))
define("ST209", "no replacement", "replace_pattern_with_filters needs a replacement or a replacement_callback",
       help=("pass one of them",))
define("ST210", "pattern returns an input", "the pattern returns its input `{name}`, which the replacement replaces by"
       " something else",
       help=("leave the input out of what the pattern and the replacement return",))
