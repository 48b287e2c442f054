"""Which nodes a backend gets when only tensors may pass between it and the rest, under the spellings of `torch.fx`."""

from __future__ import annotations

from ..ir import Node
from ..passes.operator_support import CALLABLE_NODE_OPS, OperatorSupportBase
from ..passes.tools_common import is_node_output_tensor
from ..rewrite.sources import check_graph_module
from ..runtime import GraphModule

__all__ = ["FxNetAccNodesFinder"]


class FxNetAccNodesFinder:
    """Finds the nodes that a backend gets.

    Args:
        module: A module whose nodes have `meta["type"]`, as `ShapeProp` notes it.
        operator_support: Tells which nodes are supported.
        allow_non_tensor: Values of any kind may pass between the backend and the rest; else nodes that give the rest
            something else than a tensor, or get it from there, are left out, although they are supported.
    """

    def __init__(
        self, module: GraphModule, operator_support: OperatorSupportBase, allow_non_tensor: bool
    ) -> None:
        check_graph_module(module, "module")
        self.module = module
        self.operator_support = operator_support
        self.allow_non_tensor = allow_non_tensor
        self.acc_nodes: set[Node] = set()

    def __call__(self) -> set[Node]:
        """Return the nodes."""
        modules = dict(self.module.named_modules())
        self.acc_nodes = {
            node
            for node in self.module.graph.nodes
            if node.op in CALLABLE_NODE_OPS and self.operator_support.is_node_supported(modules, node)
        }
        if not self.allow_non_tensor:
            self._leave_out()
        return self.acc_nodes

    def _leave_out(self) -> None:
        """Leave nodes out until only tensors pass."""
        waiting = list(self.acc_nodes)
        while waiting:
            node = waiting.pop()
            if node not in self.acc_nodes or not self._passes_others(node):
                continue
            self.acc_nodes.discard(node)
            waiting += [other for other in (*node.users, *node.all_input_nodes) if other in self.acc_nodes]

    def _passes_others(self, node: Node) -> bool:
        """Tell whether something else than a tensor passes between a node and the rest; inputs may be anything."""
        if not is_node_output_tensor(node) and not self.acc_nodes.issuperset(node.users):
            return True
        return any(
            used.op in CALLABLE_NODE_OPS and used not in self.acc_nodes and not is_node_output_tensor(used)
            for used in node.all_input_nodes
        )
