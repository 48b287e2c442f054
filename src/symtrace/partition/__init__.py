"""Partitions of a graph: proposing, splitting, fusing."""

from .errors import PartitionError
from .fuse import fuse_by_partitions
from .partition import Partition
from .propose import CapabilityBasedPartitioner
from .split import split_module
from .tags import split_by_tags

__all__ = [
    "CapabilityBasedPartitioner",
    "Partition",
    "PartitionError",
    "fuse_by_partitions",
    "split_by_tags",
    "split_module",
]
