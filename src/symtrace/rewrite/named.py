"""Matching by patterns that give names to their nodes."""

from __future__ import annotations

from ..errors import PatternError
from ..ir import Graph, Node
from ..runtime import GraphModule
from .matcher import InternalMatch, SubgraphMatcher
from .sources import check_graph_module

__all__ = ["SubgraphMatcherWithNameNodeMap"]


class SubgraphMatcherWithNameNodeMap(SubgraphMatcher):
    """Finds a pattern that returns, behind its results, a dict from names to nodes.

    Each match has in `name_node_map` the nodes of the graph under these names.

    Args:
        pattern_gm: Module with the pattern, such as one traced from a function that ends in
            `return relu, {"conv": conv, "relu": relu}`; it is left as it is.
        match_output: As for `SubgraphMatcher`.
        match_placeholder: As for `SubgraphMatcher`.
        remove_overlapping_matches: As for `SubgraphMatcher`.
        ignore_literals: As for `SubgraphMatcher`.

    Raises:
        PatternError: The pattern does not return such a dict (ST211), computes nothing (ST202) or has dead
            code (ST203).
        ArgumentError: `pattern_gm` is no GraphModule (ST112).
    """

    def __init__(
        self,
        pattern_gm: GraphModule,
        match_output: bool = False,
        match_placeholder: bool = False,
        remove_overlapping_matches: bool = True,
        ignore_literals: bool = False,
    ) -> None:
        check_graph_module(pattern_gm, "pattern_gm")
        pattern, self.name_node_map = _split_names(pattern_gm)
        super().__init__(
            pattern, match_output, match_placeholder, remove_overlapping_matches, ignore_literals
        )

    def match(self, graph: Graph, node_name_match: str = "", **options: object) -> list[InternalMatch]:
        """Return the places where the pattern stands in `graph`; see `SubgraphMatcher.match`."""
        found = super().match(graph, node_name_match)
        for match in found:
            for name, node in self.name_node_map.items():
                match.name_node_map[name] = match.nodes_map[node]
        return found


def _split_names(gm: GraphModule) -> tuple[Graph, dict[str, Node]]:
    """Return a copy of the pattern without the names, and the names of its nodes."""
    graph = gm.graph._blank()
    graph.owning_module = gm
    values: dict[Node, Node] = {}
    result = graph.graph_copy(gm.graph, values)
    *results, names = result if isinstance(result, list | tuple) and result else (None,)
    if not isinstance(names, dict) or not all(isinstance(node, Node) for node in names.values()):
        raise PatternError("ST211")
    graph.output(results[0] if len(results) == 1 else tuple(results))
    return graph, dict(names)
