"""What a caller of `symbolic_trace` or `capture` may ask for, and the tracer that does it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import nn

from .fakes import ExampleTracer
from .tracer import Tracer

__all__ = ["CaptureOptions", "make_tracer"]


@dataclass(frozen=True)
class CaptureOptions:
    """How to capture.

    Attributes:
        leaves: Functions, module classes and names of packages that stay one node.
        keeps_control_flow: Record both ways of decisions that data makes.
        dynamic: Which sizes stay free, as `capture` takes it.
        follows_data: Follow what the data of the examples decides.
    """

    leaves: tuple[Any, ...] = ()
    keeps_control_flow: bool = True
    dynamic: bool | Mapping[str, Mapping[int, str]] = True
    follows_data: bool = False


class _Leaves(Tracer):
    """A tracer with further leaves."""

    def __init__(self, leaves: tuple[Any, ...]) -> None:
        functions = tuple(leaf for leaf in leaves if inspect.isfunction(leaf))
        super().__init__(autowrap_functions=tuple(leaf for leaf in leaves if inspect.isbuiltin(leaf)))
        self.leaf_functions = functions
        self._classes = tuple(leaf for leaf in leaves if isinstance(leaf, type))
        self._packages = tuple(leaf for leaf in leaves if isinstance(leaf, str))

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        if isinstance(m, self._classes):
            return True
        name = type(m).__module__
        if any(name == package or name.startswith(f"{package}.") for package in self._packages):
            return True
        return super().is_leaf_module(m, module_qualified_name)


class _LeafTracer(_Leaves):
    """Traces without examples."""


class _LeafExampleTracer(_Leaves, ExampleTracer):
    """Traces with examples."""


def make_tracer(options: CaptureOptions, has_examples: bool) -> Tracer:
    """Return a tracer that captures as the options say."""
    tracer: Tracer
    if has_examples:
        tracer = example_tracer = _LeafExampleTracer(options.leaves)
        example_tracer.dynamic = options.dynamic
        example_tracer.follows_data = options.follows_data
    else:
        tracer = _LeafTracer(options.leaves)
    tracer.keeps_control_flow = options.keeps_control_flow
    return tracer
