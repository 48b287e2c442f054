"""Errors of partitioning."""

from __future__ import annotations

from ..errors import SymtraceError

__all__ = ["PartitionError"]


class PartitionError(SymtraceError, RuntimeError, ValueError):
    """A graph can't be partitioned as asked; it is as it was."""
