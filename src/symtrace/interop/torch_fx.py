"""torch.fx graphs and modules from ours, and ours from theirs, without loss."""

from __future__ import annotations

from typing import Any

import torch.fx
from torch import nn

from ..errors import ArgumentError
from ..ir import Node, map_arg
from ..runtime import Graph, GraphModule
from .torch_fx_codegen import from_torch_codegen, to_torch_codegen

__all__ = ["from_torch_fx", "from_torch_graph", "to_torch_fx", "to_torch_graph"]

_OWN_FACTS = "symtrace"
"""Key in a torch.fx node's `meta` for what only our nodes have; taken off on the way back."""

_MACHINERY = frozenset(
    {
        "_graph",
        "_code",
        "_lineno_map",
        "_prologue_start",
        "_tracer_cls",
        "_tracer_extras",
        "_replace_hooks",
        "_create_node_hooks",
        "_erase_node_hooks",
        "_deepcopy_hooks",
        "shape_env",
        "_in_spec",
        "_out_spec",
        "_compiled",
        "_unsubscribe",
        "_source",
        "meta",
    }
)
"""Attributes with which either kind of GraphModule does its work; everything else belongs to the user."""


def _check(value: object, cls: type, what: str, expected: str) -> None:
    if not isinstance(value, cls):
        raise ArgumentError("ST112", what=what, expected=expected, actual=type(value).__name__)


# ---------------------------------------------------------------------- to torch.fx


def to_torch_graph(graph: Graph) -> torch.fx.Graph:
    """Return a `torch.fx.Graph` with the same nodes.

    Names, targets, arguments, types and metadata are the same; the way arguments are taken and results are
    given is kept. Metadata dicts are copied, the values in them shared.

    Raises:
        ArgumentError: ST112, `graph` is no symtrace Graph.

    Cost: linear.
    """
    _check(graph, Graph, "graph", "a symtrace Graph")
    result = torch.fx.Graph()
    place: dict[Node, torch.fx.Node] = {}
    kinds: dict[str, str] = {}
    for node in graph.nodes:
        args = map_arg(node.args, place.__getitem__)
        kwargs = map_arg(dict(node.kwargs), place.__getitem__)
        new = result.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        if new.name != node.name:
            # torch.fx avoids names of builtins; the name is free here, since names are unique on our side
            # as well.
            new.name = node.name
        new.meta = dict(node.meta)
        facts = {
            key: getattr(node, key) for key in ("kind", "spec", "origin") if getattr(node, key) is not None
        }
        if facts:
            new.meta[_OWN_FACTS] = facts
        if node.kind is not None:
            kinds[str(node.target)] = node.kind
        place[node] = new
    result.set_codegen(to_torch_codegen(graph._codegen, kinds))
    return result


def to_torch_fx(module: GraphModule) -> torch.fx.GraphModule:
    """Return a `torch.fx.GraphModule` that computes the same, on the same parameters, buffers and modules.

    Args:
        module: The captured module.

    Returns:
        A module for passes and compilers that expect torch.fx. Submodules and tensors are shared with
        `module`; attributes that the original module had are there too.

    Raises:
        ArgumentError: ST112, `module` is no symtrace GraphModule.

    Cost: linear.

    >>> import torch
    >>> graph = Graph()
    >>> x = graph.placeholder("x")
    >>> result = graph.output(graph.call_function(torch.relu, (x,)))
    >>> theirs = to_torch_fx(GraphModule(torch.nn.Module(), graph))
    >>> isinstance(theirs, torch.fx.GraphModule)
    True
    >>> print(theirs.graph)
    graph():
        %x : [num_users=1] = placeholder[target=x]
        %relu : [num_users=1] = call_function[target=torch.relu](args = (%x,), kwargs = {})
        return relu
    """
    _check(module, GraphModule, "module", "a symtrace GraphModule")
    graph = to_torch_graph(module.graph)
    result = torch.fx.GraphModule(nn.Module(), torch.fx.Graph(), type(module).__name__)
    _share_state(module, result)
    result.meta.update(module.meta)
    result.graph = graph
    return result


# ---------------------------------------------------------------------- from torch.fx


def from_torch_graph(graph: torch.fx.Graph) -> Graph:
    """Return a symtrace `Graph` with the nodes of a `torch.fx.Graph`; the opposite of `to_torch_graph`.

    Raises:
        ArgumentError: ST112, `graph` is no torch.fx Graph.
        GraphEditError: The graph breaks an invariant, for instance it uses a node before it is defined.

    Cost: linear.
    """
    _check(graph, torch.fx.Graph, "graph", "a torch.fx.Graph")
    result = Graph()
    place: dict[torch.fx.Node, Node] = {}
    lookup: Any = place.__getitem__
    for node in graph.nodes:
        args: Any = torch.fx.map_arg(node.args, lookup)
        kwargs: Any = torch.fx.map_arg(node.kwargs, lookup)
        new = result.create_node(node.op, node.target, tuple(args), dict(kwargs), node.name, node.type)
        meta = dict(node.meta)
        for key, value in meta.pop(_OWN_FACTS, {}).items():
            setattr(new, key, value)
        if meta:
            new.meta = meta
        place[node] = new
    result.set_codegen(from_torch_codegen(graph._codegen))
    return result


def from_torch_fx(module: torch.fx.GraphModule) -> GraphModule:
    """Return a symtrace `GraphModule` that computes what a `torch.fx.GraphModule` does; the opposite of
    `to_torch_fx`.

    Args:
        module: From `torch.fx.symbolic_trace`, `make_fx`, `torch.export`'s `module()`, a compiler's backend …

    Returns:
        A captured module that shares submodules and tensors with `module`.

    Raises:
        ArgumentError: ST112, `module` is no torch.fx GraphModule.
        GraphEditError: Its graph breaks an invariant.

    Cost: linear.

    >>> import torch
    >>> ours = from_torch_fx(torch.fx.symbolic_trace(lambda x: torch.relu(x)))
    >>> ours(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    _check(module, torch.fx.GraphModule, "module", "a torch.fx.GraphModule")
    graph = from_torch_graph(module.graph)
    result = GraphModule(nn.Module(), Graph(), type(module).__name__)
    _share_state(module, result)
    for key in ("_in_spec", "_out_spec"):
        if key in module.__dict__:
            result.__dict__[key] = module.__dict__[key]
    result.meta.update(module.meta)
    result.graph = graph
    return result


def _share_state(source: nn.Module, target: nn.Module) -> None:
    """Give `target` everything that is registered in or set on `source`, in tables of its own."""
    for key, value in source.__dict__.items():
        if key not in _MACHINERY:
            target.__dict__[key] = value.copy() if isinstance(value, dict | set) else value
