"""FX's spelling: how nested arguments are taken apart."""

from .codegen.codegen import flatten as tree_flatten_spec
from .codegen.codegen import register_flatten as register_pytree_flatten_spec

__all__ = ["register_pytree_flatten_spec", "tree_flatten_spec"]
