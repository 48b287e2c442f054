"""Random graphs over plain numbers: every kind of argument, dead nodes, names that collide."""

from __future__ import annotations

import operator
import random
from typing import Any

from ..ir import Node
from ..runtime import Graph

__all__ = ["random_graph"]


def total(*values: Any, **named: Any) -> int:
    """Add up all numbers in nested arguments; a slice counts its bounds."""
    result = 0
    pending: list[Any] = [*values, *named.values()]
    while pending:
        value = pending.pop()
        if isinstance(value, int):
            result += value
        elif isinstance(value, slice):
            pending += [value.start, value.stop, value.step]
        elif isinstance(value, dict):
            pending += value.values()
        elif isinstance(value, list | tuple):
            pending += value
    return result % 1_000_003


_OPERATORS = (operator.add, operator.sub, operator.and_, operator.or_, max)


def _argument(choices: random.Random, nodes: list[Node], depth: int) -> Any:
    """Return a node, a constant, or a container of arguments."""
    kind = choices.randrange(4 if depth else 2)
    if kind == 0:
        return choices.randint(-9, 9)
    if kind == 1:
        return choices.choice(nodes)
    items = [_argument(choices, nodes, depth - 1) for _ in range(choices.randint(0, 3))]
    if kind == 2:
        return items if choices.random() < 0.5 else tuple(items)
    if choices.random() < 0.3:
        return slice(*[_argument(choices, nodes, 0) for _ in range(3)])
    return {f"key {i}": item for i, item in enumerate(items)}


def random_graph(choices: random.Random, length: int) -> Graph:
    """Return a random graph over whole numbers.

    Args:
        choices: Where decisions come from; Hypothesis's `randoms()` shrinks well.
        length: Number of computing nodes.

    Returns:
        A graph with one to three inputs and one output, which may be nested.

    >>> graph = random_graph(random.Random(0), 5)
    >>> graph.lint()
    """
    graph = Graph()
    nodes = [graph.placeholder(name) for name in choices.sample(["x", "add", "total"], choices.randint(1, 3))]
    for _ in range(length):
        if choices.random() < 0.5:
            pair = (_argument(choices, nodes, 0), choices.choice(nodes))
            nodes.append(graph.call_function(choices.choice(_OPERATORS), pair))
        else:
            args = tuple(_argument(choices, nodes, 2) for _ in range(choices.randint(0, 2)))
            kwargs = {f"k{i}": _argument(choices, nodes, 2) for i in range(choices.randint(0, 2))}
            nodes.append(graph.call_function(total, args, kwargs))
    graph.output(_argument(choices, nodes, choices.randint(0, 2)))
    return graph
