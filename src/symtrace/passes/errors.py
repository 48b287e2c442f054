"""Errors of passes."""

from __future__ import annotations

from ..errors import SymtraceError

__all__ = ["PassError"]


class PassError(SymtraceError, RuntimeError):
    """A pass or a schedule of passes failed."""
