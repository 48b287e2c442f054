"""Computing new values instead of writing to old ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..analysis import EffectAnalysis, is_tensor
from ..ir import Node, map_arg
from ..rewrite.inherit import inherit
from ..runtime import Graph
from .core import Context, Pass
from .elementwise import BINARY, FUNCTIONAL_OPERATORS, FUNCTIONS, INPLACE_FUNCTIONS, METHODS

__all__ = ["Functionalize"]


@dataclass(frozen=True)
class Functionalize(Pass):
    """Replace writes to values of the program's own by new values: `y.add_(1)` by `y.add(1)`.

    Replaced are writes to a value that the program itself has made and that nothing else may share storage with, by
    operators that compute each element by itself. Writes to inputs, to parameters and buffers, and to or through
    views stay as they are.
    """

    name: ClassVar[str] = "functionalize"

    def run(self, graph: Graph, ctx: Context) -> bool:
        """Replace them."""
        analysis = ctx.effects(graph)
        latest: dict[Node, Node] = {}
        family = _families(graph, analysis, ctx)
        if not family:
            return False
        replaced: list[Node] = []
        for node in list(graph.nodes):
            if any(used in family for used in node.all_input_nodes):
                _use_latest(node, family, latest)
            if node not in family:
                continue
            root = family[node]
            if node is root:
                latest[root] = node
                continue
            latest[root] = _functional(graph, node)
            replaced.append(node)
        for node in reversed(replaced):
            graph.erase_node(node)
        return bool(replaced)


def _families(graph: Graph, analysis: EffectAnalysis, ctx: Context) -> dict[Node, Node]:
    """Return for each value with a write that can be replaced, and for each such write, the value as it was made."""
    classes: dict[Node, list[Node]] = {}
    for node in graph.nodes:
        root = analysis.alias_class(node)
        if root is not None:
            classes.setdefault(root, []).append(node)
    family: dict[Node, Node] = {}
    for members in classes.values():
        made, *writes = members
        if not writes:
            continue
        effect = analysis.effect(made)
        wrong = None if not (effect.mutates or effect.returns_alias) and made.op.startswith("call") else made
        if not any(is_tensor(node) for node in members):
            wrong = made  # `x += 1` writes to nothing if x is a number
        wrong = wrong or next((node for node in writes if not _is_replaceable(node)), None)
        if wrong is None:
            family.update((node, made) for node in members)
        elif any(analysis.effect(node).mutates for node in writes):
            ctx.remark(wrong, "it shares storage in a way that a new value would not")
    return family


def _is_replaceable(node: Node) -> bool:
    """Return whether a node writes to its first operand, element by element, and returns it."""
    if not node.args or not isinstance(node.args[0], Node) or "out" in node.kwargs:
        return False
    others: list[Node] = []
    map_arg((node.args[1:], dict(node.kwargs)), others.append)
    if node.args[0] in others:
        return False
    target = node.target
    if node.op == "call_method":
        return target.endswith("_") and target[:-1] in METHODS
    if node.op != "call_function":
        return False
    if target in FUNCTIONS:
        return node.kwargs.get("inplace") is True
    return target in FUNCTIONAL_OPERATORS or target in INPLACE_FUNCTIONS


def _use_latest(node: Node, family: dict[Node, Node], latest: dict[Node, Node]) -> None:
    def current(used: Node) -> Node:
        return latest.get(family[used], used) if used in family else used

    node.args = map_arg(node.args, current)
    node.kwargs = map_arg(dict(node.kwargs), current)


def _functional(graph: Graph, node: Node) -> Node:
    """Return a node in front of a write that computes what is written."""
    kwargs: dict[str, Any] = dict(node.kwargs)
    with graph.inserting_before(node):
        if node.op == "call_method":
            name = node.target[:-1]
            made = graph.call_method(name, node.args, kwargs)
        elif node.target in FUNCTIONS:
            name = ""
            made = graph.call_function(node.target, node.args, {**kwargs, "inplace": False})
        else:
            function, name = (FUNCTIONAL_OPERATORS | INPLACE_FUNCTIONS)[node.target]
            made = graph.call_function(function, node.args, kwargs)
        result = made
        if name in BINARY and any(used is not node.args[0] for used in node.all_input_nodes):
            # A write keeps the dtype of what it writes to; where that is so anyway, this is free.
            result = graph.call_method("type_as", (made, node.args[0]))
    inherit([made, result], [(node, result)], node, "functionalize")
    return result
