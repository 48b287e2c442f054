"""Bridges to torch's other representations of programs. Only this package knows torch.fx."""

from .make_fx import make_fx
from .torch_fx import from_torch_fx, from_torch_graph, to_torch_fx, to_torch_graph
from .torch_fx_registry import (
    torch_fx_side_effectful_functions,
    torch_fx_wrapped_functions,
    torch_fx_wrapped_methods,
)

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
