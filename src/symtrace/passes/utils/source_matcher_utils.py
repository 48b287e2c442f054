"""FX's spelling of `symtrace.passes.source_partitions`."""

from ..source_partitions import SourcePartition, check_subgraphs_connected, get_source_partitions

__all__ = ["SourcePartition", "check_subgraphs_connected", "get_source_partitions"]
