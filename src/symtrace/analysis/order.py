"""Which nodes have to stay in front of which others on account of their effects."""

from __future__ import annotations

from collections.abc import Iterator

from ..ir import Graph, Node
from .effects import Class, EffectAnalysis

__all__ = ["effect_edges"]


def effect_edges(graph: Graph, analysis: EffectAnalysis | None = None) -> Iterator[tuple[Node, Node]]:
    """Yield pairs of nodes of which the first must stay in front of the second, apart from the flow of
    values.

    The pairs are as few as keep every order that matters: what else must not be exchanged follows from them.

    Args:
        graph: Graph to look at.
        analysis: Its effects, if known already.

    Cost: linear, as is the number of pairs.
    """
    analysis = EffectAnalysis(graph) if analysis is None else analysis
    yield from _in_training(graph, analysis)
    if not analysis.effectful:
        return
    state = _State(analysis)
    for node in graph.nodes:
        if node.op not in ("placeholder", "output"):
            yield from state.edges_to(node)


def _in_training(graph: Graph, analysis: EffectAnalysis) -> Iterator[tuple[Node, Node]]:
    """Yield the pairs that matter once layers that are in evaluation mode are trained."""
    draw: Node | None = None
    writers: dict[int, Node] = {}
    for node in graph.nodes:
        if node.op != "call_module" and analysis.effect(node).is_pure:
            continue
        draws, written = analysis.training.role(node)
        if draws:
            if draw is not None:
                yield draw, node
            draw = node
        for earlier in {writers[tensor] for tensor in written if tensor in writers}:
            yield earlier, node
        writers.update(dict.fromkeys(written, node))


class _State:
    """What has happened up to a node."""

    def __init__(self, analysis: EffectAnalysis) -> None:
        self.analysis = analysis
        self.written = {found for node in analysis.effectful for found in analysis.writes(node)}
        self.barrier: Node | None = None
        self.since: list[Node] = []
        self._forget()

    def _forget(self) -> None:
        self.writers: dict[Class, Node] = {}
        self.readers: dict[Class, list[Node]] = {}
        self.draw: Node | None = None
        self.check: Node | None = None
        self.unchecked: list[Node] = []

    def edges_to(self, node: Node) -> Iterator[tuple[Node, Node]]:
        """Yield the pairs of which `node` is the second."""
        effect = self.analysis.effect(node)
        if self.barrier is not None:
            yield self.barrier, node
        if effect.barrier:
            for earlier in self.since:
                yield earlier, node
            self.barrier, self.since = node, []
            self._forget()
            return
        self.since.append(node)
        if effect.check:
            yield from self._check(node)
        elif not effect.is_pure:
            if self.check is not None:
                yield self.check, node
            self.unchecked.append(node)
        if effect.random or effect.impure:
            if self.draw is not None:
                yield self.draw, node
            self.draw = node
        yield from self._memory(node)

    def _check(self, node: Node) -> Iterator[tuple[Node, Node]]:
        for earlier in self.unchecked:
            yield earlier, node
        if self.check is not None:
            yield self.check, node
        self.check, self.unchecked = node, []

    def _memory(self, node: Node) -> Iterator[tuple[Node, Node]]:
        writers, readers = self.writers, self.readers
        for found in self.analysis.reads(node) & self.written:
            if found in writers:
                yield writers[found], node
            readers.setdefault(found, []).append(node)
        for found in self.analysis.writes(node):
            last = [writers[found]] if found in writers else []
            for earlier in (*readers.get(found, ()), *last):
                if earlier is not node:
                    yield earlier, node
            writers[found] = node
            readers[found] = []
