"""Making a module of a graph that was taken out of another module's graph, and comparing graphs."""

from __future__ import annotations

from torch import nn

from ..ir import all_graphs
from ..rewrite.matcher import SubgraphMatcher
from ..rewrite.sources import check_graph_module
from ..runtime import Graph, GraphModule

__all__ = ["HolderModule", "compare_graphs", "lift_subgraph_as_module"]


class HolderModule(nn.Module):
    """A module without a program, which holds others.

    Args:
        d: The modules by name.
    """

    def __init__(self, d: dict[str, nn.Module]) -> None:
        super().__init__()
        for name, module in d.items():
            self.add_module(name, module)


def lift_subgraph_as_module(
    gm: GraphModule, subgraph: Graph, comp_name: str = "", class_name: str = "GraphModule"
) -> tuple[GraphModule, dict[str, str]]:
    """Return a module that runs `subgraph` with what it uses of `gm`.

    Args:
        gm: Where the targets of `subgraph` are found; its modules and tensors are shared.
        subgraph: The graph.
        comp_name: Where the new module is going to be put in another one, for the map of names.
        class_name: Name of the class as it is printed.

    Returns:
        The module, and for each target of `subgraph` the name that it has below `comp_name`.
    """
    check_graph_module(gm)
    lifted = GraphModule(gm, subgraph, class_name)
    prefix = f"{comp_name}." if comp_name else ""
    names = {
        node.target: f"{prefix}{node.target}"
        for graph in all_graphs(subgraph)
        for node in graph.nodes
        if node.op in ("call_module", "get_attr")
    }
    return lifted, names


def compare_graphs(left: Graph, right: Graph) -> bool:
    """Tell whether two graphs do the same, names aside.

    Args:
        left: A graph.
        right: Another.
    """
    if len(left.nodes) != len(right.nodes):
        return False
    matcher = SubgraphMatcher(left, match_output=True, match_placeholder=True)
    return len(matcher.match(right)) > 0
