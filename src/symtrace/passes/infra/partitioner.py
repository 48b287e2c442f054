"""FX's spelling of `symtrace.partition`."""

from ...partition.partition import Partition
from ...partition.propose import CapabilityBasedPartitioner

__all__ = ["CapabilityBasedPartitioner", "Partition"]
