"""FX's spelling of tracing with example inputs on the `meta` device."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from ..runtime import Graph, GraphModule
from ..tracing import Tracer
from ..tracing import symbolic_trace as _symbolic_trace

__all__ = ["MetaTracer", "symbolic_trace"]


class MetaTracer(Tracer):
    """Traces with example inputs: decisions on shapes and types follow them, and are guarded."""

    # FX puts the examples in front of the concrete values here.
    def trace(  # type: ignore[override]
        self,
        root: Any,
        meta_args: Mapping[str, torch.Tensor] | None = None,
        concrete_args: Mapping[str, Any] | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> Graph:
        """Return the graph of a module or function.

        Args:
            root: A module or a function.
            meta_args: Example inputs by name; tensors on the `meta` device will do.
            concrete_args: Values, by name, that parameters are specialised to.
            *args: As for `Tracer.trace`.
            **kwargs: As for `Tracer.trace`.
        """
        return super().trace(root, _joined(meta_args, concrete_args), *args, **kwargs)


def symbolic_trace(
    root: Any,
    meta_args: Mapping[str, torch.Tensor] | None = None,
    concrete_args: Mapping[str, Any] | None = None,
) -> GraphModule:
    """Trace a module or function with example inputs: decisions on shapes and types follow them, and are
    guarded.

    Args:
        root: A module or a function.
        meta_args: Example inputs by name; tensors on the `meta` device will do.
        concrete_args: Values, by name, that parameters are specialised to.

    Returns:
        The captured module.
    """
    return _symbolic_trace(root, concrete_args=_joined(meta_args, concrete_args))


def _joined(
    meta_args: Mapping[str, Any] | None, concrete_args: Mapping[str, Any] | None
) -> dict[str, Any] | None:
    if not meta_args and not concrete_args:
        return None
    return {**(concrete_args or {}), **(meta_args or {})}
