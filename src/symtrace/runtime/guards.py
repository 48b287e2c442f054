"""The guards of a graph: what capture assumed, and what is checked at each call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..diagnostics import Location
from ..ir import Graph, Node
from ..ops import effects, program

__all__ = ["Guard", "guards_of", "remove_guards"]


@dataclass(frozen=True)
class Guard:
    """An assumption that is checked at each call.

    Attributes:
        condition: The assumption in words, as the user might have written it.
        expected: The value that was seen at capture.
        location: The user's line that made it, if one did.
        node: The node that checks it.
    """

    condition: str
    expected: Any
    location: Location | None
    node: Node

    def __str__(self) -> str:
        where = f"  ({self.location})" if self.location is not None else ""
        return f"{self.condition}{where}"


def guards_of(graph: Graph) -> tuple[Guard, ...]:
    """Return the guards of a graph in the order in which they are checked."""
    found = []
    for node in graph.nodes:
        if node.target is program.guard:
            _, expected, condition, *place = node.args
            location = Location(place[0], place[1]) if place else None
            found.append(Guard(condition, expected, location, node))
    return tuple(found)


def remove_guards(graph: Graph) -> int:
    """Erase the guards of a graph, and what only they used.

    Returns:
        How many there were.
    """
    guards = guards_of(graph)
    for guard in guards:
        checked = guard.node.all_input_nodes
        graph.erase_node(guard.node)
        while checked:
            node = checked.pop()
            if node.users or node.op not in ("call_function", "call_method"):
                continue
            if effects(node.op, node.target, node.args, node.kwargs).is_pure:
                checked.extend(node.all_input_nodes)
                graph.erase_node(node)
    return len(guards)
