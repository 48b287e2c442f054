"""Splitting a module into stages that are modules themselves."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from torch import nn

from ..analysis import EffectAnalysis
from ..ir import Node, map_arg
from ..rewrite.sources import check_graph_module
from ..runtime import Graph, GraphModule
from .fuse import free_name
from .stages import order_stages

__all__ = ["split_module"]


@dataclass
class _Stage:
    """One stage while it is being built.

    Attributes:
        name: Name of the submodule.
        nodes: The nodes that it runs.
        inputs: Nodes of other stages, inputs and attributes that it uses.
        outputs: Its nodes that others use.
    """

    name: str
    nodes: list[Node] = field(default_factory=list)
    inputs: dict[Node, None] = field(default_factory=dict)
    outputs: dict[Node, None] = field(default_factory=dict)


def split_module(
    m: GraphModule,
    root_m: nn.Module | None,
    split_callback: Callable[[Node], Any],
    qualname_map: dict[str, str] | None = None,
    keep_original_order: bool | None = False,
    keep_original_node_name: bool | None = False,
    keep_original_input_name: bool = True,
    *,
    partition_affix: str | None = None,
    tuple_return: bool = False,
    own_attributes: bool = False,
) -> GraphModule:
    """Split a module into stages, each a module of its own, and return a module that calls them one by one.

    The stages run in an order that keeps both the flow of values and the order of effects: a stage that
    writes to a tensor runs behind those that read it first.

    Args:
        m: Module to split; it is left as it is.
        root_m: Not used; for compatibility.
        split_callback: Called with each node that computes something; returns its stage.
        qualname_map: Receives, for each module of a stage, its path in the result and its path in `m`.
        keep_original_order: Not used: stages follow the order of `m` as far as their dependencies allow.
        keep_original_node_name: Nodes keep their names in the stages.
        keep_original_input_name: Inputs of stages are called like the values that they take; else `arg_0`,
        ...
        partition_affix: Text put into the names of stages: `submod_<affix>_<stage>`.
        tuple_return: Stages return a tuple also if they have one result only.
        own_attributes: A parameter or buffer that one stage alone reads belongs to that stage; else the result reads
            it and gives it to the stage, as in `torch.fx`.

    Returns:
        A module with one submodule for each stage: `submod_<stage>`, or a free name if that is taken in `m`.

    Raises:
        ArgumentError: `m` is no GraphModule (ST112).
        PartitionError: No order of the stages keeps what has to be kept (ST220).
    """
    check_graph_module(m, "m")
    stage_of: dict[Node, Hashable] = {}
    for node in m.graph.nodes:
        if node.op == "get_attr":
            stage_of[node] = node
        elif node.op not in ("placeholder", "output"):
            stage_of[node] = str(split_callback(node))
    if own_attributes and not EffectAnalysis(m.graph).sets_attributes:
        _give_attributes(m.graph, stage_of)
    order = order_stages(m.graph, stage_of)
    prefix = "submod" if partition_affix is None else f"submod_{partition_affix}"
    stages = _collect(m, stage_of, [key for key in order if not isinstance(key, Node)], prefix)
    build = _Builder(m, bool(keep_original_node_name), keep_original_input_name, tuple_return)
    return build.top(order, stages, qualname_map)


def _give_attributes(graph: Graph, stage_of: dict[Node, Hashable]) -> None:
    """Put each attribute into the stage that reads it, where it is one and the attribute is read there alone."""
    readers: dict[Any, set[Hashable]] = {}
    nodes = [node for node in graph.nodes if node.op == "get_attr"]
    for node in nodes:
        readers.setdefault(node.target, set()).update(stage_of.get(user) for user in node.users)
    for node in nodes:
        stages = readers[node.target]
        if len(stages) == 1 and None not in stages:
            (stage_of[node],) = stages


def _collect(
    m: GraphModule, stage_of: dict[Node, Hashable], order: list[Hashable], prefix: str
) -> dict[Hashable, _Stage]:
    """Return the stages with what flows between them."""
    stages: dict[Hashable, _Stage] = {}
    taken: set[str] = set()
    for key in order:
        name = free_name(m, f"{prefix}_{key}", taken)
        taken.add(name)
        stages[key] = _Stage(name)
    for node in m.graph.nodes:
        mine = stages.get(stage_of.get(node))
        if mine is not None:
            mine.nodes.append(node)
        for used in node.all_input_nodes:
            theirs = stages.get(stage_of.get(used))
            if theirs is mine and mine is not None:
                continue
            if mine is not None:
                mine.inputs[used] = None
            if theirs is not None:
                theirs.outputs[used] = None
    return stages


class _Builder:
    """Builds the graphs of the stages and of the module that calls them."""

    def __init__(self, m: GraphModule, keep_names: bool, keep_input_names: bool, tuples: bool) -> None:
        self.m = m
        self.keep_names = keep_names
        self.keep_input_names = keep_input_names
        self.tuples = tuples

    def stage(self, stage: _Stage) -> GraphModule:
        """Return the module of one stage."""
        graph = Graph(tracer_cls=self.m.graph._tracer_cls)
        values: dict[Node, Node] = {}
        for index, used in enumerate(stage.inputs):
            name = used.name if self.keep_input_names else f"arg_{index}"
            values[used] = graph.placeholder(name, type_expr=used.type)
            _copy_facts(used, values[used])
        for node in stage.nodes:
            values[node] = self._copy(graph, node, values)
        results = tuple(values[node] for node in stage.outputs)
        graph.output(results[0] if len(results) == 1 and not self.tuples else results)
        module = GraphModule(self.m, graph, class_name="GraphModule")
        module.training = self.m.training
        return module

    def _copy(self, graph: Graph, node: Node, values: dict[Node, Node]) -> Node:
        copied = graph.create_node(
            node.op,
            node.target,
            map_arg(node.args, values.__getitem__),
            map_arg(dict(node.kwargs), values.__getitem__),
            name=node.name if self.keep_names else None,
            type_expr=node.type,
        )
        _copy_facts(node, copied)
        return copied

    def top(
        self, order: list[Hashable], stages: dict[Hashable, _Stage], qualname_map: dict[str, str] | None
    ) -> GraphModule:
        """Return the module that calls the stages."""
        m = self.m
        graph = m.graph._blank()
        values: dict[Node, Node] = {}
        modules: dict[str, Any] = {}
        for node in m.graph.nodes:
            if node.op == "placeholder":
                values[node] = graph.node_copy(node)
        for key in order:
            if isinstance(key, Node):
                values[key] = graph.node_copy(key)
                modules[key.target] = _attribute(m, key.target)
                continue
            stage = stages[key]
            modules[stage.name] = self.stage(stage)
            call = graph.call_module(stage.name, tuple(values[used] for used in stage.inputs))
            self._results(graph, stage, call, values)
            if qualname_map is not None:
                for node in stage.nodes:
                    if node.op == "call_module":
                        qualname_map[f"{stage.name}.{node.target}"] = node.target
        output = m.graph.output_node()
        copied = graph.output(map_arg(output.args[0], values.__getitem__), output.type)
        _copy_facts(output, copied)
        result = GraphModule(modules, graph, class_name=type(m).__name__)
        result.training = m.training
        result.meta.update(m.meta)
        return result

    def _results(self, graph: Graph, stage: _Stage, call: Node, values: dict[Node, Node]) -> None:
        if len(stage.outputs) == 1 and not self.tuples:
            (node,) = stage.outputs
            values[node] = call
            _copy_facts(node, call)
            return
        for index, node in enumerate(stage.outputs):
            values[node] = graph.call_function(operator.getitem, (call, index), type_expr=node.type)
            _copy_facts(node, values[node])


def _copy_facts(node: Node, copied: Node) -> None:
    """Give a node that has the value of another all that is known of that one."""
    copied.meta.update(node.meta)
    copied.spec = node.spec
    copied.origin = node.origin


def _attribute(owner: Any, path: str) -> Any:
    for atom in path.split("."):
        owner = getattr(owner, atom)
    return owner
