"""Small tools for passes: names of targets, kinds of results, topological order."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from ..analysis import effect_edges
from ..errors import GraphEditError
from ..ir import Graph, Node
from ..rewrite.sources import check_graph_module
from ..runtime import GraphModule
from .operator_support import CALLABLE_NODE_OPS, node_target, qualified_name

__all__ = [
    "CALLABLE_NODE_OPS",
    "FxNetAccFusionsFinder",
    "Names",
    "NodeList",
    "NodeSet",
    "TensorOrTensors",
    "Tensors",
    "get_acc_ops_name",
    "get_node_target",
    "is_node_output_tensor",
    "legalize_graph",
    "stable_topological_sort",
]

Tensors = tuple[torch.Tensor] | list[torch.Tensor]
TensorOrTensors = torch.Tensor | Tensors
NodeList = list[Node]
NodeSet = set[Node]
Names = list[str]


def get_acc_ops_name(k: str | Callable[..., Any]) -> str:
    """Return a short name of an operator: functions of `acc_ops` modules lose the path in front of it.

    Args:
        k: A name, a function or a class.
    """
    if isinstance(k, str):
        return k
    module = getattr(k, "__module__", None) or ""
    if "acc_ops" in module:
        return f"acc_ops.{k.__name__}"
    return qualified_name(k)


def get_node_target(submodules: Mapping[str, nn.Module], node: Node) -> str:
    """Return the name of what a node calls.

    Args:
        submodules: Modules by their paths: `dict(gm.named_modules())`.
        node: A node that calls something.

    Returns:
        The name of the method, of the function with its module, or of the class of the module.
    """
    return node_target(submodules, node)


def is_node_output_tensor(node: Node) -> bool:
    """Return whether the value of a node is a tensor; `ShapeProp` has to have been run.

    Args:
        node: A node with `meta["type"]`.
    """
    kind = node.meta.get("type", None)
    return isinstance(kind, type) and issubclass(kind, torch.Tensor)


class FxNetAccFusionsFinder:
    """Finds groups of nodes of a backend between which something else than tensors passes.

    Args:
        module: A module whose nodes have `meta["type"]`, as `ShapeProp` notes it.
        acc_nodes: The nodes of the backend.
    """

    def __init__(self, module: GraphModule, acc_nodes: set[Node]) -> None:
        check_graph_module(module, "module")
        self.module = module
        self.nodes = list(module.graph.nodes)
        self.acc_nodes = acc_nodes

    def __call__(self) -> dict[Node, set[Node]]:
        """Return for each node of a group the whole group."""
        groups: dict[Node, set[Node]] = {}
        for node in self.nodes:
            if node not in self.acc_nodes or is_node_output_tensor(node):
                continue
            members = {node, *(user for user in node.users if user in self.acc_nodes)}
            for group in {id(groups[one]): groups[one] for one in members if one in groups}.values():
                members |= group
            for one in members:
                groups[one] = members
        return groups


def legalize_graph(gm: GraphModule) -> GraphModule:
    """Bring the nodes of a module into an order in which values are defined before they are used.

    The order of effects is kept, and the order of the graph wherever nothing speaks against it.

    Args:
        gm: Module to change.

    Returns:
        `gm`.

    Raises:
        GraphEditError: Nodes depend on each other in a ring (ST104); nothing is changed.
    """
    return stable_topological_sort(gm)


def stable_topological_sort(gm: GraphModule) -> GraphModule:
    """Bring the nodes of a module into topological order, as near to the present order as possible.

    Args:
        gm: Module to change.

    Returns:
        `gm`.

    Raises:
        GraphEditError: Nodes depend on each other in a ring (ST104); nothing is changed.

    Cost: linear, but for a logarithm of the number of nodes.
    """
    check_graph_module(gm)
    order = _sorted_nodes(gm.graph)
    if order == list(gm.graph.nodes):
        return gm
    graph = gm.graph._blank()
    values: dict[Node, Node] = {}
    for node in order:
        values[node] = graph.node_copy(node, values.__getitem__)
    gm.graph = graph
    return gm


def _sorted_nodes(graph: Graph) -> list[Node]:
    nodes = list(graph.nodes)
    place = {node: index for index, node in enumerate(nodes)}
    waiting = {node: len(node.all_input_nodes) for node in nodes}
    later: dict[Node, list[Node]] = {}
    for before, after in effect_edges(graph):
        later.setdefault(before, []).append(after)
        waiting[after] += 1
    output = [node for node in nodes if node.op == "output"]
    ready = [place[node] for node in nodes if not waiting[node] and node.op != "output"]
    heapq.heapify(ready)
    order: list[Node] = []
    while ready:
        node = nodes[heapq.heappop(ready)]
        order.append(node)
        for follower in (*node.users, *later.get(node, ())):
            waiting[follower] -= 1
            if not waiting[follower] and follower.op != "output":
                heapq.heappush(ready, place[follower])
    if len(order) + len(output) < len(nodes):
        stuck = next(node for node in nodes if waiting[node] and node.op != "output")
        raise GraphEditError("ST104", node=str(next(iter(stuck.all_input_nodes))), user=str(stuck))
    return order + output
