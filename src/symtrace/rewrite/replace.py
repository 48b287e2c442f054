"""Replacing every place where a pattern stands in a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from torch import nn

from ..analysis import EffectAnalysis
from ..errors import PatternError
from ..ir import Graph, Node, all_graphs, map_arg, regions_of
from .attributes import Imports
from .inherit import inherit
from .matcher import InternalMatch, SubgraphMatcher
from .pattern import is_node, output_nodes
from .placement import Place, Placer, insertion_node
from .sources import check_graph_module, graph_of
from .wildcard import is_wildcard
from .writes import is_observed, written_inputs

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]

Filter = Callable[[InternalMatch, Graph, Graph], bool]
Callback = Callable[[InternalMatch, Graph, Graph], Graph]


class Match(NamedTuple):
    """One place where a pattern was replaced.

    Attributes:
        anchor: Node of the pattern from which the match was found.
        nodes_map: For each node of the pattern, the node of the graph that it matched.
    """

    anchor: Node
    nodes_map: dict[Node, Node]


@dataclass
class ReplacedPatterns:
    """One place where a pattern was replaced, and by what.

    Attributes:
        anchor: Node of the pattern from which the match was found.
        nodes_map: For each node of the pattern, the node of the graph that it matched.
        replacements: The nodes that were put in their place.
    """

    anchor: Node
    nodes_map: dict[Node, Node]
    replacements: list[Node]


def replace_pattern(
    gm: nn.Module, pattern: Any, replacement: Any, *, normalize: bool = False, any_path: bool = False
) -> list[Match]:
    """Replace every place where `pattern` stands in the graph of `gm` by `replacement`.

    Arguments match in any spelling: by position, by keyword or left out when they have the default; as a
    method or as a function. Modules match if they are of one class and built with the same settings. A place
    is left alone if replacing it could change what the program does: when a write to an input, or another
    effect that would have to be crossed, stands between its nodes. New nodes inherit the metadata of what
    they replace.

    Args:
        gm: The GraphModule to change.
        pattern: What to look for: a callable, an nn.Module, a GraphModule or a Graph.
        replacement: What to put in its place, with the same inputs and the same number of results.
        normalize: Functions that compute the same match each other (`F.relu` and `torch.relu`, `+` and
            `torch.add`), and operands of commutative functions may be exchanged.
        any_path: Modules with parameters match modules of the same class and settings wherever they are; else the
            path has to be the same too.

    Returns:
        The places that were replaced, in the order of the graph, those in regions last; they do not overlap.

    Raises:
        PatternError: Pattern or replacement can't be used (ST202 to ST210); `gm` is as it was.
        ArgumentError: `gm` is no GraphModule (ST112).
    """
    replaced = replace_pattern_with_filters(gm, pattern, replacement, normalize=normalize, any_path=any_path)
    return [Match(anchor=place.anchor, nodes_map=place.nodes_map) for place in replaced]


def replace_pattern_with_filters(
    gm: nn.Module,
    pattern: Any,
    replacement: Any = None,
    match_filters: Sequence[Filter] | None = None,
    ignore_literals: bool = False,
    replacement_callback: Callback | None = None,
    node_name_match: str = "",
    *,
    normalize: bool = False,
    any_path: bool = False,
) -> list[ReplacedPatterns]:
    """Replace the places where `pattern` stands in the graph of `gm`, as far as all filters agree.

    Args:
        gm: The GraphModule to change.
        pattern: What to look for: a callable, an nn.Module, a GraphModule or a Graph.
        replacement: What to put in its place.
        match_filters: Each is called with the match, the graph and the pattern; all have to return True.
        ignore_literals: Literals match any literal.
        replacement_callback: Called with the match, the graph and the pattern; returns the Graph to put in
            the place of this match. Used when no `replacement` is given.
        node_name_match: Nodes whose name contains this text match whatever they call.
        normalize: As for `replace_pattern`.
        any_path: As for `replace_pattern`.

    Returns:
        The places that were replaced, in the order of the graph.

    Raises:
        PatternError: Pattern or replacement can't be used (ST202 to ST210); `gm` is as it was.
        ArgumentError: `gm` is no GraphModule (ST112).
    """
    check_graph_module(gm)
    if replacement is None and replacement_callback is None:
        raise PatternError("ST209")
    pattern_graph, _ = graph_of("pattern", pattern)
    matcher = SubgraphMatcher(
        pattern_graph, ignore_literals=ignore_literals, normalize=normalize, any_path=any_path
    )
    imports = Imports(gm)
    module: Any = gm
    rewrites = [_Rewrite(gm, matcher, graph, imports) for graph in all_graphs(module.graph)]
    fixed = None
    if replacement is not None:
        fixed = rewrites[0].prepare(*graph_of("replacement", replacement))
    plans = []
    for rewrite in rewrites:
        plan = []
        for match in rewrite.find(node_name_match, match_filters or (), fixed):
            own = fixed
            if own is None:
                assert replacement_callback is not None
                made = graph_of("replacement", replacement_callback(match, rewrite.graph, pattern_graph))
                own = rewrite.prepare(*made)
                if not rewrite.allows(match, own):
                    continue
            plan.append((match, own))
        plans.append(plan)
    prune = isinstance(replacement, nn.Module)
    return [
        place for rewrite, plan in zip(rewrites, plans, strict=True) for place in rewrite.apply(plan, prune)
    ]


@dataclass(frozen=True)
class _Replacement:
    """A replacement that fits the pattern.

    Attributes:
        graph: What to put in the place of a match.
        inputs: Its placeholders, one for each of the pattern.
        results: What it returns, flattened.
        paths: For each of its targets, the path in the module that is rewritten.
        aliases: For each result, whether it may share storage with an input.
        written: Which inputs it writes to, by their number.
    """

    graph: Graph
    inputs: tuple[Node, ...]
    results: tuple[Any, ...]
    paths: dict[str, str]
    aliases: tuple[bool, ...]
    written: frozenset[int]


class _Rewrite:
    """The rewriting of one graph of a module by one pattern."""

    def __init__(self, gm: nn.Module, matcher: SubgraphMatcher, graph: Graph, imports: Imports) -> None:
        module: Any = gm
        self.whole: Graph = module.graph
        self.graph = graph
        self.delete_submodule: Callable[[str], bool] = module.delete_submodule
        self.graph.output_node()
        self.matcher = matcher
        self.pattern = matcher.compiled
        self.imports = imports
        self.changed: dict[Node, Any] = {}
        self.places: dict[int, Place] = {}

    def prepare(self, graph: Graph, module: nn.Module | None) -> _Replacement:
        """Check a replacement against the pattern."""
        inputs = tuple(node for node in graph.nodes if node.op == "placeholder")
        results = tuple(output_nodes(graph))
        pattern = self.pattern
        if len(inputs) != len(pattern.placeholders):
            raise PatternError("ST204", pattern=len(pattern.placeholders), replacement=len(inputs))
        if len(results) != len(pattern.returning):
            raise PatternError("ST205", pattern=len(pattern.returning), replacement=len(results))
        for wanted, given in zip(pattern.placeholders, inputs, strict=True):
            if given.users and not wanted.users:
                raise PatternError("ST206", name=given.name)
        for returned, result in zip(pattern.returning, results, strict=True):
            if returned.op == "placeholder" and result is not inputs[pattern.placeholders.index(returned)]:
                raise PatternError("ST210", name=returned.name)
        if sum(map(is_wildcard, graph.nodes)) > sum(map(is_wildcard, pattern.graph.nodes)):
            raise PatternError(
                "ST207", what="the replacement", actual="one with more `any_call` than the pattern"
            )
        analysis = EffectAnalysis(graph)
        aliases = tuple(is_node(value) and analysis.alias_class(value) is None for value in results)
        paths = self.imports.plan(graph, module)
        return _Replacement(graph, inputs, results, paths, aliases, written_inputs(graph, analysis))

    def find(
        self, name: str, filters: Sequence[Filter], replacement: _Replacement | None
    ) -> list[InternalMatch]:
        """Return the matches that may be replaced, and note where their replacements go."""
        paths = {} if replacement is None else replacement.paths
        named = {target for target, path in paths.items() if not self.imports.brings(path)}

        def accept(match: InternalMatch) -> bool:
            if replacement is not None and not self.allows(match, replacement):
                return False
            if not all(_same_path(key, node) for key, node in match.nodes_map.items() if key.target in named):
                return False
            place = self.placer.place(match)
            if place is not None:
                self.places[id(match)] = place
            return place is not None

        found = self.matcher.match(self.graph, name, accept=accept)
        graphs = self.graph, self.pattern.graph
        return [match for match in found if all(check(match, *graphs) for check in filters)]

    def allows(self, match: InternalMatch, replacement: _Replacement) -> bool:
        """Return False where the program would see that the replacement writes to, or shares, something else."""
        analysis = self.analysis
        for returned, node, aliases in zip(
            self.pattern.returning, match.returning_nodes, replacement.aliases, strict=True
        ):
            is_new = aliases and returned.op != "placeholder" and not self._is_alias(returned)
            if is_new and analysis.alias_class(node) is not None and analysis.is_written(node):
                return False
        if self.written == replacement.written:
            return True
        inputs = [self.pattern.placeholders[index] for index in self.written ^ replacement.written]
        return not any(is_observed(match.nodes_map.get(key), match, analysis) for key in inputs)

    def _is_alias(self, returned: Node) -> bool:
        """Return whether a result of the pattern itself may share storage with an input."""
        return self.of_pattern.alias_class(returned) is None

    @cached_property
    def placer(self) -> Placer:
        """What tells where a match can run; it is made for the first match, since most patterns of many have none."""
        return Placer(self.analysis)

    @cached_property
    def analysis(self) -> EffectAnalysis:
        """Effects of the graph, as it was before anything was replaced."""
        return EffectAnalysis(self.graph)

    @cached_property
    def of_pattern(self) -> EffectAnalysis:
        """Effects of the pattern."""
        return EffectAnalysis(self.pattern.graph)

    @cached_property
    def written(self) -> frozenset[int]:
        """Numbers of the inputs that the pattern writes to."""
        return written_inputs(self.pattern.graph, self.of_pattern)

    def apply(
        self, plans: Sequence[tuple[InternalMatch, _Replacement]], prune: bool
    ) -> list[ReplacedPatterns]:
        """Replace the matches one after the other."""
        if not plans:
            return []
        self.imports.install()
        paths = {node.target for match, _ in plans for node in match.inner if node.op == "call_module"}
        done = [replaced for match, plan in plans if (replaced := self._apply_one(match, plan)) is not None]
        if prune:
            self._prune(paths)
        return done

    def _apply_one(self, match: InternalMatch, plan: _Replacement) -> ReplacedPatterns | None:
        nodes_map = {key: self._current(node) for key, node in match.nodes_map.items()}
        spot = insertion_node(match, self.places[id(match)])
        if any(is_node(node) and key.op == "placeholder" and node >= spot for key, node in nodes_map.items()):
            return None  # an earlier replacement has moved an input behind this place
        values: dict[Node, Any] = {}
        for wanted, given in zip(self.pattern.placeholders, plan.inputs, strict=True):
            if wanted in nodes_map:
                values[given] = nodes_map[wanted]
        wild = [nodes_map[key] for key in self.pattern.graph.nodes if is_wildcard(key)]
        new = self._copy(plan, values, spot, wild)
        results = map_arg(plan.results, values.__getitem__)
        matched = set(match.inner)
        pairs = []
        for returned, node, result in zip(
            self.pattern.returning, match.returning_nodes, results, strict=True
        ):
            if returned.op == "placeholder" or node is result:
                continue
            self._replace_uses(node, result, matched)
            self.changed[node] = result
            if is_node(result) and result in new:
                pairs.append((node, result))
        inherit(new, pairs, max(matched), "replace_pattern")
        for node in sorted(matched, reverse=True):
            if not node.users:
                self.graph.erase_node(node)
        return ReplacedPatterns(match.anchors[0], nodes_map, list(new))

    def _copy(
        self, plan: _Replacement, values: dict[Node, Any], spot: Node, wild: list[Node]
    ) -> dict[Node, None]:
        """Copy the nodes of a replacement in front of `spot`; return the copies, in order.

        An `any_call` of the replacement is the call that the one of the pattern stands for, in their order.
        """
        new: dict[Node, None] = {}
        called = iter(wild)
        with self.graph.inserting_before(spot):
            for node in plan.graph.nodes:
                if node.op in ("placeholder", "output"):
                    continue
                if is_wildcard(node):
                    found = next(called)
                    given = dict(
                        zip(found.all_input_nodes, map(values.get, node.all_input_nodes), strict=True)
                    )
                    values[node] = copied = self.graph.node_copy(found, given.__getitem__)
                    new[copied] = None
                    continue
                copied = self.graph.node_copy(node, values.__getitem__)
                parts = [copied]
                if len(copied.args) > 3:
                    parts += [n for r in regions_of(copied) for g in all_graphs(r.graph) for n in g.nodes]
                for part in parts:
                    if part.op in ("get_attr", "call_module") and plan.paths[part.target] != part.target:
                        part.target = plan.paths[part.target]
                values[node] = copied
                new[copied] = None
        return new

    def _replace_uses(self, old: Node, new: Any, matched: set[Node]) -> None:
        if is_node(new):
            old.replace_all_uses_with(new, delete_user_cb=lambda user: user not in matched)
            return
        for user in list(old.users):
            if user not in matched:
                user.args = map_arg(user.args, lambda node: new if node is old else node)
                user.kwargs = map_arg(user.kwargs, lambda node: new if node is old else node)

    def _current(self, node: Any) -> Any:
        while is_node(node) and node in self.changed:
            node = self.changed[node]
        return node

    def _prune(self, paths: set[str]) -> None:
        """Remove the modules that only replaced nodes called."""
        nodes = (node for graph in all_graphs(self.whole) for node in graph.nodes)
        called = {node.target for node in nodes if node.op in ("call_module", "get_attr")}
        for path in paths:
            if not any(target == path or target.startswith(path + ".") for target in called):
                self.delete_submodule(path)


def _same_path(key: Node, node: Any) -> bool:
    """Return whether an attribute or a module that the replacement names too is that very one."""
    return key.op not in ("get_attr", "call_module") or (is_node(node) and node.target == key.target)
