"""Graphs of aten operators, by torch's own `make_fx`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# Experimental in torch, and what its users know. Checked on torch 2.13 and 2.14.
from torch.fx.experimental.proxy_tensor import make_fx as torch_make_fx

from ..runtime import GraphModule
from .torch_fx import from_torch_fx

__all__ = ["make_fx"]


def make_fx(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., GraphModule]:
    """Return a function that traces `f` at the level of aten operators.

    Args:
        f: What to trace.
        *args: Passed on to torch's `make_fx`.
        **kwargs: Passed on to torch's `make_fx`, such as `tracing_mode="symbolic"`.

    Returns:
        A function of example inputs that returns the traced program as a symtrace GraphModule.

    >>> import torch
    >>> gm = make_fx(lambda x: torch.relu(x) + 1)(torch.randn(3))
    >>> [str(node.target) for node in gm.graph.nodes if node.op == "call_function"]
    ['aten.relu.default', 'aten.add.Tensor']
    """
    trace = torch_make_fx(f, *args, **kwargs)

    def run(*inputs: Any) -> GraphModule:
        return from_torch_fx(trace(*inputs))

    return run
