"""Analyses of a graph: which nodes may share storage, and which may change places."""

from .decisions import Decisions
from .effects import Class, EffectAnalysis, node_effect
from .kinds import computes_number, is_tensor, is_tensor_method
from .order import effect_edges
from .pixels import single_pixels
from .ranks import known_ranks, rank_of

__all__ = [
    "Class",
    "Decisions",
    "EffectAnalysis",
    "computes_number",
    "effect_edges",
    "is_tensor",
    "is_tensor_method",
    "known_ranks",
    "node_effect",
    "rank_of",
    "single_pixels",
]
