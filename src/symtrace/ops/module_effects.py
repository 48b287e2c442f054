"""Effects of calling a module.

Only the modules of `torch.nn` are known, as long as nothing is hooked into them; a user's own class may do
anything, unless it says `_is_impure = False`.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from .effect import ALIAS, OPAQUE, Effect
from .tables import FRESH_MODULES

__all__ = ["is_hooked", "module_effect"]

_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def module_effect(module: nn.Module | None, any_mode: bool = False) -> Effect:
    """Return the effect of calling `module`; one that is not known may do anything.

    Args:
        module: The module.
        any_mode: Count what it does in training also when it is in evaluation mode.
    """
    if module is None:
        return OPAQUE
    mutates: tuple[int | str, ...] = ()
    random = writes = False
    for part in module.modules():
        declared = getattr(part, "_is_impure", None)
        if declared or (declared is None and not _is_known(part)) or is_hooked(part):
            return OPAQUE
        random |= _draws(part, any_mode)
        writes |= _writes_state(part, any_mode)
        if getattr(part, "inplace", False):
            mutates = (0,)
    name = _forward_class(module).__name__.lstrip("_")
    fresh = not mutates and not any(module.children()) and name.startswith(FRESH_MODULES)
    if not (mutates or random or writes):
        return Effect() if fresh else ALIAS
    return Effect(mutates=mutates, random=random, writes_state=writes, returns_alias=not fresh)


# Hooks live in underscored attributes of nn.Module and nn.modules.module; no public function lists them.
# Checked on torch 2.13 and 2.14.
def _globally_hooked() -> bool:
    module = torch.nn.modules.module
    return bool(
        getattr(module, "_global_forward_hooks", None) or getattr(module, "_global_forward_pre_hooks", None)
    )


def is_hooked(module: nn.Module) -> bool:
    """Return whether hooks run with the module."""
    return _globally_hooked() or any(getattr(module, name, None) for name in _HOOKS)


def _forward_class(module: nn.Module) -> type:
    """Return the class that defines the `forward` of `module`."""
    if "forward" in vars(module):
        return type(None)
    return next((cls for cls in type(module).__mro__ if "forward" in vars(cls)), nn.Module)


def _is_known(module: nn.Module) -> bool:
    owner = _forward_class(module)
    if type(module).__call__ is not nn.Module.__call__:
        return False
    if not owner.__module__.startswith(("torch.nn.modules.", "torch.ao.nn.")):
        # a container has no forward of its own; its children are judged one by one
        return isinstance(module, nn.ModuleList | nn.ModuleDict | nn.ParameterList | nn.ParameterDict)
    activation = getattr(module, "activation", None)  # transformer layers take any callable
    if callable(activation) and not isinstance(activation, nn.Module):
        return str(getattr(activation, "__module__", "")).startswith("torch")
    return not isinstance(module, nn.modules.lazy.LazyModuleMixin)


def _draws(module: nn.Module, any_mode: bool) -> bool:
    if isinstance(module, nn.FractionalMaxPool2d | nn.FractionalMaxPool3d):
        return True
    if not (module.training or any_mode):
        return False
    if isinstance(module, nn.modules.dropout._DropoutNd | nn.RReLU):
        return True
    rate: Any = getattr(module, "dropout", 0.0)
    return isinstance(rate, float | int) and rate > 0


def _writes_state(module: nn.Module, any_mode: bool) -> bool:
    if getattr(module, "max_norm", None) is not None:
        return True
    return (module.training or any_mode) and bool(getattr(module, "track_running_stats", False))
