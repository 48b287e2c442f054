"""FX's spelling: `symtrace.immutable_collections`."""

from .ir import immutable_dict, immutable_list

__all__ = ["immutable_dict", "immutable_list"]
