"""Who refers to which path of a module."""

from __future__ import annotations

from collections.abc import Iterator

from ..ir import Graph, all_graphs

__all__ = ["References"]


class References:
    """How often the nodes of a graph refer to each path.

    A node that refers to a module refers to what is in it as well. Kept up to date by `add` and `remove`, so that
    a pass that replaces many modules stays linear.

    Args:
        graph: The graph of the whole program; the regions in it count too.
    """

    def __init__(self, graph: Graph) -> None:
        self._exact: dict[str, int] = {}
        self._below: dict[str, int] = {}
        for node in (node for inner in all_graphs(graph) for node in inner.nodes):
            if node.op in ("call_module", "get_attr"):
                self.add(node.target)

    def add(self, path: str, count: int = 1) -> None:
        """Count a node that refers to `path`."""
        self._exact[path] = self._exact.get(path, 0) + count
        for above in _above(path):
            self._below[above] = self._below.get(above, 0) + count

    def remove(self, path: str) -> None:
        """Count off a node that referred to `path`."""
        self.add(path, -1)

    def count(self, path: str) -> int:
        """Return how many nodes refer to `path`, to something in it, or to something that it is in."""
        around = sum(self._exact.get(above, 0) for above in _above(path))
        return self._exact.get(path, 0) + self._below.get(path, 0) + around


def _above(path: str) -> Iterator[str]:
    while (dot := path.rfind(".")) >= 0:
        path = path[:dot]
        yield path
