"""Analyses of a graph: which nodes may share storage, and which may change places."""

from .effects import Class, EffectAnalysis, is_tensor, node_effect
from .order import effect_edges

__all__ = ["Class", "EffectAnalysis", "effect_edges", "is_tensor", "node_effect"]
