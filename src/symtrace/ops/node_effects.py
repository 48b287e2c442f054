"""What each kind of node does besides computing its value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..ir import Graph
from .effect import ALIAS, OPAQUE, PURE, Effect
from .function_effects import function_effect, method_effect
from .module_effects import is_hooked, module_effect

__all__ = ["effects"]


def effects(
    op: str,
    target: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    module: Any = None,
    any_mode: bool = False,
) -> Effect:
    """Return what a node does besides computing its value.

    What is not known counts as effectful: a user's own function unless declared with `symtrace.ops.pure`,
    a module that is no layer of `torch.nn` or that has hooks, a method that tensors do not have.

    Args:
        op: Kind of the node, such as `"call_function"`.
        target: Target of the node.
        args: Positional arguments; nodes stand for values that are not known.
        kwargs: Keyword arguments.
        module: The module that a `call_module` node calls, if known.
        any_mode: Count what a module does in training also when it is in evaluation mode.

    Returns:
        The effect; for one target it is found by one dictionary look-up after the first time.

    >>> import operator
    >>> effects("call_function", operator.iadd, ("x", 1), {}).mutates
    (0,)
    """
    if op == "call_function":
        return function_effect(target, args, kwargs)
    if op == "call_method":
        effect = method_effect(target)
        if not kwargs or effect.impure:
            return effect
        return _with_keywords(effect, kwargs)
    if op == "call_module":
        graph = getattr(module, "graph", None)
        if isinstance(graph, Graph):
            return _graph_effect(module, graph, any_mode)
        return module_effect(module, any_mode)
    if op == "get_attr":
        return ALIAS
    if op in ("placeholder", "output"):
        return PURE
    return OPAQUE


def _graph_effect(module: Any, graph: Graph, any_mode: bool) -> Effect:
    """Return the effect of a module that runs a graph; any write in it may reach whatever the module reaches."""
    if is_hooked(module):
        return OPAQUE
    found = ALIAS
    for node in graph.nodes:
        called = module.get_submodule(node.target) if node.op == "call_module" else None
        effect = effects(node.op, node.target, node.args, node.kwargs, called, any_mode)
        if effect.mutates or effect.impure or effect.writes_state or effect.barrier:
            return OPAQUE
        random, check = found.random or effect.random, found.check or effect.check
        found = Effect(random=random, check=check, returns_alias=True)
    return found


def _with_keywords(effect: Effect, kwargs: Mapping[str, Any]) -> Effect:
    written = tuple(
        key for key, off in (("inplace", False), ("out", None)) if key in kwargs and kwargs[key] is not off
    )
    if not written:
        return effect
    keys: tuple[int | str, ...] = tuple(0 if key == "inplace" else key for key in written)
    return Effect(mutates=(*effect.mutates, *keys), random=effect.random, returns_alias=True)
