"""What a call of the root runs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from torch import nn

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


def as_called(root: nn.Module, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return what a call of the root runs: `forward` alone, or with its hooks, or a `__call__` of its class's own."""
    owner = next(cls for cls in type(root).__mro__ if "__call__" in vars(cls))
    if not owner.__module__.startswith(("torch.", "symtrace.")):
        call = owner.__call__
    elif root._forward_hooks or root._forward_pre_hooks:
        call = hooks.original_call
    else:
        return function

    def called(module: Any, /, *args: Any, **kwargs: Any) -> Any:
        return call(module, *args, **kwargs)

    called.has_hooks, called.inner = True, function  # type: ignore[attr-defined]
    called.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return called


def is_lazy(function: Any) -> bool:
    """Tell whether a `forward` is compiled when it is first called."""
    return (getattr(function, "__module__", None) or "").startswith("symtrace.runtime")
