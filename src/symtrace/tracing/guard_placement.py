"""Puts guards where they can still refuse a call: before anything has changed."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ..ir import Graph, Node
from ..ops import effects, program
from .hooks import original_len, real_size

__all__ = ["RESIZING", "place_guards", "switches_gradients"]

_SIZES = frozenset({"shape", "dtype", "device", "layout", "ndim", "requires_grad"})
_METHODS = frozenset({"size", "dim", "numel", "ndimension", "is_floating_point", "is_complex"})
_NUMBERS = frozenset({
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, operator.neg, operator.and_,
    operator.or_, operator.xor, operator.invert, operator.getitem, operator.not_, abs, round, divmod, int, float, bool,
    max, min, original_len, real_size, list, sorted, tuple,
})  # fmt: skip
RESIZING = frozenset({
    "resize_", "set_", "t_", "transpose_", "squeeze_", "unsqueeze_", "swapaxes_", "swapdims_", "resize_as_",
    "as_strided_", "data",
})  # fmt: skip
"""Methods, and properties when assigned, that change the shape of a tensor itself."""


def place_guards(graph: Graph, module_of: Any, is_number: Callable[[Node], bool]) -> None:
    """Move each guard that only looks at sizes and types before the first node that changes anything.

    Args:
        graph: A graph that was just captured.
        module_of: Gives the module of a `call_module` target.
        is_number: Tells whether an input, or what is read from the module, is a number.

    Cost: linear in the graph.
    """
    first = _first_change(graph, module_of)
    if first is None or _resizes(graph):
        return
    early: set[Node] = set()
    for node in graph.nodes:
        if node is first:
            break
        early.add(node)
    movable = _sizes_and_types(graph, module_of, is_number)
    late = [node for node in graph.nodes if node not in early and node.target is program.guard]
    for guard in late:
        needed = _needed(guard, early, movable)
        if needed is None:
            continue
        for node in needed:
            first.prepend(node)
            early.add(node)


def _first_change(graph: Graph, module_of: Any) -> Node | None:
    has_guards = any(node.target is program.guard for node in graph.nodes)
    if not has_guards:
        return None
    for node in graph.nodes:
        if node.op in ("placeholder", "get_attr", "output") or node.target is program.guard:
            continue
        if node.target is program.enter_mode or node.target is program.exit_mode:
            return node
        module = module_of(node.target) if node.op == "call_module" else None
        if not effects(node.op, node.target, node.args, node.kwargs, module).is_pure:
            return node
    return None


def _resizes(graph: Graph) -> bool:
    """Tell whether the program changes the shape of a tensor in place, after which a size is another."""
    return any(
        node.target in RESIZING or (node.target is setattr and node.args[1] in RESIZING)
        for node in graph.nodes
        if node.op in ("call_method", "call_function")
    )


def switches_gradients(target: Any, args: tuple[Any, ...]) -> bool:
    """Tell whether an operation changes `requires_grad` of a tensor itself."""
    return target in ("requires_grad_", "detach_") or (target is setattr and args[1] == "requires_grad")


def _needed(guard: Node, early: set[Node], movable: set[Node]) -> list[Node] | None:
    """Return what has to be moved with a guard, itself last, or None if it rests on more than sizes and types."""
    order: list[Node] = []
    seen: set[Node] = set()
    stack = [(guard, False)]
    while stack:
        node, is_done = stack.pop()
        if is_done:
            order.append(node)
            continue
        if node in early or node in seen:
            continue
        if node is not guard and node not in movable:
            return None
        seen.add(node)
        stack.append((node, True))
        stack.extend((used, False) for used in node.all_input_nodes)
    return order


def _writes(node: Node, module_of: Any) -> bool:
    """Tell whether an operation writes to a tensor, which then requires gradients if what is written does."""
    if node.op not in ("call_function", "call_method", "call_module"):
        return False
    module = module_of(node.target) if node.op == "call_module" else None
    effect = effects(node.op, node.target, node.args, node.kwargs, module)
    return bool(effect.mutates) or effect.impure


def _sizes_and_types(graph: Graph, module_of: Any, is_number: Callable[[Node], bool]) -> set[Node]:
    """Return the nodes that read a size or type, or reckon with what was read of them."""
    found: set[Node] = set()
    properties = set(_SIZES)
    if any(switches_gradients(node.target, node.args) or _writes(node, module_of) for node in graph.nodes):
        properties.remove("requires_grad")
    for node in graph.nodes:
        if node.op in ("placeholder", "get_attr"):
            is_one = is_number(node)
        elif node.op == "call_method":
            is_one = node.target in _METHODS
        elif node.op != "call_function":
            is_one = False
        elif node.target is getattr:
            is_one = node.args[1] in properties
        else:
            # A sign between tensors computes on what they hold, which must stay where it is.
            is_one = node.target is original_len or (
                node.target in _NUMBERS and found.issuperset(node.all_input_nodes)
            )
        if is_one:
            found.add(node)
    return found
