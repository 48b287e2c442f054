"""FX's spelling: `symtrace.annotate`."""

from .tracing.annotation import annotate

__all__ = ["annotate"]
