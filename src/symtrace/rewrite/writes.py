"""What patterns and replacements write to, and who would see it."""

from __future__ import annotations

from typing import Any

from ..analysis import EffectAnalysis
from ..ir import Graph, Node
from .matcher import InternalMatch
from .pattern import is_node

__all__ = ["is_observed", "written_inputs"]


def written_inputs(graph: Graph, analysis: EffectAnalysis) -> frozenset[int]:
    """Return the numbers of the inputs that a graph may write to.

    Args:
        graph: The graph of a pattern or of a replacement.
        analysis: Its effects.
    """
    if not analysis.effectful:
        return frozenset()
    sources: dict[Node, frozenset[int]] = {}
    found: set[int] = set()
    count = 0
    for node in graph.nodes:
        if node.op == "placeholder":
            sources[node] = frozenset({count})
            count += 1
            continue
        if node.op == "output":
            continue
        effect = analysis.effect(node)
        below = [sources.get(used, frozenset()) for used in node.all_input_nodes]
        shares = effect.returns_alias or effect.impure
        sources[node] = frozenset().union(*below) if shares else frozenset()
        if effect.impure:
            found.update(*below)
        elif effect.mutates:
            for written in effect.written(node.args, node.kwargs):
                values = written if isinstance(written, list | tuple) else (written,)
                found.update(*(sources[value] for value in values if is_node(value)))
    return frozenset(found)


def is_observed(value: Any, match: InternalMatch, analysis: EffectAnalysis) -> bool:
    """Return whether anything but a match may look at a value, or at what shares storage with it, afterwards.

    Args:
        value: What stands for an input of the pattern.
        match: The match.
        analysis: Effects of the graph.
    """
    if not is_node(value):
        return False
    shared = analysis.alias_class(value)
    if shared is None:
        return True
    matched = set(match.inner)
    members = sorted(analysis.members(shared))
    first = min(matched)
    results = {node for node in match.returning_nodes if node in matched}
    for node in members:  # what comes of the results alone sees those of the replacement
        if node > first and node not in matched:
            sharing = [used for used in node.all_input_nodes if analysis.alias_class(used) is shared]
            if sharing and all(used in results for used in sharing):
                results.add(node)
    return any(
        user not in matched and user > first for node in members if node not in results for user in node.users
    )
