"""A set of nodes that belong together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..ir import Node

__all__ = ["Partition"]


class Partition:
    """A set of nodes that belong together, in the order in which they were added.

    Args:
        id: Number of the partition, or None.
        nodes: Nodes to start with.
        node_orders: A place in the graph for each of `nodes`, if known.

    Attributes:
        id: Number of the partition, or None.
        nodes: Maps each node to its place in the graph, or to None.
    """

    def __init__(
        self,
        id: int | None = None,
        nodes: Iterable[Node] | None = None,
        node_orders: Iterable[int] | None = None,
    ) -> None:
        self.id = id
        members = list(nodes or ())
        orders: Iterable[int | None] = [None] * len(members) if node_orders is None else list(node_orders)
        self.nodes: dict[Node, int | None] = dict(zip(members, orders, strict=True))

    def add_node(self, node: Node, node_order: int | None = None) -> None:
        """Add a node."""
        self.nodes[node] = node_order

    def remove_node(self, node: Node) -> None:
        """Remove a node.

        Raises:
            KeyError: It is not in the partition.
        """
        del self.nodes[node]

    def size(self) -> int:
        """Return the number of nodes."""
        return len(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def __contains__(self, node: object) -> bool:
        return node in self.nodes

    def __repr__(self) -> str:
        return str(self.nodes)
