"""FX's spelling: `symtrace.node`."""

from ._base.qualified import qualified_name as _get_qualified_name
from ._base.qualified import type_text as _type_repr
from .ir import Node, map_aggregate, map_arg
from .ir.args import Argument, ArgumentT, Target
from .ir.text import format_arg as _format_arg
from .ops import has_side_effect

__all__ = [
    "Argument",
    "ArgumentT",
    "Node",
    "Target",
    "_format_arg",
    "_get_qualified_name",
    "_type_repr",
    "has_side_effect",
    "map_aggregate",
    "map_arg",
]
