"""Analyses of a graph: which nodes may share storage, and which may change places."""

from .effects import EffectAnalysis, node_effect

__all__ = ["EffectAnalysis", "node_effect"]
