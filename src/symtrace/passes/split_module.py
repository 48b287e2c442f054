"""FX's spelling of `symtrace.partition.split`."""

from ..partition.split import split_module

__all__ = ["split_module"]
