"""Graph, nodes and their invariants. Nothing here imports torch."""

from .._base.frozen import immutable_dict, immutable_list
from .args import map_aggregate, map_arg
from .checkpoint import Checkpoint
from .events import Event
from .graph import Graph, InsertPoint, NodeList
from .liveness import last_uses, needed_for
from .node import OPS, Node
from .origin import Frame, Origin
from .region import CHANGING, Region, RegionUse, all_graphs, holder_of, outermost, region_uses, regions_of

__all__ = [
    "CHANGING",
    "OPS",
    "Checkpoint",
    "Event",
    "Frame",
    "Graph",
    "InsertPoint",
    "Node",
    "NodeList",
    "Origin",
    "Region",
    "RegionUse",
    "all_graphs",
    "holder_of",
    "immutable_dict",
    "immutable_list",
    "last_uses",
    "map_aggregate",
    "map_arg",
    "needed_for",
    "outermost",
    "region_uses",
    "regions_of",
]
