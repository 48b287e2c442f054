"""Analyses of a graph: which nodes may share storage, and which may change places."""

from .effects import EffectAnalysis, node_effect
from .order import effect_edges

__all__ = ["EffectAnalysis", "effect_edges", "node_effect"]
