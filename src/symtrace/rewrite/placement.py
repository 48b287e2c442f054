"""Where the replacement of a match may stand, if anywhere.

All matched nodes give way to one place. That is right only if each of them could be moved there: past writes
to what it reads, past reads of what it writes, past other random draws, it could not.
"""

from __future__ import annotations

from typing import Literal

from ..analysis import EffectAnalysis
from ..ir import Node
from .matcher import InternalMatch
from .pattern import is_node

__all__ = ["Place", "Placer"]

Place = Literal["first", "last"]


class Placer:
    """Decides for the matches of one graph, one after the other, where their replacements may stand.

    Args:
        analysis: Effects of the graph.
    """

    def __init__(self, analysis: EffectAnalysis) -> None:
        self.analysis = analysis
        self._spans: list[tuple[Node, Node]] = []

    def place(self, match: InternalMatch) -> Place | None:
        """Return `"last"` (behind the last matched node, or in front of the first that uses a result),
        `"first"` (in front of the first matched node), or None if neither place is safe.
        """
        inner = sorted(match.inner)
        if not self._in_order(match, inner):
            return None
        inputs = [node for node in match.placeholder_nodes if is_node(node)]
        places: tuple[Place, ...] = ("last", "first")
        for place in places:
            spot = _spot(match, place, inner)
            if inputs and max(inputs) >= spot:
                continue
            if not self.analysis.effectful:
                return place
            if place == "first" and self._overlaps(inner):
                continue
            matched = set(inner)
            if all(self.analysis.may_move(node, spot, matched) for node in inner):
                if not self.analysis.is_pure(inner):
                    self._spans.append((inner[0], inner[-1]))
                return place
        return None

    def _overlaps(self, inner: list[Node]) -> bool:
        """Return whether an effect of an earlier match moves within the span of this one."""
        return any(first <= inner[-1] and inner[0] <= last for first, last in self._spans)

    def _in_order(self, match: InternalMatch, inner: list[Node]) -> bool:
        """Return whether effects among the matched nodes happen in the order of the pattern."""
        if not self.analysis.effectful:
            return True
        effectful = [node for node in inner if not self.analysis.effect(node).is_pure]
        if not effectful:
            return True
        keys = {node: key for key, node in match.nodes_map.items() if is_node(node)}
        for node in effectful:
            for other in inner:
                if other is node or not self.analysis.conflict(node, other):
                    continue
                if (node < other) != (keys[node] < keys[other]):
                    return False
        return True


def insertion_node(match: InternalMatch, place: Place) -> Node:
    """Return the node in front of which the replacement goes, as the graph stands now."""
    return _spot(match, place, sorted(match.inner))


def _spot(match: InternalMatch, place: Place, inner: list[Node]) -> Node:
    if place == "first":
        return inner[0]
    matched = set(inner)
    users = [
        user
        for node in match.returning_nodes
        if node in matched
        for user in node.users
        if user not in matched
    ]
    behind = inner[-1].next
    return min([*users, behind]) if users else behind
