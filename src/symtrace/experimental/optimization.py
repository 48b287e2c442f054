"""FX's spelling of passes for inference: fusing, removing dropout, taking out subgraphs."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any

from torch import nn

from ..errors import ArgumentError
from ..ir import Node
from ..passes.dropout import remove_dropout as _remove_dropout
from ..passes.errors import PassError
from ..passes.fuse_conv_bn import fuse_conv_bn
from ..passes.standard import EVALUATION, optimize
from ..runtime import Graph, GraphModule
from ..tracing import Tracer, symbolic_trace

__all__ = [
    "UnionFind",
    "extract_subgraph",
    "fuse",
    "matches_module_pattern",
    "optimize_for_inference",
    "remove_dropout",
    "replace_node_module",
]


def matches_module_pattern(pattern: Iterable[type], node: Node, modules: Mapping[str, nn.Module]) -> bool:
    """Return whether a node and what feeds it are calls of modules of exactly these classes.

    Args:
        pattern: Classes, the one that is called first in front.
        node: The last call.
        modules: Modules by their paths.
    """
    first, second = pattern
    if not node.args:
        return False
    pairs = ((node.args[0], first), (node, second))
    return all(
        isinstance(call, Node) and call.op == "call_module" and type(modules.get(call.target)) is kind
        for call, kind in pairs
    )


def replace_node_module(node: Node, modules: MutableMapping[str, nn.Module], new_module: nn.Module) -> None:
    """Put a module in the place of the one that a node calls.

    Args:
        node: The call.
        modules: Modules by their paths; changed accordingly.
        new_module: The module to put there.
    """
    parent, _, name = node.target.rpartition(".")
    modules[node.target] = new_module
    setattr(modules[parent], name, new_module)


def fuse(model: nn.Module, inplace: bool = False, no_trace: bool = False) -> GraphModule:
    """Fold batch normalisations into the convolutions and linear layers in front of them.

    A layer that is used elsewhere too stays as it is there.

    Args:
        model: Model in evaluation mode.
        inplace: Share the layers that are not fused with `model` instead of copying them.
        no_trace: `model` is a GraphModule already.

    Returns:
        The fused model.

    Raises:
        PassError: A pair is in training mode (ST235).
        TraceError: The model can't be traced.
    """
    source = model if inplace else copy.deepcopy(model)
    gm = _graph_module(source) if no_trace else symbolic_trace(source)
    fuse_conv_bn(gm)
    return gm


def remove_dropout(model: nn.Module) -> GraphModule:
    """Return a model without dropout layers.

    Args:
        model: A model; it is left as it is.
    """
    gm = copy.deepcopy(model) if isinstance(model, GraphModule) else symbolic_trace(model)
    _remove_dropout(gm)
    return gm


_STEPS = {"conv_bn_fuse": "fuse-conv-bn", "remove_dropout": "remove-dropout"}
_LAYOUT = "mkldnn_layout_optimize"


def optimize_for_inference(
    model: nn.Module, pass_config: Mapping[str, Any] | None = None, tracer: type[Tracer] = Tracer
) -> GraphModule:
    """Return a model for inference: `symtrace.optimize` under the spelling of torch.fx.

    Args:
        model: Model in evaluation mode; it is left as it is.
        pass_config: Switches: `conv_bn_fuse` and `remove_dropout` may be False. `mkldnn_layout_optimize`, a dict or
            False, changes nothing: convolutions choose their layout themselves.
        tracer: Class of the tracer to use.

    Raises:
        ArgumentError: A switch is not known, or of a wrong kind (ST112).
        PassError: The model is in training mode (ST235).
        TraceError: The model can't be traced.

    >>> import torch
    >>> model = nn.Sequential(nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2), nn.Dropout()).eval()
    >>> [node.target for node in optimize_for_inference(model).graph.nodes]
    ['input', '0', 'output']
    """
    config = dict(pass_config or {})
    for name, value in config.items():
        known = name == _LAYOUT and (value is False or isinstance(value, Mapping))
        if not known and not (name in _STEPS and isinstance(value, bool)):
            expected = f"True or False for {', '.join(_STEPS)}, a dict or False for {_LAYOUT}"
            raise ArgumentError("ST112", what="pass_config", expected=expected, actual=f"{name}: {value!r}")
    if model.training:
        raise PassError("ST235", module=type(model).__name__)
    without = {_STEPS[name] for name in _STEPS if config.get(name) is False}
    passes = ",".join(name for name in EVALUATION.split(",") if name.partition("{")[0] not in without)
    own = tracer()
    graph = own.trace(copy.deepcopy(model))
    gm = GraphModule(own.root, graph, type(model).__name__)
    return optimize(gm, evaluation=True, passes=passes, inplace=True)


def _graph_module(model: nn.Module) -> GraphModule:
    if not isinstance(model, GraphModule):
        kind = type(model).__name__
        raise ArgumentError("ST112", what="model", expected="a GraphModule when no_trace is set", actual=kind)
    return model


def extract_subgraph(
    orig_module: nn.Module, nodes: list[Node], inputs: list[Node], outputs: list[Node]
) -> GraphModule:
    """Return a module that runs some nodes of another.

    Args:
        orig_module: Module that the nodes belong to.
        nodes: Nodes to run, in order.
        inputs: Nodes whose values it takes.
        outputs: Nodes whose values it returns.
    """
    graph = Graph()
    values: dict[Node, Node] = {}
    for used in inputs:
        values[used] = graph.placeholder(used.name)
    for node in nodes:
        values[node] = graph.node_copy(node, values.__getitem__)
    graph.output([values[node] for node in outputs])
    return GraphModule(orig_module, graph)


class UnionFind:
    """Sets of numbers that are joined bit by bit.

    Args:
        n: Numbers go from 0 to `n - 1`.
    """

    def __init__(self, n: int) -> None:
        self.parent: list[int | None] = [None] * n
        self.size = [0] * n

    def make_set(self, v: int) -> None:
        """Make a set of `v` alone."""
        self.parent[v] = v
        self.size[v] = 1

    def find(self, v: int) -> int:
        """Return the number that stands for the set of `v`."""
        root = v
        while (above := self._above(root)) != root:
            root = above
        while v != root:
            self.parent[v], v = root, self._above(v)
        return root

    def _above(self, v: int) -> int:
        above = self.parent[v]
        if above is None:
            raise ValueError(f"{v} is in no set; call make_set({v}) first")
        return above

    def join(self, a: int, b: int) -> int:
        """Join the sets of `a` and `b`; return the number that stands for both."""
        a, b = self.find(a), self.find(b)
        if a == b:
            return a
        if self.size[a] < self.size[b]:
            a, b = b, a
        self.parent[b] = a
        self.size[a] += self.size[b]
        return a
