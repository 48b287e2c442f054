"""One spelling for equal calls: arguments by keyword, one function for each operator."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch

from ..ir import Graph, Node, all_graphs, map_aggregate
from ..ops import normalize_function, normalize_module
from ..rewrite.sources import check_graph_module
from ..runtime import GraphModule

__all__ = ["NormalizeArgs", "NormalizeOperators"]


class NormalizeArgs:
    """Passes the arguments of functions and modules by keyword, in the order of the signature, with all
    defaults.

    Calls whose signature is not known stay as they are. To choose between overloads, the types of values
    are taken from `node.type` or `node.meta["type"]`.

    Args:
        module: Module to look at.
        normalize_to_only_use_kwargs: Pass everything by keyword; else arguments passed by position stay so.

    Raises:
        ArgumentError: `module` is no GraphModule (ST112).
    """

    def __init__(self, module: GraphModule, normalize_to_only_use_kwargs: bool = True) -> None:
        check_graph_module(module, "module")
        self.module = module
        self.normalize_to_only_use_kwargs = normalize_to_only_use_kwargs

    def transform(self) -> GraphModule:
        """Return a new module with normal arguments; the given one is left as it is.

        Raises:
            AmbiguousOverloadError: The types that are known do not tell which overload is called (ST201).
        """
        graph = self.module.graph._blank()
        values: dict[Node, Node] = {}
        for node in self.module.graph.nodes:
            values[node] = copied = graph.node_copy(node, values.__getitem__)
            self._normalize(node, copied)
        for copied in _inside_regions(graph):
            self._normalize(copied, copied)
        return GraphModule.from_module(self.module, graph, class_name=type(self.module).__name__)

    def _normalize(self, node: Node, copied: Node) -> None:
        normal = self._normal(node, copied)
        if normal is not None:
            copied.args, copied.kwargs = normal

    def _normal(self, node: Node, copied: Node) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
        only = self.normalize_to_only_use_kwargs
        if node.op == "call_module":
            return normalize_module(self.module, node.target, copied.args, dict(copied.kwargs), only)
        if node.op != "call_function":
            return None
        arg_types = map_aggregate(node.args, _type_of)
        kwarg_types = {key: map_aggregate(value, _type_of) for key, value in node.kwargs.items()}
        return normalize_function(
            node.target, copied.args, dict(copied.kwargs), tuple(arg_types), kwarg_types, only
        )


def _type_of(value: Any) -> Any:
    if not isinstance(value, Node):
        return type(value)
    if isinstance(value.type, type):
        return value.type
    known = value.meta.get("type")
    if isinstance(known, type):
        return torch.Tensor if issubclass(known, torch.Tensor) else known
    # Values of a graph are tensors as a rule; where that is wrong, no overload fits and the call stays as
    # it is.
    return torch.Tensor


class NormalizeOperators:
    """Calls `operator.add` and its like instead of `torch.add` where both mean the same.

    Args:
        module: Module to look at.
        annotate_functionals: Not used; for compatibility.
        annotate_modules: Not used; for compatibility.
        annotate_get_attrs: Not used; for compatibility.

    Raises:
        ArgumentError: `module` is no GraphModule (ST112).
    """

    binary_magic_method_remap: dict[Callable[..., Any], Callable[..., Any]] = {
        torch.add: operator.add,
        torch.mul: operator.mul,
        torch.sub: operator.sub,
        torch.div: operator.truediv,
        torch.floor_divide: operator.floordiv,
        torch.remainder: operator.mod,
        torch.eq: operator.eq,
        torch.ne: operator.ne,
        torch.lt: operator.lt,
        torch.le: operator.le,
        torch.gt: operator.gt,
        torch.ge: operator.ge,
    }

    def __init__(
        self,
        module: GraphModule,
        annotate_functionals: bool = True,
        annotate_modules: bool = True,
        annotate_get_attrs: bool = True,
    ) -> None:
        check_graph_module(module, "module")
        self.module = module

    def transform(self) -> GraphModule:
        """Return a new module with one spelling for each operator; the given one is left as it is."""
        graph = self.module.graph._blank()
        values: dict[Node, Node] = {}
        for node in self.module.graph.nodes:
            values[node] = graph.node_copy(node, values.__getitem__)
        for copied in [*graph.nodes, *_inside_regions(graph)]:
            if copied.op != "call_function" or copied.target not in self.binary_magic_method_remap:
                continue
            operands = _two_operands(copied)
            if operands is not None:
                copied.target = self.binary_magic_method_remap[copied.target]
                copied.args, copied.kwargs = operands, {}
        return GraphModule.from_module(self.module, graph, class_name=type(self.module).__name__)


def _inside_regions(graph: Graph) -> list[Node]:
    return [node for inner in all_graphs(graph) if inner is not graph for node in inner.nodes]


def _two_operands(node: Node) -> tuple[Any, ...] | None:
    """Return the operands of a call if it has two and nothing else."""
    named = dict(node.kwargs)
    if (
        named.pop("alpha", 1) != 1
        or named.pop("rounding_mode", None) is not None
        or named.pop("out", None) is not None
    ):
        return None
    operands = (*node.args, *(named.pop(name) for name in ("input", "other") if name in named))
    return operands if len(operands) == 2 and not named else None
