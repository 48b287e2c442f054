"""Functions of the program that keep their results: under capture they keep them for the one trace."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from torch import nn

from ..errors import TraceError
from ..ir import Node
from ..ops import effects
from .blame import here, trace_error
from .hooks import active_tracer, original_isinstance, tracing_as
from .since import last_node, nodes_since

if TYPE_CHECKING:
    from .watching import Watcher

__all__ = ["is_constant", "keeping", "refuse_written"]


def keeping(original: Any) -> Any:
    """Return what stands for a function with a cache, so that no traced value ends up in that."""

    @functools.wraps(original)
    def hook(*args: Any, **kwargs: Any) -> Any:
        tracer = active_tracer()
        return original(*args, **kwargs) if tracer is None else _call(tracer, original, args, kwargs)

    for name in ("cache_info", "cache_clear", "cache_parameters"):
        setattr(hook, name, _outside(original, name))
    return hook


def _outside(original: Any, name: str) -> Any:
    def ask() -> Any:
        if active_tracer() is not None and name != "cache_parameters":
            raise trace_error("ST026", what=f"calls `{name}` of `{original.__qualname__}`")
        return getattr(original, name)()

    return ask


def _call(tracer: Watcher, original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    key = (id(original), id(tracer.graph), args, tuple(kwargs.items()))
    if key in tracer._kept:
        return tracer._kept[key][0]
    # Numbers are what they are now, since to look them up has pinned them.
    args, kwargs = tuple(map(tracer._settled, args)), {name: tracer._settled(v) for name, v in kwargs.items()}
    last = last_node(tracer.graph)
    result = original.__wrapped__(*args, **kwargs)
    made = nodes_since(tracer.graph, last)
    name = getattr(original, "__qualname__", "a function")
    if not is_constant(tracer, made):
        what = f"keeps, in the cache of `{name}`, what depends on more than its arguments"
        raise trace_error("ST026", what=what)
    tracer._kept[key] = result, made, name, here()
    return result


def is_constant(tracer: Watcher, nodes: Iterable[Node]) -> bool:
    """Tell whether nodes compute the same at each call: nothing of inputs, of the module's state, drawn, or written to.

    Args:
        tracer: The tracer that recorded them.
        nodes: What the program keeps.
    """
    kept = list(nodes)
    if _is_written(kept, set()):
        return False
    stack, seen = list(kept), set(kept)
    with tracing_as(None):
        while stack:
            node = stack.pop()
            if not _is_constant(tracer, node):
                return False
            stack.extend(used for used in node.all_input_nodes if used not in seen)
            seen.update(node.all_input_nodes)
    return True


def _is_constant(tracer: Watcher, node: Node) -> bool:
    if node.op == "get_attr":
        head = node.target.partition(".")[0]
        return head in tracer.graph.interned and not original_isinstance(
            tracer.graph.interned[head], nn.Parameter | nn.Module
        )
    if node.op not in ("call_function", "call_method"):
        return False
    effect = effects(node.op, node.target, node.args, node.kwargs)
    return effect.is_pure or (bool(effect.mutates) and not (effect.random or effect.impure or effect.barrier))


def refuse_written(tracer: Watcher) -> None:
    """Refuse programs that write to what a function with a cache keeps.

    Raises:
        TraceError: ST022, one does.
    """
    for _, made, name, location in tracer._kept.values():
        if _is_written(made, set(made)):
            raise TraceError("ST022", location=location, attribute=f"what the cache of `{name}` keeps")


def _is_written(nodes: list[Node], own: set[Node]) -> bool:
    """Tell whether anything but `own` may write to nodes, or to what shares their memory."""
    stack, seen = list(nodes), set(nodes)
    with tracing_as(None):
        while stack:
            node = stack.pop()
            for user in node.users:
                if user in own or user in seen or user.op not in ("call_function", "call_method"):
                    continue
                effect = effects(user.op, user.target, user.args, user.kwargs)
                if effect.impure or any(arg is node for arg in effect.written(user.args, user.kwargs)):
                    return True
                if effect.returns_alias:
                    seen.add(user)
                    stack.append(user)
    return False
