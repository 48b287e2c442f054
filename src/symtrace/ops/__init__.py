"""Operator knowledge: signatures, argument normalisation, effects, randomness."""

from .effect import Effect, is_removable
from .function_effects import random_operators
from .node_effects import effects
from .normalize import NormalizedArguments, normalize_function, normalize_module
from .registry import has_side_effect, pure, random
from .schemas import Parameter, Signature, schemas_of, signatures_of

__all__ = [
    "Effect",
    "NormalizedArguments",
    "Parameter",
    "Signature",
    "effects",
    "has_side_effect",
    "is_removable",
    "normalize_function",
    "normalize_module",
    "pure",
    "random",
    "random_operators",
    "schemas_of",
    "signatures_of",
]
