"""Analyses of a graph: which nodes may share storage, and which may change places."""

from .effects import Class, EffectAnalysis, node_effect
from .kinds import is_tensor, is_tensor_method
from .order import effect_edges

__all__ = ["Class", "EffectAnalysis", "effect_edges", "is_tensor", "is_tensor_method", "node_effect"]
