"""Splitting a module by the tags of its nodes."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ..analysis import effect_edges
from ..ir import Node, map_arg
from ..rewrite.sources import check_graph_module
from ..runtime import Graph, GraphModule
from .errors import PartitionError

__all__ = ["Component", "split_by_tags"]


@dataclass
class Component:
    """The part of a graph that has one tag, while it is being split off.

    Attributes:
        graph: Its graph.
        order: Place of its tag among the tags.
        name: The tag.
        input_placeholders: Its placeholders.
        orig_inputs: The nodes of the original whose values they take.
        orig_outputs: The nodes of the original whose values it returns.
        getattr_maps: Copies of `get_attr` nodes.
        constructor_args: Not used; for compatibility.
        gm: The finished module.
    """

    graph: Graph
    order: int
    name: str
    input_placeholders: list[Node] = field(default_factory=list)
    orig_inputs: list[Node] = field(default_factory=list)
    orig_outputs: list[Node] = field(default_factory=list)
    getattr_maps: dict[Node, Node] = field(default_factory=dict)
    constructor_args: list[str] = field(default_factory=list)
    gm: GraphModule | None = None


def split_by_tags(
    gm: GraphModule,
    tags: Sequence[str],
    return_fqn_mapping: bool = False,
    return_tuple: bool = False,
    GraphModuleCls: type[GraphModule] = GraphModule,
) -> Any:
    """Split a module into one submodule for each tag; the module itself is left as it is.

    Nodes are tagged by an attribute: `node.tag = "main"`. Inputs, outputs and `get_attr` nodes need no tag;
    the latter are copied to where they are used.

    Args:
        gm: Module to split.
        tags: Names of the submodules, in the order in which they run.
        return_fqn_mapping: Return also where modules and attributes have gone.
        return_tuple: Submodules return a tuple also if they have one result only.
        GraphModuleCls: Class of the new modules.

    Returns:
        The module that calls the submodules; with `return_fqn_mapping`, a pair of it and a dict from the
        paths in `gm` to those in the result.

    Raises:
        ArgumentError: `gm` is no GraphModule (ST112).
        PartitionError: A node has no tag or one that is not in `tags`, or the order of the tags does not
        keep the flow
            of values or the order of effects (ST221).
    """
    check_graph_module(gm)
    components = {tag: Component(Graph(), order, tag) for order, tag in enumerate(tags)}
    home = _assign(gm, components)
    split = _Split(gm, components, home)
    split.fill()
    result = split.join(return_tuple, GraphModuleCls)
    return (result, split.paths) if return_fqn_mapping else result


def _assign(gm: GraphModule, components: dict[str, Component]) -> dict[Node, Component]:
    """Return the component of each node that computes something."""
    home: dict[Node, Component] = {}
    for node in gm.graph.nodes:
        if node.op in ("placeholder", "get_attr", "output"):
            continue
        tag = getattr(node, "tag", None)
        if tag not in components:
            raise PartitionError(
                "ST221", what=f"`{node}` has the tag {tag!r}, which is not one of {list(components)}"
            )
        home[node] = components[tag]
    pairs = [(used, node) for node in home for used in node.all_input_nodes if used in home]
    pairs += [(a, b) for a, b in effect_edges(gm.graph) if a in home and b in home]
    for before, after in pairs:
        if home[before].order > home[after].order:
            raise PartitionError(
                "ST221",
                what=f"Component {home[after].name} order must be >= max of its upstream components: `{after}` needs"
                f" `{before}`, whose tag {home[before].name} comes later",
            )
    return home


class _Split:
    """One splitting: values that flow, graphs that fill."""

    def __init__(
        self, gm: GraphModule, components: dict[str, Component], home: dict[Node, Component]
    ) -> None:
        self.gm = gm
        self.components = components
        self.home = home
        self.copies: dict[Node, Node] = {}
        self.paths: dict[str, str] = {}

    def fill(self) -> None:
        """Copy every node into the graph of its component."""
        for node, component in self.home.items():
            self.copies[node] = component.graph.node_copy(node, partial(self._value, component))
            if node.op == "call_module":
                self.paths[node.target] = f"{component.name}.{node.target}"
        for used in _used_by(self.gm.graph.output_node()):
            if used in self.home:
                self._result(used)

    def _value(self, component: Component, used: Node) -> Node:
        """Return what stands for a node of the original in a component."""
        if self.home.get(used) is component:
            return self.copies[used]
        if used.op == "get_attr":
            if used not in component.getattr_maps:
                component.getattr_maps[used] = component.graph.node_copy(used)
                self.paths[used.target] = f"{component.name}.{used.target}"
            return component.getattr_maps[used]
        if used not in component.orig_inputs:
            if used in self.home:
                self._result(used)
            component.orig_inputs.append(used)
            placeholder = component.graph.placeholder(used.name, type_expr=used.type)
            placeholder.meta.update(used.meta)
            placeholder.spec = used.spec
            component.input_placeholders.append(placeholder)
        return component.input_placeholders[component.orig_inputs.index(used)]

    def _result(self, node: Node) -> None:
        outputs = self.home[node].orig_outputs
        if node not in outputs:
            outputs.append(node)

    def join(self, tuples: bool, cls: type[GraphModule]) -> GraphModule:
        """Return the module that calls the components."""
        graph = self.gm.graph._blank()
        values: dict[Node, Node] = {}
        modules: dict[str, Any] = {}
        for node in self.gm.graph.nodes:
            if node.op == "placeholder":
                values[node] = graph.node_copy(node)
        for component in self.components.values():
            results = tuple(self.copies[node] for node in component.orig_outputs)
            component.graph.output(results[0] if len(results) == 1 and not tuples else results)
            component.gm = cls(self.gm, component.graph, class_name=component.name)
            modules[component.name] = component.gm
            call = graph.call_module(component.name, tuple(values[used] for used in component.orig_inputs))
            single = len(results) == 1 and not tuples
            for index, node in enumerate(component.orig_outputs):
                value = call if single else graph.call_function(operator.getitem, (call, index))
                value.meta.update(node.meta)
                value.spec, value.origin = node.spec, node.origin
                values[node] = value
        for used in _used_by(self.gm.graph.output_node()):
            if used.op == "get_attr" and used not in values:
                if used.target.partition(".")[0] in modules:
                    raise PartitionError(
                        "ST221", what=f"the tag `{used.target}` is the name of what is returned, too"
                    )
                values[used] = graph.node_copy(used)
                modules[used.target] = _attribute(self.gm, used.target)
        graph.output(map_arg(self.gm.graph.output_node().args[0], values.__getitem__))
        result = cls(modules, graph, class_name=type(self.gm).__name__)
        result.training = self.gm.training
        result.meta.update(self.gm.meta)
        return result


def _used_by(node: Node) -> list[Node]:
    return node.all_input_nodes


def _attribute(owner: Any, path: str) -> Any:
    for atom in path.split("."):
        owner = getattr(owner, atom)
    return owner
