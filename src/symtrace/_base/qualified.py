"""Dotted names of functions and types, and back."""

from __future__ import annotations

import builtins
import importlib
import sys
import types
from typing import Any

__all__ = ["module_of", "qualified_name", "resolve_qualified", "type_text"]


def module_of(function: Any) -> str:
    """Return the dotted name of the public place that holds `function`.

    C functions of torch carry no module, so that torch's public namespaces are looked through for them.
    """
    if isinstance(
        function,
        types.MethodDescriptorType | types.WrapperDescriptorType | types.GetSetDescriptorType,
    ):
        owner = function.__objclass__
        if owner.__module__.split(".")[0] == "torch" or owner.__name__ in ("TensorBase", "_TensorBase"):
            return "torch.Tensor"
        return f"{owner.__module__}.{owner.__qualname__}"
    name = getattr(function, "__name__", "")
    module = getattr(function, "__module__", None)
    bound_to = getattr(function, "__self__", None)
    if isinstance(bound_to, type):  # a class method is known by its class
        return f"{bound_to.__module__}.{bound_to.__qualname__}"
    torch = sys.modules.get(
        "torch"
    )  # looked up, not imported: only a program that uses torch has its functions
    if torch is not None and (module is None or module.startswith("torch._C._VariableFunctions")):
        for place in (torch, torch.nn.functional):
            if getattr(place, name, None) is function:
                return str(place.__name__)
        if getattr(torch.Tensor, name, None) is function:
            return "torch.Tensor"
    return module or ""


def qualified_name(function: Any) -> str:
    """Return the dotted name under which `function` is known, such as `"torch.nn.functional.relu"`."""
    name = getattr(function, "__name__", None) or getattr(function, "__qualname__", None)
    if name is None:
        cls = type(function)
        return f"{cls.__module__}.{cls.__qualname__}"
    if getattr(builtins, name, None) is function:
        return str(name)
    module = module_of(function)
    module = module.replace("torch._ops", "torch.ops")
    if module == "_operator":
        module = "operator"
    return f"{module}.{name}" if module else str(name)


def resolve_qualified(name: str) -> Any:
    """Return the object at a dotted name, importing modules as needed.

    Raises:
        LookupError: Nothing is there.
    """
    parts = name.split(".")
    for count in range(len(parts) - 1, 0, -1):
        module_name = ".".join(parts[:count])
        try:
            found: Any = sys.modules.get(module_name) or importlib.import_module(module_name)
            for part in parts[count:]:
                found = getattr(found, part)
        except (ImportError, AttributeError):
            continue
        return found
    if hasattr(builtins, name):
        return getattr(builtins, name)
    raise LookupError(name)


def type_text(annotation: Any) -> str:
    """Return how an annotation is written in source: `int`, `torch.Tensor`, `list[int]`, `'Forward'`."""
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        if annotation.__module__ == "builtins":
            return annotation.__qualname__
        return f"{annotation.__module__}.{annotation.__qualname__}"
    if annotation is ...:
        return "..."
    if isinstance(annotation, types.FunctionType):
        return annotation.__name__
    return repr(annotation)
