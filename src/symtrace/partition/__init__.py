"""Partitions of a graph: proposing, splitting, fusing."""

from .errors import PartitionError
from .fuse import fuse_by_partitions
from .minimize import Minimized, minimize
from .partition import Partition
from .propose import CapabilityBasedPartitioner
from .split import split_module
from .tags import split_by_tags

__all__ = [
    "CapabilityBasedPartitioner",
    "Minimized",
    "Partition",
    "PartitionError",
    "fuse_by_partitions",
    "minimize",
    "split_by_tags",
    "split_module",
]
