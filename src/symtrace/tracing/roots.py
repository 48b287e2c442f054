"""What a call of the root runs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from torch import nn

from ..runtime.call_shape import CallShape
from . import hooks

__all__ = ["as_called", "is_lazy", "with_self"]


def with_self(signature: inspect.Signature) -> inspect.Signature:
    """Return a signature with the module as its first parameter."""
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    rest = [
        item.replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD)
        if item.kind is inspect.Parameter.POSITIONAL_ONLY
        else item
        for item in signature.parameters.values()
    ]
    return signature.replace(parameters=[own, *rest])


def as_called(
    root: nn.Module, function: Callable[..., Any], note: Callable[[CallShape], None]
) -> Callable[..., Any]:
    """Return what a call of the root runs: `forward` alone, or with its hooks, or a `__call__` of its class's own.

    Args:
        root: The root.
        function: Its `forward`.
        note: Called with the way in which the root is called, where hooks or `__call__` see it.
    """
    owner = next(cls for cls in type(root).__mro__ if "__call__" in vars(cls))
    if not owner.__module__.startswith(("torch.", "symtrace.")):
        call = owner.__call__
        own = inspect.signature(call).parameters
        kinds = {item.kind for item in own.values()}
        lacks = inspect.signature(function).parameters.keys() - own.keys()
        sees_keywords = inspect.Parameter.VAR_KEYWORD in kinds or bool(lacks)
        sees_positions = inspect.Parameter.VAR_POSITIONAL in kinds
        seen_by = call
    elif root._forward_hooks or root._forward_pre_hooks:
        call, sees_positions = hooks.original_call, True
        seen_by = next(iter((*root._forward_pre_hooks.values(), *root._forward_hooks.values())))
        sees_keywords = bool(root._forward_hooks_with_kwargs or root._forward_pre_hooks_with_kwargs)
    else:
        return function

    def called(module: Any, /, *args: Any, **kwargs: Any) -> Any:
        if sees_positions or sees_keywords:
            keywords = tuple(sorted(kwargs)) if sees_keywords else None
            note(CallShape(len(args) if sees_positions else None, keywords, *_place(seen_by)))
        return call(module, *args, **kwargs)

    called.has_hooks, called.inner = True, function  # type: ignore[attr-defined]
    called.sees_keywords = sees_keywords  # type: ignore[attr-defined]
    called.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return called


def _place(function: Any) -> tuple[Any, ...]:
    code = getattr(inspect.unwrap(getattr(function, "__func__", function)), "__code__", None)
    return () if code is None else (code.co_filename, code.co_firstlineno)


def is_lazy(function: Any) -> bool:
    """Tell whether a `forward` is compiled when it is first called."""
    return (getattr(function, "__module__", None) or "").startswith("symtrace.runtime")
