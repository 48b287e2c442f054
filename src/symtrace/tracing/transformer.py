"""`Transformer`: an Interpreter whose steps make a new graph."""

from __future__ import annotations

from typing import Any, cast

from torch import nn

from ..ir import Node, Region, map_aggregate, regions_of
from ..runtime import Graph, GraphModule, Interpreter
from .proxy import Proxy
from .recording import TracerBase

__all__ = ["Transformer"]


class _TransformerTracer(TracerBase):
    """Records into a new graph; submodules stay one node."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        """Tell whether a module stays one node: here, each does."""
        return True


class Transformer(Interpreter):
    """Makes a changed copy of a module: each step returns a traced value, and a subclass changes the steps.

    Args:
        module: The module to transform; it is left as it is.

    >>> import torch, symtrace
    >>> class Swap(Transformer):
    ...     def call_function(self, target, args, kwargs):
    ...         return super().call_function(torch.neg if target is torch.relu else target, args, kwargs)
    >>> module = symtrace.symbolic_trace(lambda x: torch.relu(x))
    >>> Swap(module).transform()(torch.tensor(3.0))
    tensor(-3.)
    """

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module, garbage_collect_values=False)
        self.new_graph = Graph(tracer_cls=module.graph._tracer_cls, tracer_extras=module.graph._tracer_extras)
        self.new_graph._codegen = module.graph._codegen
        self.new_graph.interned = dict(module.graph.interned)
        self.tracer = _TransformerTracer(self.new_graph)
        self._node: Node | None = None

    def run_node(self, n: Node) -> Any:
        """Run one node on traced values; what it makes gets the metadata of the node."""
        self._node = n
        made_before = self.new_graph._root._prev
        value = self._run_with_regions(n) if regions_of(n) else super().run_node(n)
        self._pass_on(n, made_before, value)
        return value

    def _run_with_regions(self, n: Node) -> Any:
        args, kwargs = self.fetch_args_from_env(n)
        args = tuple(self._transformed(value) if type(value) is Region else value for value in args)
        self._node = n
        return getattr(self, n._op)(n._target, args, kwargs)

    def _transformed(self, region: Region) -> Region:
        """Return a region whose nodes have been run on traced values, in a graph of its own."""
        outer = self.graph, self.env, self.new_graph
        self.graph = cast(Graph, region.graph)
        self.new_graph = self.tracer.graph = Graph(tracer_cls=self.graph._tracer_cls)
        try:
            self._run_to_output()
            return Region(self.new_graph)
        finally:
            self.graph, self.env, self.new_graph = outer
            self.tracer.graph = self.new_graph

    def _pass_on(self, n: Node, made_before: Node, value: Any) -> None:
        made = made_before._next
        while made is not self.new_graph._root:
            if not made._meta and n._meta:
                made._meta = n._meta.copy()
            if made.origin is None or n.origin is not None:
                made.origin = n.origin
            made = made._next

    def _keeps_name(self, node: Node) -> str | None:
        """Return the name of the node that is run, for the first node made for it."""
        return node.name if node.name not in self.new_graph._names else None

    def placeholder(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Add a placeholder."""
        assert self._node is not None
        new = self.new_graph.create_node(
            "placeholder", target, self._node.args, None, self._node.name, self._node.type
        )
        new.kind = self._node.kind
        return Proxy(new, self.tracer)

    def get_attr(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record a read of an attribute."""
        return self._record("get_attr", target, args, kwargs)

    def call_module(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record a call of a submodule."""
        return self._record("call_module", target, args, kwargs)

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record a call of a function."""
        return self._record("call_function", target, args, kwargs)

    def call_method(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record a call of a method."""
        return self._record("call_method", target, args, kwargs)

    def _record(self, op: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        node = self._node
        same = node is not None and node._op == op and node._target is target
        name = self._keeps_name(node) if same and node is not None else None
        return self.tracer.create_proxy(op, target, args, kwargs, name, node._type if same and node else None)

    def transform(self) -> GraphModule:
        """Run the module on traced values.

        Returns:
            A new module with the new graph; submodules and tensors are shared with the old one.
        """
        self._run_to_output()
        return GraphModule(self.module, self.new_graph, type(self.module).__name__)

    def _run_to_output(self) -> None:
        """Run the graph at hand on traced values, and let the new one return what it returns."""
        result = super().run(enable_io_processing=False)
        if self.graph._root._prev.op == "output":

            def strip(value: Any) -> Any:
                return value.node if isinstance(value, Proxy) else value

            self._node = self.graph.output_node()
            made = self.new_graph.create_node(
                "output", "output", (map_aggregate(result, strip),), None, None, self._node.type
            )
            made._meta = self._node._meta.copy() if self._node._meta else None

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        return []
