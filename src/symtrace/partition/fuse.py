"""Replacing sets of nodes by calls of modules that run them."""

from __future__ import annotations

import operator
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

from torch import nn

from ..ir import Node, outermost
from ..rewrite.sources import check_graph_module
from ..runtime import Graph, GraphModule
from .errors import PartitionError
from .stages import order_stages

__all__ = [
    "erase_nodes",
    "fuse_as_graphmodule",
    "fuse_by_partitions",
    "insert_subgm",
    "topo_sort",
    "validate_partition",
]


def topo_sort(nodes: Sequence[Node]) -> list[Node]:
    """Return nodes of one graph in the order of that graph."""
    return sorted(nodes)


def validate_partition(partition: Iterable[Node]) -> bool:
    """Return whether nodes can run as one: no way from one to another leads outside."""
    members = set(partition)
    if not members:
        return True
    last = max(members)
    outside = {user for node in members for user in node.users if user not in members}
    stack, seen = list(outside), set(outside)
    while stack:
        node = stack.pop()
        if node in members:
            return False
        for user in node.users:
            if user not in seen and user <= last:
                seen.add(user)
                stack.append(user)
    return True


def fuse_as_graphmodule(
    gm: GraphModule,
    nodes: Sequence[Node],
    module_name: str,
    partition_lookup_table: Mapping[Node, Any] | None = None,
    *,
    always_return_tuple: bool = False,
) -> tuple[GraphModule, tuple[Node, ...], tuple[Node, ...]]:
    """Return a module that runs some nodes of another; that one is left as it is.

    Args:
        gm: Module that the nodes belong to.
        nodes: Nodes to run, in the order of the graph.
        module_name: Name of the class of the new module.
        partition_lookup_table: Not used; for compatibility.
        always_return_tuple: Return a tuple also if there is one result only.

    Returns:
        The new module, the nodes that it takes as inputs, and the nodes whose values it returns.

    Raises:
        PartitionError: A node is not in the graph, or the nodes can't run as one (ST221).
    """
    members = dict.fromkeys(nodes)
    for node in members:
        if node.graph is not nodes[0].graph or outermost(node.graph) is not gm.graph or node.erased:
            raise PartitionError("ST221", what=f"`{node}` is not in the graph of the module")
    if not validate_partition(members):
        names = ", ".join(str(node) for node in members)
        raise PartitionError(
            "ST221", what=f"Invalid partition, found dependency cycles: {names} can't run as one"
        )
    graph = Graph()
    inputs: dict[Node, None] = {}
    for node in members:
        inputs.update(dict.fromkeys(used for used in node.all_input_nodes if used not in members))
    values: dict[Node, Node] = {}
    for used in inputs:
        values[used] = graph.placeholder(used.name, type_expr=used.type)
        values[used].meta.update(used.meta)
        values[used].spec = used.spec
    for node in members:
        values[node] = graph.node_copy(node, values.__getitem__)
    outputs = tuple(node for node in members if any(user not in members for user in node.users))
    results = tuple(values[node] for node in outputs)
    graph.output(results[0] if len(results) == 1 and not always_return_tuple else results)
    return GraphModule(gm, graph, class_name=module_name), tuple(inputs), outputs


def insert_subgm(
    gm: GraphModule,
    sub_gm: GraphModule,
    orig_inputs: tuple[Node, ...],
    orig_outputs: tuple[Node, ...],
    insertion_point: Node | None = None,
) -> GraphModule:
    """Call a module of fused nodes in the graph and give its results to the users of the original ones.

    Args:
        gm: Module to change.
        sub_gm: Module to call; it is registered under the name of its class, or a free one like it.
        orig_inputs: Nodes to pass.
        orig_outputs: Nodes whose users take the results instead.
        insertion_point: The call is put behind this node; by default, in front of the first user of a result.

    Returns:
        `gm`.
    """
    name = free_name(gm, sub_gm.__class__.__name__)
    gm.add_submodule(name, sub_gm)
    if insertion_point is None:
        users = [user for node in orig_outputs for user in node.users]
        graph = min(users).graph if users else gm.graph
        where = graph.inserting_before(min(users) if users else graph.output_node())
    else:
        graph = insertion_point.graph
        where = graph.inserting_after(insertion_point)
    with where:
        call = graph.call_module(name, orig_inputs)
        output = sub_gm.graph.output_node().args[0]
        if not isinstance(output, tuple):
            _take_over(orig_outputs[0], call)
            return gm
        for index, node in enumerate(orig_outputs):
            _take_over(node, graph.call_function(operator.getitem, (call, index)))
    if all("val" in node.meta for node in orig_outputs):
        call.meta["val"] = tuple(node.meta["val"] for node in orig_outputs)
    return gm


def free_name(module: nn.Module, name: str, taken: Collection[str] = ()) -> str:
    """Return `name`, or a name like it that is neither an attribute of `module` nor in `taken`."""
    number, found = 0, name
    while found in taken or hasattr(module, found):
        number += 1
        found = f"{name}_{number}"
    return found


def _take_over(old: Node, new: Node) -> None:
    """Let the users of `old` behind `new` use `new`."""
    new.meta.update(old.meta)
    new.spec, new.origin, new.type = old.spec, old.origin, old.type
    old.replace_all_uses_with(new, delete_user_cb=lambda user: user > new)


def erase_nodes(gm: GraphModule, nodes: Sequence[Node]) -> None:
    """Erase nodes, those behind first.

    Raises:
        GraphEditError: One of them is still used (ST103).
    """
    for node in sorted(nodes, reverse=True):
        node.graph.erase_node(node)


def fuse_by_partitions(
    gm: GraphModule,
    partitions: Sequence[Mapping[Node, Any]],
    prefix: str = "fused_",
    always_return_tuple: bool = False,
    *,
    graph: Graph | None = None,
) -> GraphModule:
    """Replace each partition by a call of a module that runs it, in the module itself.

    Args:
        gm: Module to change.
        partitions: Sets of nodes; the keys of a mapping.
        prefix: Start of the names of the new modules: `<prefix>0`, `<prefix>1`, ..., or free names like
            these.
        always_return_tuple: Modules return a tuple also if they have one result only.
        graph: The graph of a region of `gm`, if the partitions are of that.

    Returns:
        `gm`.

    Raises:
        PartitionError: A partition is empty or shares a node with another (ST221), or the partitions depend
        on each
            other in a ring (ST220); nothing is changed.
    """
    check_graph_module(gm)
    whole: Graph = gm.graph if graph is None else graph
    members = _checked(whole, partitions)
    order = order_stages(whole, members)
    _bring_into_order(whole, order, members)
    for index, nodes in enumerate(partitions):
        members_in_order = sorted(nodes)
        module, inputs, outputs = fuse_as_graphmodule(
            gm, members_in_order, f"{prefix}{index}", always_return_tuple=always_return_tuple
        )
        insert_subgm(gm, module, inputs, outputs, members_in_order[-1])
        erase_nodes(gm, members_in_order)
    return gm


def _checked(graph: Graph, partitions: Sequence[Mapping[Node, Any]]) -> dict[Node, Hashable]:
    """Return the stage of each node: the number of its partition, or the node itself."""
    stage_of: dict[Node, Hashable] = {n: n for n in graph.nodes if n.op not in ("placeholder", "output")}
    for index, nodes in enumerate(partitions):
        if not nodes:
            raise PartitionError("ST221", what=f"partition {index} is empty")
        for node in nodes:
            if node not in stage_of:
                raise PartitionError("ST221", what=f"`{node}` can't be in a partition of this graph")
            if stage_of[node] is not node:
                raise PartitionError("ST221", what=f"`{node}` is in two partitions")
            stage_of[node] = index
    return stage_of


def _bring_into_order(graph: Graph, order: Sequence[Hashable], stage_of: Mapping[Node, Hashable]) -> None:
    """Move the nodes so that those of each stage stand together, stage by stage."""
    nodes: dict[Hashable, list[Node]] = {}
    for node, stage in stage_of.items():
        nodes.setdefault(stage, []).append(node)
    wanted = [node for stage in order for node in nodes[stage]]
    anchor = graph.output_node()
    for node in reversed(wanted):
        if anchor.prev is not node:
            anchor.prepend(node)
        anchor = node
