"""What of a module is stored, so that loading it runs none of the user's code."""

from __future__ import annotations

import io
import pickle
from typing import Any

from torch import nn

__all__ = ["storable_state"]

_OWN_PACKAGES = (
    "builtins",
    "collections",
    "copyreg",
    "enum",
    "functools",
    "numpy",
    "symtrace",
    "torch",
    "_operator",
)


class _Probe(pickle.Pickler):
    """Refuses objects whose loading would import code from elsewhere."""

    def reducer_override(self, obj: Any) -> Any:
        """Look at the class of an object, or at the object if it is a class or function itself."""
        named = obj if hasattr(obj, "__qualname__") and hasattr(obj, "__module__") else type(obj)
        if (getattr(named, "__module__", None) or "builtins").split(".")[0] not in _OWN_PACKAGES:
            raise pickle.PicklingError(repr(named))
        return NotImplemented


def _is_storable(value: Any) -> bool:
    if value is None or type(value) in (bool, int, float, str):
        return True
    try:
        _Probe(io.BytesIO()).dump(value)
    except Exception:  # a value of the user's may raise anything
        return False
    return True


def storable_state(module: nn.Module, state: dict[str, Any], called: set[str]) -> dict[str, Any]:
    """Return the state of a graph module as it is pickled.

    Modules that a graph calls are stored as they are. Others, which were inlined, are stored as plain modules
    with what is registered in them, and attributes of classes of the user's are left out.

    Args:
        module: The graph module.
        state: Its attributes.
        called: Paths that the graph calls.
    """
    plain = _Plain(called)
    kept: dict[str, Any] = {}
    for name, value in state.items():
        if name == "_modules":
            children: dict[str, nn.Module | None] = value
            kept[name] = {key: plain.module(child, key) for key, child in children.items()}
        elif name.startswith("_") or isinstance(value, nn.Module) or _is_storable(value):
            kept[name] = value
    original = kept.pop("original_class", None) or state.get("original_class")
    if original is not None:
        kept["original_class_name"] = f"{original.__module__}.{original.__qualname__}"
    return kept


class _Plain:
    """Makes plain stand-ins of inlined modules; a module met twice gets one."""

    def __init__(self, called: set[str]) -> None:
        self._called = called
        self._made: dict[int, Any] = {}

    def module(self, module: nn.Module | None, path: str) -> nn.Module | None:
        """Return what is stored for the module at a path."""
        if module is None or path in self._called:
            return module
        if id(module) not in self._made:
            self._made[id(module)] = None
            self._made[id(module)] = self._stand_in(module, path)
        return self._made[id(module)]  # type: ignore[no-any-return]

    def _stand_in(self, module: nn.Module, path: str) -> nn.Module:
        is_torch = type(module).__module__.split(".")[0] in ("torch", "symtrace")
        children = {name: self.module(child, f"{path}.{name}") for name, child in module._modules.items()}
        if is_torch and all(children[name] is child for name, child in module._modules.items()):
            return module
        result = type(module).__new__(type(module)) if is_torch else nn.Module()
        if is_torch:
            result.__dict__.update(module.__dict__)
        result.__dict__["training"] = module.training
        result.__dict__["_parameters"] = module._parameters
        result.__dict__["_buffers"] = module._buffers
        result.__dict__["_non_persistent_buffers_set"] = module._non_persistent_buffers_set
        result.__dict__["_modules"] = children
        return result
