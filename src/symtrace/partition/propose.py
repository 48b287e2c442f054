"""Proposing partitions: as few as possible of the nodes that a backend supports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from ..analysis import effect_edges
from ..ir import Node
from ..passes.operator_support import OperatorSupportBase, qualified_name
from ..rewrite.sources import check_graph_module
from ..runtime import GraphModule
from .fuse import fuse_by_partitions
from .partition import Partition

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CapabilityBasedPartitioner"]

_NON_COMPUTE = frozenset({"torch.ops.aten.view", "_operator.getitem"})


class CapabilityBasedPartitioner:
    """Groups the supported nodes of a module into partitions that can run as one call each.

    Args:
        graph_module: Module to partition.
        operator_support: Tells which nodes are supported.
        allows_single_node_partition: Keep partitions with one computing node.
        non_compute_ops: Qualified names of functions that do not count as computing.
        allowed_single_node_partition_ops: Qualified names of functions that are worth a partition of their
        own.
        skip_horizontal_fusion: Group only nodes that are connected.

    Raises:
        ArgumentError: `graph_module` is no GraphModule (ST112).
    """

    def __init__(
        self,
        graph_module: GraphModule,
        operator_support: OperatorSupportBase,
        allows_single_node_partition: bool = False,
        non_compute_ops: Sequence[str] | None = None,
        allowed_single_node_partition_ops: Sequence[str] | None = None,
        skip_horizontal_fusion: bool = False,
    ) -> None:
        check_graph_module(graph_module, "graph_module")
        self.graph_module = graph_module
        self.operator_support = operator_support
        self.allows_single_node_partition = allows_single_node_partition
        self.non_compute_ops: Sequence[str] = [] if non_compute_ops is None else non_compute_ops
        self.allowed_single_node_partition_ops: Sequence[str] = allowed_single_node_partition_ops or []
        self.skip_horizontal_fusion = skip_horizontal_fusion

    def propose_partitions(self) -> list[Partition]:
        """Return partitions of the supported nodes, those nearest to the output first.

        No two of them depend on each other in a ring, neither by values nor by the order of effects.

        Cost: linear in nodes and edges.
        """
        nodes = list(self.graph_module.graph.nodes)
        modules = dict(self.graph_module.named_modules())
        supported = {node for node in nodes if self._is_supported(modules, node)}
        levels = self._levels(nodes, supported)
        groups = self._groups(nodes, levels)
        _follow_producers(nodes, groups)
        partitions: dict[int, Partition] = {}
        for place, node in enumerate(reversed(nodes)):
            if node in groups:
                partition = partitions.setdefault(groups[node], Partition(id=groups[node]))
                partition.add_node(node, place)
        kept = [partitions[key] for key in sorted(partitions)]
        return [partition for partition in kept if self._is_worthwhile(partition)]

    def _is_supported(self, modules: Mapping[str, object], node: Node) -> bool:
        if node.op in ("placeholder", "output"):
            return False
        return self.operator_support.is_node_supported(modules, node)  # type: ignore[arg-type]

    def _levels(self, nodes: Sequence[Node], supported: set[Node]) -> dict[Node, int]:
        """Return how many changes between supported and other nodes come behind each supported node at least.

        Nodes of one level never depend on each other through a node that is not supported.
        """
        later: dict[Node, list[Node]] = {}
        for before, after in effect_edges(self.graph_module.graph):
            later.setdefault(before, []).append(after)
        levels: dict[Node, int] = {}
        for node in reversed(nodes):
            followers = (*node.users, *later.get(node, ()))
            step = 0 if node in supported else 1
            levels[node] = max((levels[f] + step * (f in supported) for f in followers), default=0)
        return {node: level for node, level in levels.items() if node in supported}

    def _groups(self, nodes: Sequence[Node], levels: dict[Node, int]) -> dict[Node, int]:
        """Return the number of the partition of each supported node."""
        if not self.skip_horizontal_fusion:
            return levels
        parent = {node: node for node in levels}

        def find(node: Node) -> Node:
            while parent[node] is not node:
                parent[node] = parent[parent[node]]
                node = parent[node]
            return node

        for node in levels:
            for user in node.users:
                if levels.get(user) == levels[node]:
                    parent[find(node)] = find(user)
        numbers: dict[Node, int] = {}
        return {
            node: numbers.setdefault(find(node), len(numbers)) for node in reversed(nodes) if node in levels
        }

    def _is_worthwhile(self, partition: Partition) -> bool:
        if self.allows_single_node_partition:
            return True
        idle = _NON_COMPUTE | self._idle()
        names = [qualified_name(node.target) for node in partition.nodes if node.op == "call_function"]
        if any(name in self.allowed_single_node_partition_ops for name in names):
            return True
        return sum(name not in idle for name in names) > 1

    def _idle(self) -> set[str]:
        # Python's operators are known under either spelling.
        return {f"_{name}" if name.startswith("operator.") else name for name in self.non_compute_ops}

    def remove_bookend_non_compute_ops(self, partitions: list[Partition]) -> None:
        """Take nodes that do not compute off the beginning and the end of partitions.

        Args:
            partitions: Partitions to change.
        """
        for partition in partitions:
            for follow in (_inputs, _users):
                for node in self._bookends(partition, follow):
                    partition.remove_node(node)

    def _bookends(self, partition: Partition, follow: Callable[[Node], Iterable[Node]]) -> list[Node]:
        """Return the idle nodes from which no computing node of the partition can be reached."""
        idle = self._idle()
        found: set[Node] = set()
        for node in sorted(partition.nodes, reverse=follow is _users):
            is_idle = node.op == "call_function" and qualified_name(node.target) in idle
            if is_idle and all(other not in partition.nodes or other in found for other in follow(node)):
                found.add(node)
        return [node for node in partition.nodes if node in found]

    def fuse_partitions(self, partitions: list[Partition], prefix: str = "fused_") -> GraphModule:
        """Replace each partition by a call of a module that runs it, in the module itself.

        Args:
            partitions: Partitions of the module.
            prefix: Start of the names of the new modules.

        Returns:
            The module.

        Raises:
            PartitionError: The partitions depend on each other in a ring (ST220); nothing is changed.
        """
        return fuse_by_partitions(
            self.graph_module, [partition.nodes for partition in partitions], prefix=prefix
        )

    def partition_and_fuse(self, prefix: str = "fused_") -> GraphModule:
        """Propose partitions and fuse them."""
        return self.fuse_partitions(self.propose_partitions(), prefix)


def _inputs(node: Node) -> Iterable[Node]:
    return node.all_input_nodes


def _users(node: Node) -> Iterable[Node]:
    return node.users


def _follow_producers(nodes: Sequence[Node], groups: dict[Node, int]) -> None:
    """Put items of a result of several values into the partition of the node that computes it."""
    for node in nodes:
        users = list(node.users)
        if not users or not all(
            u.op == "call_function" and qualified_name(u.target) == "_operator.getitem" for u in users
        ):
            continue
        for user in users:
            if node in groups:
                groups[user] = groups[node]
            else:
                groups.pop(user, None)
