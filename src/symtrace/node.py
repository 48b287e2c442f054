"""FX's spelling: `symtrace.node`."""

from .ir import Node, map_aggregate, map_arg
from .ops import has_side_effect

__all__ = ["Node", "has_side_effect", "map_aggregate", "map_arg"]
