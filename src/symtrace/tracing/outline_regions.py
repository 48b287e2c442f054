"""What regions read of modules, read outside of them: a function that is taken out has no modules of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..ir import Graph, Node, all_graphs, region_uses, regions_of
from ..ops import program

if TYPE_CHECKING:
    from .watching import Watcher

__all__ = ["all_nodes", "read_outside"]


def all_nodes(nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield nodes, and those of the regions in them."""
    for node in nodes:
        yield node
        for region in regions_of(node):
            for graph in all_graphs(region.graph):
                yield from graph.nodes


def read_outside(tracer: Watcher, nodes: Iterable[Node]) -> bool:
    """Have what the regions of nodes read of modules given to them as operands.

    Args:
        tracer: Records; the nodes are in its graph.
        nodes: The nodes.

    Returns:
        Whether there was anything.
    """
    changed = False
    for node in nodes:
        changed = _lift(tracer, node) or changed
    return changed


def _lift(tracer: Watcher, node: Node) -> bool:
    changed = False
    for use in region_uses(node):
        inner = use.region.graph
        for holder in list(inner.nodes):
            changed = _lift(tracer, holder) or changed
        reads: dict[str, list[Node]] = {}
        for read in list(inner.nodes):
            if read.op == "call_module":
                read = _read_module(tracer, inner, read)
            if read.op == "get_attr":
                reads.setdefault(str(read.target), []).append(read)
        for target, found in reads.items():
            changed = True
            last = [one for one in inner.nodes if one.op == "placeholder"][-1:]
            with inner.inserting_after(last[0] if last else None):
                given = inner.placeholder(f"{found[0].name}_in")
            for read in found:
                read.replace_all_uses_with(given)
                inner.erase_node(read)
            with node.graph.inserting_before(node):
                outer = node.graph.get_attr(target)
            _add_operand(node, use.operands[0], outer)
    return changed


def _read_module(tracer: Watcher, graph: Graph, node: Node) -> Node:
    """Turn the call of a module into a reading of it and a call of that; return the reading."""
    with graph.inserting_before(node):
        module = graph.get_attr(str(node.target))
        called = graph.call_function(program.call, (module, *node.args), dict(node.kwargs))
    called.meta.update(node.meta)
    node.replace_all_uses_with(called)
    graph.erase_node(node)
    return module


def _add_operand(node: Node, place: int, operand: Node) -> None:
    args = list(node.args)
    args[place] = (*args[place], operand)
    node.args = tuple(args)
