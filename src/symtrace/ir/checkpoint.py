"""Going back to an earlier state of a graph, with the very nodes that it had."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base.names import Namespace
from .region import regions_of

if TYPE_CHECKING:
    from .graph import Graph
    from .node import Node

__all__ = ["Checkpoint"]

_SLOTS = ("_op", "_target", "_args", "_kwargs", "_name", "_type", "_order", "spec", "origin", "kind")


class Checkpoint:
    """A graph as it stands now.

    Args:
        graph: Graph to come back to.

    Cost: linear, as are `restore` and `differs`.

    >>> from symtrace.ir import Graph
    >>> graph = Graph()
    >>> x = graph.placeholder("x")
    >>> before = Checkpoint(graph)
    >>> graph.erase_node(x)
    >>> before.restore()
    >>> list(graph.nodes)
    [x]
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.version = graph.version
        self.cursor = graph._cursor
        self._settings = {
            key: dict(value) if isinstance(value, dict) else value
            for key, value in graph._extra_state().items()
        }
        self._namespace = Namespace(())
        self._namespace.adopt(graph._namespace)
        self._saved = [(node, _slots(node), _copied(node)) for node in graph.nodes]
        self._regions = [
            Checkpoint(region.graph)
            for node in graph.nodes
            if node._op == "call_function" and len(node._args) > 3
            for region in regions_of(node)
        ]

    def nodes(self) -> list[Node]:
        """Return the nodes that the graph had, in order."""
        return [node for node, _, _ in self._saved]

    def differs(self) -> bool:
        """Return whether the graph computes something else now; names, types and metadata aside."""
        graph = self.graph
        if graph.version == self.version:
            return False
        if len(graph.nodes) != len(self._saved):
            return True
        for node, (known, slots, _) in zip(graph.nodes, self._saved, strict=True):
            if node is not known or node._op != slots[0] or node._target is not slots[1]:
                return True
            if not (_same(node._args, slots[2]) and _same(node._kwargs, slots[3])):
                return True
        return any(region.differs() for region in self._regions)

    def restore(self) -> None:
        """Make the graph what it was: the same nodes with the same arguments, names and metadata."""
        graph = self.graph
        mine = {node for node, _, _ in self._saved}
        for node in list(graph.nodes):
            if node not in mine:
                node._users = None
                node._order = -1
        previous = graph._root
        graph._names.clear()
        graph._inputs.clear()
        for node, slots, (meta, users, extra) in self._saved:
            for name, value in zip(_SLOTS, slots, strict=True):
                setattr(node, name, value)
            node._meta = None if meta is None else dict(meta)
            node._users = dict(users) if type(users) is dict else users
            node.__dict__.clear()
            node.__dict__.update(extra)
            node._prev, previous._next = previous, node
            graph._names[node._name] = node
            if node._op == "placeholder":
                graph._inputs.add(node._target)
            previous = node
        previous._next, graph._root._prev = graph._root, previous
        graph._index = None
        graph._namespace.adopt(self._namespace)
        graph._cursor = self.cursor
        graph._count = len(self._saved)
        graph._set_extra_state(self._settings)
        for region in self._regions:
            region.restore()
        graph._touch("settings_changed")


def _slots(node: Node) -> tuple[Any, ...]:
    return (
        node._op,
        node._target,
        node._args,
        node._kwargs,
        node._name,
        node._type,
        node._order,
        node.spec,
        node.origin,
        node.kind,
    )


def _copied(node: Node) -> tuple[Any, Any, dict[str, Any]]:
    """Return what is changed in place: metadata, users, attributes that passes have set."""
    users = node._users
    meta = None if node._meta is None else dict(node._meta)
    return meta, dict(users) if type(users) is dict else users, dict(node.__dict__)


def _same(left: Any, right: Any) -> bool:
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    if isinstance(left, tuple | list):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    return isinstance(left, bool | int | str | type(None)) and bool(left == right)
