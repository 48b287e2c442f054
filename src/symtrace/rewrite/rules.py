"""Rules as data: patterns with conditions on what their inputs stand for, applied together and counted."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import nn

from ..errors import PatternError
from ..ir import Graph, all_graphs
from .matcher import InternalMatch
from .pattern import Pattern, head, is_node
from .replace import Filter, replace_pattern_with_filters
from .sources import check_graph_module, graph_of
from .wildcard import WILDCARD

__all__ = ["Rule", "RuleSet", "RuleStatistics", "constant"]

Condition = Callable[[Any], bool]


def constant(condition: Callable[[Any], bool] | None = None) -> Condition:
    """Return a condition for `Rule.where`: the input of the pattern stands for a literal.

    Args:
        condition: What else has to hold for the literal.

    >>> constant(lambda value: value > 0)(2)
    True
    """
    return lambda value: not is_node(value) and (condition is None or bool(condition(value)))


@dataclass(frozen=True, eq=False)
class Rule:
    """One rule: where a pattern stands and conditions hold, the replacement is put.

    An input of the pattern is a wildcard: it stands for any value or literal.

    Attributes:
        name: Name, for statistics.
        pattern: What to look for: a callable, an nn.Module, a GraphModule, a Graph; or a tuple of alternatives with the
            same inputs.
        replacement: What to put in its place, with the same inputs and results.
        where: Conditions on what inputs of the pattern stand for, by the name of the input: a literal, or a node.
        filters: Conditions on a whole match, as for `replace_pattern_with_filters`.
        normalize: Calls that mean the same match each other, whatever their spelling.
        any_path: Modules with parameters match modules of the same class and settings wherever they are.
    """

    name: str
    pattern: Any
    replacement: Any
    where: Mapping[str, Condition] = field(default_factory=dict)
    filters: tuple[Filter, ...] = ()
    normalize: bool = True
    any_path: bool = False

    def alternatives(self) -> tuple[Any, ...]:
        """Return the patterns, one or several."""
        return self.pattern if isinstance(self.pattern, tuple) else (self.pattern,)


@dataclass
class RuleStatistics:
    """What became of one rule.

    Attributes:
        tries: Nodes at which it might have ended, going by what they call.
        hits: Places where it was applied.
        seconds: Time spent on it.
    """

    tries: int = 0
    hits: int = 0
    seconds: float = 0.0


class RuleSet:
    """Rules that are applied together, in order.

    A rule none of whose calls occurs in the graph costs nothing but a look at a table.

    Args:
        rules: The rules; their names differ.

    Attributes:
        statistics: For each rule by name, what became of it in all uses so far.

    Raises:
        PatternError: Two rules have one name (ST207), or a pattern can't be used (ST202, ST203).

    >>> import torch, symtrace
    >>> rules = RuleSet([Rule("double", lambda x: x + x, lambda x: 2 * x)])
    >>> gm = symtrace.symbolic_trace(lambda x: torch.add(x, x))
    >>> rules(gm), rules.statistics["double"].hits
    (True, 1)
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = tuple(rules)
        self.statistics = {rule.name: RuleStatistics() for rule in self.rules}
        if len(self.statistics) != len(self.rules):
            raise PatternError("ST207", what="a rule", actual="a rule with the name of another")
        self._prepared = [
            (rule, graph, _anchor_heads(graph, rule.normalize), _names(graph))
            for rule in self.rules
            for graph in (graph_of("pattern", source)[0] for source in rule.alternatives())
        ]
        for rule, _, _, names in self._prepared:
            unknown = set(rule.where) - names
            if unknown:
                actual = f"a condition on {sorted(unknown)[0]!r}, which is no input of it"
                raise PatternError("ST207", what=f"the pattern of rule {rule.name!r}", actual=actual)

    def __call__(self, gm: nn.Module, rounds: int = 1) -> bool:
        """Apply the rules to a module.

        Args:
            gm: A GraphModule; it is changed.
            rounds: Apply all of them again, at most this many times, while any of them hits.

        Returns:
            Whether any rule was applied.

        Raises:
            ArgumentError: `gm` is no GraphModule (ST112).
            PatternError: A replacement does not fit (ST204 to ST210).
        """
        check_graph_module(gm)
        module: Any = gm
        any_hit = False
        for _ in range(rounds):
            hit = self._round(module)
            any_hit = any_hit or hit
            if not hit:
                break
        return any_hit

    def _round(self, gm: Any) -> bool:
        heads: dict[bool, dict[Hashable, int]] = {}
        hit = False
        for rule, graph, wanted, _ in self._prepared:
            start = time.perf_counter()
            counts = heads.get(rule.normalize)
            if counts is None:
                counts = heads[rule.normalize] = _count_heads(gm.graph, rule.normalize)
            statistics = self.statistics[rule.name]
            tries = counts.get(wanted[0], 0)
            if tries and all(counts.get(key, 0) for key in wanted):
                statistics.tries += tries
                filters = (*rule.filters, _condition(rule.where)) if rule.where else rule.filters
                done = replace_pattern_with_filters(
                    gm,
                    graph,
                    rule.replacement,
                    list(filters),
                    normalize=rule.normalize,
                    any_path=rule.any_path,
                )
                statistics.hits += len(done)
                if done:
                    hit = True
                    heads.clear()
            statistics.seconds += time.perf_counter() - start
        return hit


def _anchor_heads(graph: Graph, normalize: bool) -> tuple[Hashable, ...]:
    pattern = Pattern(graph, normalize)
    heads = [pattern.head(anchor) for anchor in pattern.anchors]
    inner = [pattern.head(n) for n in graph.nodes if n.op not in ("placeholder", "output", "get_attr")]
    return tuple(dict.fromkeys([*heads, *inner]))


def _names(graph: Graph) -> set[str]:
    return {str(node.target) for node in graph.nodes if node.op == "placeholder"}


def _count_heads(graph: Graph, normalize: bool) -> dict[Hashable, int]:
    counts: dict[Hashable, int] = {}
    for node in (node for inner in all_graphs(graph) for node in inner.nodes):
        key = head(node, normalize)
        counts[key] = counts.get(key, 0) + 1
        if node.op.startswith("call_"):
            counts[WILDCARD] = counts.get(WILDCARD, 0) + 1
    return counts


def _condition(where: Mapping[str, Condition]) -> Filter:
    def holds(match: InternalMatch, graph: Graph, pattern: Graph) -> bool:
        for key, value in match.nodes_map.items():
            condition = where.get(str(key.target)) if key.op == "placeholder" else None
            if condition is not None and not condition(value):
                return False
        return True

    return holds
