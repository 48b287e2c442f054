"""Graph, nodes and their invariants. Nothing here imports torch."""

from .._base.frozen import immutable_dict, immutable_list
from .args import map_aggregate, map_arg
from .checkpoint import Checkpoint
from .events import Event
from .graph import Graph, InsertPoint, NodeList
from .liveness import last_uses
from .node import OPS, Node
from .origin import Frame, Origin

__all__ = [
    "OPS",
    "Checkpoint",
    "Event",
    "Frame",
    "Graph",
    "InsertPoint",
    "Node",
    "NodeList",
    "Origin",
    "immutable_dict",
    "immutable_list",
    "last_uses",
    "map_aggregate",
    "map_arg",
]
