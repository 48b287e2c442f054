"""Folding: what depends on parameters and constants alone is computed once."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from ..analysis import EffectAnalysis
from ..ir import Node, all_graphs, needed_for
from ..rewrite.sources import graph_of
from ..runtime import Graph, GraphModule

__all__ = ["FoldedGraphModule", "get_unique_attr_name_in_module", "split_const_subgraphs"]

Predicate = Callable[[Node], bool]


class FoldedGraphModule(GraphModule):
    """A module that computes its constant part when it is first called and keeps the result.

    Args:
        root: Where targets are found.
        graph: The part that runs at each call; it reads the results of the other by `get_attr`.
        const_subgraph: The constant part, or None.
        fx_const_folded_attrs_name: Name under which its results are kept.
        device_for_folded_attrs: Not used: results stay on the device on which they are computed.

    Attributes:
        const_subgraph_module: The constant part as a module, or None.
        has_folding_been_run: Whether the results are there.
    """

    def __init__(
        self,
        root: nn.Module,
        graph: Graph,
        const_subgraph: Graph | None = None,
        fx_const_folded_attrs_name: str | None = None,
        device_for_folded_attrs: str = "cuda",
    ) -> None:
        targets = dict.fromkeys(
            n.target for part in all_graphs(graph) for n in part.nodes if n.op in ("get_attr", "call_module")
        )
        found = {t: _attribute(root, t) for t in targets if t != fx_const_folded_attrs_name}
        if fx_const_folded_attrs_name is not None:
            found[fx_const_folded_attrs_name] = nn.Parameter(torch.empty(0), requires_grad=False)
        super().__init__(found, graph, class_name="FoldedGraphModule")
        self.training = root.training
        self.const_subgraph_module = None if const_subgraph is None else GraphModule(root, const_subgraph)
        self.has_folding_been_run = False
        self.fx_const_folded_attrs_name = fx_const_folded_attrs_name
        self.device_for_folded_attrs = device_for_folded_attrs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the graph; the first call computes the constant part."""
        if not self.has_folding_been_run:
            self.run_folding()
        return super().__call__(*args, **kwargs)

    def run_folding(self) -> None:
        """Compute the constant part and keep its results.

        Call it again after parameters have changed.
        """
        if self.const_subgraph_module is None or self.fx_const_folded_attrs_name is None:
            self.has_folding_been_run = True
            return
        results = self.const_subgraph_module()
        name = self.fx_const_folded_attrs_name
        if name in self._parameters or name in self._modules:
            delattr(self, name)
        if isinstance(results, torch.Tensor):
            setattr(self, name, _parameter(results))
        else:
            setattr(self, name, nn.ParameterList(_parameter(value) for value in results))
        self.has_folding_been_run = True


def _parameter(value: torch.Tensor) -> nn.Parameter:
    floating = value.is_floating_point() or value.is_complex()
    return nn.Parameter(value.detach().clone(), requires_grad=value.requires_grad and floating)


def _attribute(owner: Any, path: str) -> Any:
    for atom in path.split("."):
        owner = getattr(owner, atom)
    return owner


def get_unique_attr_name_in_module(mod_traced: nn.Module, name: str) -> str:
    """Return a name like `name` that is a Python identifier and free in a module.

    Args:
        mod_traced: The module.
        name: Wanted name.

    >>> get_unique_attr_name_in_module(nn.Linear(1, 1), "weight")
    'weight_1'
    """
    stem = "".join(c if c.isalnum() or c == "_" else "_" for c in name)
    if not stem or stem[0].isdigit():
        stem = f"_{stem}"
    found, number = stem, 0
    while hasattr(mod_traced, found):
        number += 1
        found = f"{stem}_{number}"
    return found


def split_const_subgraphs(
    module: nn.Module,
    skip_folding_node_fn: Predicate | None = None,
    device_for_folded_attrs: str = "cpu",
    is_impure_node: Predicate | None = None,
) -> FoldedGraphModule:
    """Return a module that computes once what depends on parameters and constants alone.

    Folded are computations without effects whose results are never written to and not returned. The results
    are computed at the first call; `run_folding` computes them again.

    Args:
        module: A module; one that is no GraphModule is traced. It is left as it is.
        skip_folding_node_fn: Nodes for which it returns True are not folded.
        device_for_folded_attrs: Not used: results stay on the device on which they are computed.
        is_impure_node: Nodes for which it returns True are not folded either.

    Raises:
        TraceError: The module can't be traced.
    """
    graph, owner = graph_of("module", module)
    assert owner is not None
    skips = [predicate for predicate in (skip_folding_node_fn, is_impure_node) if predicate is not None]
    const = _constant_nodes(graph, lambda node: any(skip(node) for skip in skips))
    results = [n for n in const if n.op != "get_attr" and any(user not in const for user in n.users)]
    name = get_unique_attr_name_in_module(owner, "_FX_CONST_FOLDED_ATTRS") if results else None
    folded = _const_graph(const, results) if results else None
    return FoldedGraphModule(owner, _rest(graph, const, results, name), folded, name, device_for_folded_attrs)


def _constant_nodes(graph: Any, is_skipped: Predicate) -> dict[Node, None]:
    """Return the nodes whose values are the same at each call, in order."""
    analysis = EffectAnalysis(graph)
    returned = {analysis.alias_class(node) for node in graph.output_node().all_input_nodes}
    const: dict[Node, None] = {}
    for node in graph.nodes:
        if node.op in ("placeholder", "output") or is_skipped(node):
            continue
        if not all(used in const for used in node.all_input_nodes) or analysis.is_written(node):
            continue
        if node.op == "get_attr":
            if isinstance(_find(graph, node.target), torch.Tensor):
                const[node] = None
            continue
        escapes = analysis.alias_class(node) in returned
        foldable = analysis.effect(node).is_pure and _is_tensor_call(node)
        if foldable and not escapes and not _reads_written(analysis, node):
            const[node] = None
    return const


def _reads_written(analysis: EffectAnalysis, node: Node) -> bool:
    reads = node.op == "call_module" or analysis.reads_modules(node)
    if reads and None in {c for n in analysis.effectful for c in analysis.writes(n)}:
        return True
    return any(analysis.is_written(used) for used in node.all_input_nodes)


def _is_tensor_call(node: Node) -> bool:
    """Return False for calls that give sizes and other numbers, and for those that give no values at all."""
    if node.op == "call_method":
        return node.target not in ("size", "dim", "numel", "item", "tolist", "stride")
    return node.target is not getattr and "empty" not in getattr(node.target, "__name__", "")


def _find(graph: Any, path: str) -> Any:
    found = graph.owning_module
    for atom in path.split("."):
        found = getattr(found, atom, None)
    return found


def _const_graph(const: dict[Node, None], results: list[Node]) -> Graph:
    """Return the graph that computes `results`."""
    needed = needed_for(results)
    graph = Graph()
    values: dict[Node, Node] = {}
    for node in const:
        if node in needed:
            values[node] = graph.node_copy(node, values.__getitem__)
    outputs = tuple(values[node] for node in results)
    graph.output(outputs[0] if len(outputs) == 1 else outputs)
    return graph


def _rest(graph: Any, const: dict[Node, None], results: list[Node], name: str | None) -> Graph:
    """Return the graph that runs at each call."""
    rest: Graph = graph._blank()
    values: dict[Node, Node] = {}
    for node in graph.nodes:
        if node in const and (node.op != "get_attr" or all(user in const for user in node.users)):
            continue
        if node.op != "placeholder" and results and name is not None and results[0] not in values:
            _read_results(rest, results, name, values)
        values[node] = rest.node_copy(node, values.__getitem__)
    return rest


def _read_results(rest: Graph, results: list[Node], name: str, values: dict[Node, Node]) -> None:
    read = rest.create_node("get_attr", name)
    for index, node in enumerate(results):
        value = read if len(results) == 1 else rest.call_function(operator.getitem, (read, index))
        value.meta.update(node.meta)
        value.spec, value.origin, value.type = node.spec, node.origin, node.type
        values[node] = value
