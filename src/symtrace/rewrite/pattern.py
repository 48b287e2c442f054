"""Patterns: graphs prepared for matching."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from ..analysis import node_effect
from ..errors import PatternError
from ..ir import Graph, Node
from ..ops.canonical import Call, call_form, head_of, same_literal
from ..ops.module_functions import functional_form
from ..ops.normalize import bind
from ..ops.program import guard
from ..ops.schemas import Signature, python_signature
from .wildcard import WILDCARD, is_wildcard, wildcard_call

__all__ = ["Pattern", "call_of", "head", "is_node", "output_nodes", "resolve", "same_configuration"]


def is_node(value: Any) -> bool:
    """Return whether `value` is a node."""
    return isinstance(value, Node)


def resolve(owner: Any, target: str) -> Any:
    """Return what stands at a dotted path of `owner`, or None."""
    for atom in target.split("."):
        owner = getattr(owner, atom, None)
        if owner is None:
            return None
    return owner


def head(node: Node, normalize: bool) -> Hashable:
    """Return what `node` must have in common with a pattern node to be compared with it at all."""
    op = node.op
    if op in ("call_function", "call_method"):
        return head_of(op, node.target, normalize)
    if op == "call_module":
        module = resolve(node.graph.owning_module, node.target)
        form = functional_form(module) if normalize else None
        if form is not None:
            return head_of("call_function", form[0], normalize)
        return (op, node.target) if module is None else (op, type(module))
    if op == "get_attr":
        return (op, type(resolve(node.graph.owning_module, node.target)))
    return op


def call_of(node: Node, normalize: bool) -> Call:
    """Return the operands of `node` in the form in which they are compared."""
    op = node.op
    if op in ("call_function", "call_method"):
        return call_form(op, node.target, node.args, node.kwargs, normalize, is_node)
    if op == "call_module":
        form = functional_form(resolve(node.graph.owning_module, node.target)) if normalize else None
        if form is not None:
            function, settings = form
            return call_form(
                "call_function", function, node.args, {**node.kwargs, **settings}, normalize, is_node
            )
        bound = _module_arguments(node)
        if bound is not None:
            return Call(op, ((0, tuple(bound.values())),))
    if op in ("get_attr", "placeholder"):
        return Call(op, ((0, ()),))
    names = tuple(sorted(node.kwargs))
    return Call(op, ((-1, (node.args, names, *(node.kwargs[name] for name in names))),))


def _module_arguments(node: Node) -> dict[str, Any] | None:
    module = resolve(node.graph.owning_module, node.target)
    signature = None if module is None else python_signature(type(module).forward)
    if signature is None:
        return None
    return bind(Signature(signature.parameters[1:], signature.text), node.args, node.kwargs)


def same_configuration(left: torch.nn.Module, right: torch.nn.Module) -> bool:
    """Return whether two modules are of one class and were built with the same settings.

    Values of parameters and buffers and the training flag are left out of account.
    """
    pairs = [(left, right)]
    while pairs:
        one, other = pairs.pop()
        if one is other:
            continue
        if type(one) is not type(other) or not _same_settings(one, other):
            return False
        children, others = dict(one.named_children()), dict(other.named_children())
        if children.keys() != others.keys():
            return False
        pairs += [(child, others[name]) for name, child in children.items()]
    return True


def _same_settings(left: torch.nn.Module, right: torch.nn.Module) -> bool:
    mine, theirs = _settings(left), _settings(right)
    return mine.keys() == theirs.keys() and all(same_literal(mine[key], theirs[key]) for key in mine)


def _settings(module: torch.nn.Module) -> dict[str, Any]:
    settings = {
        key: value for key, value in vars(module).items() if not key.startswith("_") and key != "training"
    }
    for name, tensor in (*module.named_parameters(recurse=False), *module.named_buffers(recurse=False)):
        settings[f"shape of {name}"] = tuple(tensor.shape)
    return settings


def output_nodes(graph: Graph) -> list[Any]:
    """Return the values that `graph` returns, flattened, in order and with repetitions."""
    found: list[Any] = []
    stack = [graph.output_node().args[0]]
    while stack:
        value = stack.pop()
        if isinstance(value, list | tuple):
            stack.extend(reversed(value))
        elif isinstance(value, dict):
            stack.extend(reversed(list(value.values())))
        else:
            found.append(value)
    return found


@dataclass(frozen=True, eq=False)
class Pattern:
    """A graph prepared for matching.

    Attributes:
        graph: The graph.
        normalize: Functions that compute the same match each other, and operands may be exchanged.
        match_output: The output node has to match an output node.
        placeholders: Inputs, in order.
        returning: Nodes that are returned, flattened.
        anchors: Nodes from which matching starts: those returned that nothing else uses, then those that are
            there for their effect alone.
    """

    graph: Graph
    normalize: bool = False
    match_output: bool = False
    placeholders: tuple[Node, ...] = field(init=False)
    returning: tuple[Node, ...] = field(init=False)
    anchors: tuple[Node, ...] = field(init=False)
    _calls: dict[Node, Call] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        graph = self.graph
        if not len(graph.nodes):
            raise PatternError("ST202", reason="it is an empty graph")
        returning = tuple(value for value in output_nodes(graph) if isinstance(value, Node))
        output = graph.output_node()
        if self.match_output:
            anchors = [output]
        else:
            last = [n for n in dict.fromkeys(returning) if n.op != "placeholder" and set(n.users) <= {output}]
            anchors = last + _for_effect(graph)
        if not anchors:
            raise PatternError("ST202", reason="it returns its inputs or constants")
        object.__setattr__(self, "placeholders", tuple(n for n in graph.nodes if n.op == "placeholder"))
        object.__setattr__(self, "returning", returning)
        object.__setattr__(self, "anchors", tuple(anchors))

    def call(self, node: Node) -> Call:
        """Return the operands of a node of the pattern."""
        call = self._calls.get(node)
        if call is None:
            own = wildcard_call(node) if is_wildcard(node) else call_of(node, self.normalize)
            call = self._calls[node] = own
        return call

    def heads(self) -> Mapping[Node, Hashable]:
        """Return what each node of the pattern must have in common with its match."""
        return {node: self.head(node) for node in self.graph.nodes}

    def head(self, node: Node) -> Hashable:
        """Return what a node of the pattern must have in common with its match."""
        return WILDCARD if is_wildcard(node) else head(node, self.normalize)


def _for_effect(graph: Graph) -> list[Node]:
    """Return the nodes that nothing uses but that have an effect."""
    found = []
    for node in graph.nodes:
        if node.users or node.op in ("output", "placeholder") or node.target is guard:
            continue  # a guard holds for the pattern itself, and says nothing of where it may stand
        if node_effect(node).is_pure:
            raise PatternError("ST203", node=node.name)
        found.append(node)
    return found
