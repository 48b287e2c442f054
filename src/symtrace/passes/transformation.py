"""Rewrites as classes: a pattern, and what to put in its place."""

from __future__ import annotations

import copy
from typing import Any, NoReturn

from ..analysis import EffectAnalysis
from ..errors import PatternError
from ..ir import Graph, Node, all_graphs
from ..rewrite.inherit import inherit
from ..rewrite.matcher import InternalMatch, SubgraphMatcher
from ..rewrite.placement import Placer, insertion_node
from ..rewrite.sources import check_graph_module, graph_of
from ..runtime import GraphModule

__all__ = ["GraphModuleTransformation"]


class GraphModuleTransformation:
    """A rewrite as a class: `pattern` says what to look for, `replace` what to put in its place.

    An instance is called with a GraphModule and returns a new one; the given one is left as it is.

    Attributes:
        normalize: Functions that compute the same match each other, and operands of commutative functions may be
            exchanged.

    >>> import torch, symtrace
    >>> class Tanh(GraphModuleTransformation):
    ...     def pattern(self):
    ...         return lambda x: torch.relu(x)
    ...
    ...     def replace(self, node, matches):
    ...         return node.graph.call_function(torch.tanh, (matches[0],))
    >>> gm = symtrace.symbolic_trace(lambda x: torch.relu(x) + 1)
    >>> [str(node) for node in Tanh()(gm).graph.nodes]
    ['x', 'tanh', 'add', 'output']
    """

    normalize: bool = True

    def pattern(self) -> Any:
        """Return what to look for: a callable, an nn.Module, a GraphModule or a Graph.

        Modules match modules of the same class and configuration.
        """
        raise NotImplementedError

    def replace(self, node: Node, matches: list[Any]) -> Node:
        """Return the node to use in the place of `node`.

        Args:
            node: The node whose value the pattern returns. Nodes made with `node.graph` stand in front of it;
                `node.graph.owning_module` is the module, to which modules may be added.
            matches: What stands for the inputs of the pattern, in order.

        Returns:
            A node whose users are those of `node` from now on; `node` itself to leave it alone.
        """
        raise NotImplementedError

    def __call__(self, gm: GraphModule) -> GraphModule:
        """Return a new module in which every match is replaced.

        Matches that share nodes are replaced from the front, as long as they do not overlap; a match between whose
        nodes an effect stands that must not be crossed is left alone.

        Args:
            gm: The module; it is left as it is.

        Raises:
            ArgumentError: `gm` is no GraphModule (ST112).
            PatternError: The pattern can't be used (ST202, ST203, ST207), or has several results (ST205).
        """
        check_graph_module(gm)
        graph, _ = graph_of("pattern", self.pattern())
        matcher = SubgraphMatcher(graph, normalize=self.normalize, any_path=True)
        if len(matcher.compiled.returning) != 1:
            raise PatternError("ST205", pattern=len(matcher.compiled.returning), replacement=1)
        result = copy.deepcopy(gm)
        for inner in list(all_graphs(result.graph)):
            self._replace_in(inner, matcher)
        return result

    def _replace_in(self, graph: Graph, matcher: SubgraphMatcher) -> None:
        placer = Placer(EffectAnalysis(graph))
        places: dict[int, Any] = {}

        def accept(match: InternalMatch) -> bool:
            place = placer.place(match)
            places[id(match)] = place
            return place is not None

        moved: dict[Node, Node] = {}
        for match in matcher.match(graph, accept=accept):
            self._replace_one(match, places[id(match)], moved)

    def _replace_one(self, match: InternalMatch, place: Any, moved: dict[Node, Node]) -> None:
        def current(value: Any) -> Any:
            while isinstance(value, Node) and value in moved:
                value = moved[value]
            return value

        (node,) = match.returning_nodes
        graph = node.graph
        spot = insertion_node(match, place)
        last = spot.prev
        with graph.inserting_before(spot):
            new = self.replace(node, [current(value) for value in match.placeholder_nodes])
        if not isinstance(new, Node):
            _refuse(new)
        if new is node:
            return
        made = []
        fresh = last.next
        while fresh is not spot:
            made.append(fresh)
            fresh = fresh.next
        kept = set(made)
        node.replace_all_uses_with(new, delete_user_cb=lambda user: user not in kept)
        inherit(made, [(node, new)] if new in kept else [], node, type(self).__name__)
        moved[node] = new
        for old in sorted(match.inner, reverse=True):
            if not old.users:
                graph.erase_node(old)


def _refuse(value: Any) -> NoReturn:
    raise PatternError("ST207", what="the result of replace()", actual=type(value).__name__)
