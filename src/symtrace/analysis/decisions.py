"""What is decided before a program runs: training flags of modules, and what follows from them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ..ir import Graph, Node, RegionUse, map_arg, region_uses
from ..ops.control_flow import cond, torch_cond

__all__ = ["Decisions"]

Flag = Callable[[Node], "bool | None"]


class Decisions:
    """The values of a graph that follow from flags alone, and the ways that are taken because of them.

    Args:
        graph: The graph.
        flag: Gives what a `get_attr` node reads if that is a flag whose value is to be assumed, else None.

    Attributes:
        values: For each node that is decided, its value.
        taken: For each `cond` whose predicate is decided, the region that runs.

    Cost: linear.
    """

    def __init__(self, graph: Graph, flag: Flag) -> None:
        self.values: dict[Node, Any] = {}
        self.taken: dict[Node, RegionUse] = {}
        for node in graph.nodes:
            if node.op == "get_attr":
                value = flag(node)
                if value is not None:
                    self.values[node] = value
            elif node.op == "call_function" and self.values:
                self._call(node)

    def known(self, value: Any) -> bool:
        """Return whether a value, a literal or a node, is decided."""
        return not isinstance(value, Node) or value in self.values

    def value(self, value: Any) -> Any:
        """Return a decided value, with what is decided in a tree of arguments in the place of nodes."""
        return map_arg(value, lambda node: self.values.get(node, node))

    def _call(self, node: Node) -> None:
        if node.target in (cond, torch_cond):
            predicate = self.value(node.args[0])
            if isinstance(predicate, bool):
                self.taken[node] = region_uses(node)[0 if predicate else 1]
        elif node.target is operator.not_ and node.args[0] in self.values:
            self.values[node] = not self.values[node.args[0]]  # type: ignore[index]
        elif node.target is operator.getitem and node.args[0] in self.taken:
            result = self._result(*node.args)
            if isinstance(result, bool):
                self.values[node] = result

    def _result(self, node: Any, index: Any) -> Any:
        """Return a result of a decision if it is a literal, or an operand that is decided; else a node."""
        use = self.taken[node]
        result = use.region.graph.output_node().args[0][index]  # type: ignore[index]
        if isinstance(result, Node) and result.op == "placeholder":
            inputs = [inner for inner in use.region.graph.nodes if inner.op == "placeholder"]
            return self.value(use.inputs[inputs.index(result)])
        return result
