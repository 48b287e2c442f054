"""Order of stages: which has to run in front of which."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Hashable, Iterable, Mapping, Sequence

from ..analysis import effect_edges
from ..ir import Graph, Node
from .errors import PartitionError

__all__ = ["order_stages"]


def order_stages(graph: Graph, stage_of: Mapping[Node, Hashable]) -> list[Hashable]:
    """Return the stages in an order that keeps the flow of values and the order of effects.

    Of several orders, the one that follows the graph: among the stages that may come next, the one whose
    first node stands foremost.

    Args:
        graph: Graph that is split.
        stage_of: The stage of each node; nodes without one are left out of account.

    Raises:
        PartitionError: There is no such order (ST220).

    Cost: linear in nodes and edges, but for a logarithm of the number of stages.
    """
    first: dict[Hashable, int] = {}
    for place, node in enumerate(graph.nodes):
        if node in stage_of:
            first.setdefault(stage_of[node], place)
    successors: dict[Hashable, dict[Hashable, str]] = {stage: {} for stage in first}
    waiting = dict.fromkeys(first, 0)
    for before, after, reason in _edges(graph, stage_of):
        if after not in successors[before]:
            successors[before][after] = reason
            waiting[after] += 1
    stages = list(first)
    ready = [(first[stage], index) for index, stage in enumerate(stages) if not waiting[stage]]
    heapq.heapify(ready)
    numbers = {stage: index for index, stage in enumerate(stages)}
    order = []
    while ready:
        stage = stages[heapq.heappop(ready)[1]]
        order.append(stage)
        for after in successors[stage]:
            waiting[after] -= 1
            if not waiting[after]:
                heapq.heappush(ready, (first[after], numbers[after]))
    if len(order) < len(stages):
        raise PartitionError("ST220", cycle=_cycle(successors, [s for s in stages if s not in set(order)]))
    return order


def _edges(graph: Graph, stage_of: Mapping[Node, Hashable]) -> Iterable[tuple[Hashable, Hashable, str]]:
    """Yield what has to run in front of what, and why."""
    for node in graph.nodes:
        stage = stage_of.get(node)
        if stage is None:
            continue
        for used in node.all_input_nodes:
            before = stage_of.get(used)
            if before is not None and before != stage:
                yield before, stage, f"`{node}` takes `{used}`"
    for left, right in effect_edges(graph):
        before, after = stage_of.get(left), stage_of.get(right)
        if before is not None and after is not None and before != after:
            yield before, after, f"`{right}` has to run behind `{left}`"


def _cycle(successors: Mapping[Hashable, Mapping[Hashable, str]], stuck: Sequence[Hashable]) -> str:
    """Return one ring of stages, for the message: walk until a stage comes twice."""
    left = set(stuck)
    predecessors: dict[Hashable, Hashable] = {}
    for stage in stuck:
        for after in successors[stage]:
            if after in left:
                predecessors[after] = stage
    seen: dict[Hashable, None] = {}
    stage = stuck[0]
    while stage not in seen:
        seen[stage] = None
        stage = predecessors[stage]
    walk = list(seen)
    ring = [*walk[walk.index(stage) :], stage]
    reasons = [successors[before][after] for after, before in itertools.pairwise(ring)]
    return f"{' <- '.join(map(str, ring))} ({', '.join(reasons)})"
