"""FX's spelling of `symtrace.partition.fuse`."""

from ...partition.fuse import (
    erase_nodes,
    fuse_as_graphmodule,
    fuse_by_partitions,
    insert_subgm,
    topo_sort,
    validate_partition,
)

__all__ = [
    "erase_nodes",
    "fuse_as_graphmodule",
    "fuse_by_partitions",
    "insert_subgm",
    "topo_sort",
    "validate_partition",
]
