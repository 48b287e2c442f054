"""Bridges to torch's other representations of programs. Only this package knows torch.fx.

Names are loaded when they are first used, so that reading a registry does not load every bridge.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .make_fx import make_fx
    from .torch_fx import from_torch_fx, from_torch_graph, to_torch_fx, to_torch_graph
    from .torch_fx_registry import (
        torch_fx_side_effectful_functions,
        torch_fx_wrapped_functions,
        torch_fx_wrapped_methods,
    )

_HOME = {
    "from_torch_fx": "torch_fx",
    "from_torch_graph": "torch_fx",
    "make_fx": "make_fx",
    "to_torch_fx": "torch_fx",
    "to_torch_graph": "torch_fx",
    "torch_fx_side_effectful_functions": "torch_fx_registry",
    "torch_fx_wrapped_functions": "torch_fx_registry",
    "torch_fx_wrapped_methods": "torch_fx_registry",
}

__all__ = [
    "from_torch_fx",
    "from_torch_graph",
    "make_fx",
    "to_torch_fx",
    "to_torch_graph",
    "torch_fx_side_effectful_functions",
    "torch_fx_wrapped_functions",
    "torch_fx_wrapped_methods",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
