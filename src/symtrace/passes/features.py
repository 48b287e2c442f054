"""Extracting the values of inner nodes: a model that returns its features by name."""

from __future__ import annotations

import copy
import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from torch import nn

from ..analysis import Class, EffectAnalysis
from ..ir import Node, all_graphs, regions_of
from ..ops.tables import INPLACE_OPERATORS
from ..rewrite.sources import graph_of
from ..runtime import Graph, GraphModule
from .bring_out import bring_out
from .errors import PassError

__all__ = ["FeatureExtractor", "extract_features", "feature_names"]

_Wanted = Mapping[str, str] | Iterable[str]


class FeatureExtractor(GraphModule):
    """A module that returns features by name, and may run another graph in training than in evaluation.

    Attributes:
        graphs: The graph for each mode; both are the same where the modes do not differ.
    """

    graphs: dict[bool, Graph]

    def train(self, mode: bool = True) -> FeatureExtractor:
        """Switch between training and evaluation, and to the graph of that mode."""
        super().train(mode)
        graphs = self.__dict__.get("graphs")
        if graphs is not None and graphs[mode] is not self.graph:
            self.graph = graphs[mode]
        return self


def feature_names(model: Any) -> tuple[list[str], list[str]]:
    """Return the names of all nodes of a model, in training and in evaluation mode, in the order in which they run.

    A module that is not looked into gives its path (`layer1.0.conv1`); an operation gives the path of the module whose
    forward runs it, and its own name (`layer1.0.add`). What comes again gets a number (`layer1.0.relu_1`).

    Args:
        model: A module. It is left as it is.

    Raises:
        TraceError: It can't be captured.

    >>> import torch
    >>> feature_names(torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.ReLU()))[1]
    ['input', '0', '1']
    """
    graphs = _captured(model)
    return tuple(list(_names(graphs[mode].graph)) for mode in (True, False))  # type: ignore[return-value]


def extract_features(
    model: Any,
    nodes: _Wanted | None = None,
    train_nodes: _Wanted | None = None,
    eval_nodes: _Wanted | None = None,
) -> FeatureExtractor:
    """Return a module that runs a model as far as is needed, and returns a dict of inner values.

    It shares the parameters with the model. A feature inside a decision is None where the other way is taken; inside a
    loop it is that of the last round. What does not contribute to a feature is not run. A feature that the
    model writes to later is returned as it was when it was computed.

    Args:
        model: A module, or a GraphModule. It is left as it is.
        nodes: Names as `feature_names` gives them, or the path of a module for what it computes last. A mapping
            gives the features other names in the result.
        train_nodes: Names in training mode, if they differ.
        eval_nodes: Names in evaluation mode, if they differ.

    Raises:
        PassError: A name stands for nothing (ST245).
        TraceError: The model can't be captured.

    >>> import torch
    >>> extractor = extract_features(torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Flatten()), {"0": "relu"})
    >>> extractor(-torch.ones(1, 2))
    {'relu': tensor([[0., 0.]])}
    """
    captured = _captured(model)
    wanted = {True: _mapping(train_nodes, nodes), False: _mapping(eval_nodes, nodes)}
    found = {mode: _select(captured[mode].graph, wanted[mode], mode) for mode in (True, False)}
    known: dict[Node, Node] = {}
    for mode in (True, False):
        _brought_out(captured[mode].graph, found[mode], known)
    brought = set(known.values())
    one = captured[True] is captured[False] and wanted[True] == wanted[False]
    graphs: dict[bool, Graph] = {}
    for mode in (True, False):
        if one and graphs:
            graphs[mode] = graphs[not mode]
        else:
            graphs[mode] = _cut(captured[mode].graph, found[mode], brought)
    _keep_apart(captured, graphs)
    training = model.training if isinstance(model, nn.Module) else False
    result = FeatureExtractor.from_module(captured[False], graphs[False], class_name="FeatureExtractor")
    result._set_interned(
        graphs[True],
        {node.target for graph in all_graphs(graphs[True]) for node in graph.nodes if node.op == "get_attr"},
    )
    assert isinstance(result, FeatureExtractor)
    result.__dict__["graphs"] = graphs
    _prune(result, graphs.values())
    return result.train(training)


def _mapping(own: _Wanted | None, common: _Wanted | None) -> dict[str, str]:
    wanted = common if own is None else own
    if wanted is None:
        return {}
    if isinstance(wanted, str):
        return {wanted: wanted}
    return dict(wanted) if isinstance(wanted, Mapping) else {name: name for name in wanted}


def _captured(model: Any) -> dict[bool, GraphModule]:
    """Return the captures in training and evaluation; one object if they are the same program."""
    if isinstance(model, GraphModule):
        return dict.fromkeys((True, False), copy.copy(model))
    if not isinstance(model, nn.Module):
        _, traced = graph_of("model", model)
        assert isinstance(traced, GraphModule)
        return dict.fromkeys((True, False), traced)
    modes = [(part, part.training) for part in model.modules()]
    found: dict[bool, GraphModule] = {}
    try:
        for mode in (True, False):
            model.train(mode)
            _, traced = graph_of("model", model)
            assert isinstance(traced, GraphModule)
            found[mode] = traced
    finally:
        for part, mode in modes:
            part.training = mode
    from ..visualize import diff

    if not diff(found[True].graph, found[False].graph) and not found[True].graph.interned:
        found[True] = found[False]
    return found


def _names(graph: Graph) -> dict[str, Node]:
    """Return the nodes of a graph by their names as features, in order."""
    found: dict[str, Node] = {}
    counts: dict[str, int] = {}
    for node in _in_order(graph):
        path = node.origin.module_path if node.origin is not None else ""
        if node.op == "call_module":
            name = node.target
        else:
            base = _base_name(node)
            name = f"{path}.{base}" if path and node.op != "placeholder" else base
        number = counts.get(name, 0)
        counts[name] = number + 1
        found[f"{name}_{number}" if number else name] = node
    return found


def _in_order(graph: Graph) -> Iterator[Node]:
    """Yield the nodes of a graph as they run, what regions run behind the node that has them."""
    stack: list[Iterator[Node]] = [iter(graph.nodes)]
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
        elif node.op != "output" and not (node.op == "placeholder" and len(stack) > 1):
            yield node
            stack += [iter(region.graph.nodes) for region in reversed(regions_of(node))]


def _base_name(node: Node) -> str:
    """Return what an operation is called: `x += y` and `x + y` are both `add`."""
    target = node.target
    if not isinstance(target, str):
        name = str(getattr(target, "__name__", node.name))
        return name[1:] if target in INPLACE_OPERATORS and name not in ("setitem", "delitem") else name
    return target.replace(".", "_").lstrip("*")


def _select(graph: Graph, wanted: Mapping[str, str], mode: bool) -> dict[str, Node]:
    """Return the nodes that are asked for, by the names that they get in the result."""
    names = _names(graph)
    found: dict[str, Node] = {}
    for query, label in wanted.items():
        node = names.get(query)
        if node is None:
            inside = [n for name, n in names.items() if name.startswith(f"{query}.")]
            if not inside:
                nearest = ", ".join(difflib.get_close_matches(query, names, 4)) or "none"
                raise PassError(
                    "ST245", name=query, mode="training" if mode else "evaluation", nearest=nearest
                )
            node = inside[-1]
        found[label] = node
    return found


def _brought_out(graph: Graph, found: dict[str, Node], known: dict[Node, Node]) -> dict[str, Node]:
    """Return nodes of the graph itself that have the values of features, some of which are in regions."""
    for label, node in found.items():
        if node.graph is not graph:
            if node not in known:
                known[node] = bring_out(node, graph)
            found[label] = known[node]
    return found


def _cut(graph: Graph, features: Mapping[str, Node], brought: set[Node]) -> Graph:
    """Return the part of a graph that computes the features; those that were brought out are copies where need be."""
    analysis = EffectAnalysis(graph)
    kept = _needed(graph, analysis, set(features.values()))
    own = [node for node in features.values() if node not in brought]
    written = {node: _is_written_later(analysis, node, kept) for node in own}
    result = graph._blank()
    values: dict[Node, Node] = {}
    taken: dict[Node, Node] = {}
    for node in graph.nodes:
        if node not in kept and node.op != "placeholder":
            continue
        values[node] = result.node_copy(node, values.__getitem__)
        if written.get(node):
            taken[node] = result.call_method("clone", (values[node],))
    result.output({label: taken.get(node, values[node]) for label, node in features.items()})
    return result  # type: ignore[return-value]


def _is_written_later(analysis: EffectAnalysis, feature: Node, kept: set[Node]) -> bool:
    """Return whether a node behind `feature` may write to its storage."""
    family, stack = {feature}, [feature]
    is_external = False
    while stack:
        node = stack.pop()
        effect = analysis.effect(node)
        is_external |= node.op in ("placeholder", "get_attr") or effect.impure
        near = [user for user in node.users if user in kept and analysis.effect(user).returns_alias]
        near += node.all_input_nodes if effect.returns_alias else []
        for other in near:
            if other not in family:
                family.add(other)
                stack.append(other)
    for other in kept:
        effect = analysis.effect(other)
        if not feature < other or not (effect.mutates or effect.impure):
            continue
        if is_external and analysis.writes(other) & {None}:
            return True
        if any(used in family for used in other.all_input_nodes):
            return True
    return False


def _needed(graph: Graph, analysis: EffectAnalysis, features: set[Node]) -> set[Node]:
    """Return the nodes that features are computed from, and the writes that come in front of a use."""
    needed = set(features)
    live: set[Class] = set()
    for node in reversed(graph.nodes):
        effect = analysis.effect(node)
        own_state_only = effect.writes_state and not (effect.mutates or effect.impure)
        writes = not own_state_only and bool(analysis.writes(node) & live)
        if node.op != "output" and (node in needed or writes or effect.barrier or (effect.check and needed)):
            needed.add(node)
            needed.update(node.all_input_nodes)
            live |= analysis.reads(node)
    return {node for node in needed if node.op != "output"}


def _keep_apart(captured: Mapping[bool, GraphModule], graphs: Mapping[bool, Graph]) -> None:
    """Give what only one of two captures holds from outside a name of its own."""
    if graphs[True] is graphs[False]:
        return
    mine, others = graphs[True].interned, graphs[False].interned
    for name in [name for name in mine if name in others and mine[name] is not others[name]]:
        number = 1
        while f"{name}_train_{number}" in mine or hasattr(captured[False], f"{name}_train_{number}"):
            number += 1
        fresh = f"{name}_train_{number}"
        mine[fresh] = mine.pop(name)
        for node in (node for graph in all_graphs(graphs[True]) for node in graph.nodes):
            if node.op in ("get_attr", "call_module") and node.target.partition(".")[0] == name:
                node.target = fresh + node.target[len(name) :]


def _prune(module: GraphModule, graphs: Iterable[Graph]) -> None:
    """Remove the modules that no graph refers to."""
    used: set[str] = set()
    for graph in graphs:
        for node in (node for inner in all_graphs(graph) for node in inner.nodes):
            if node.op in ("call_module", "get_attr"):
                atoms = node.target.split(".")
                used.update(".".join(atoms[:count]) for count in range(1, len(atoms) + 1))
                if node.op == "call_module":
                    used.update(
                        f"{node.target}.{name}"
                        for name, _ in module.get_submodule(node.target).named_modules()
                    )
    tables: dict[int, nn.Module] = {}
    for name, part in list(module.named_modules(remove_duplicate=False)):
        tables[id(part)] = part
        if name and name not in used:
            module.delete_submodule(name)
