"""ST2xx: operator schemas, patterns, passes and partitions."""

from __future__ import annotations

from .registry import define

define("ST201", "ambiguous overload",
       "Tried to normalize arguments to {target} but the schema match was ambiguous! Please provide argument types"
       " to the normalize_arguments() call. Available schemas:\n{schemas}",
       help=("give arg_types and kwarg_types",))
