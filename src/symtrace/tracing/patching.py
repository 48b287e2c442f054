"""What takes the place of builtin classes, methods and attributes that a program was seen to need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from . import hooks
from .shims import SHIMS

__all__ = ["gated_descriptor", "shim", "state_property"]

_MISSING = hooks.MISSING


def gated_descriptor(method: Any, before: Any) -> Any:
    """Return a method of tensors that is recorded when an argument is traced."""
    return hooks._gated(method)


def shim(name: str, before: Any) -> Any:
    """Return what answers for a builtin class."""
    return SHIMS[name]


def state_property(name: str) -> Callable[[Any], Any]:
    """Return what makes a class report reads of an attribute that the traced program also writes."""

    def make(before: Any) -> Any:
        def read(self: nn.Module) -> Any:
            if name in self.__dict__:
                value = self.__dict__[name]
            elif before is not None:
                value = before
            else:
                value = _MISSING
            tracer = hooks.active_tracer()
            if value is _MISSING and (tracer is None or id(self) not in tracer._paths.modules):
                raise AttributeError(name)
            return value if tracer is None else tracer._on_state_read(self, name, value)

        def write(self: nn.Module, value: Any) -> None:
            self.__dict__[name] = value

        return property(read, write)

    return make
