"""State of the process that programs read and change: random generators, defaults of torch, checkpoints."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.autograd.forward_ad as forward_ad
import torch.utils.checkpoint as checkpointing
from torch import nn
from torch.utils.hooks import RemovableHandle

from .blame import trace_error
from .frames import is_internal
from .hooks import PatchSet, _asking, _recorded, active_tracer

__all__ = ["RandomStates", "new_hooks", "next_hook", "patch_process_state", "swapped_tensor"]

_RECORDED = ("get_rng_state", "initial_seed", "seed", "set_rng_state")
_ASKED = (
    "are_deterministic_algorithms_enabled", "get_autocast_cpu_dtype", "get_autocast_dtype", "get_autocast_gpu_dtype",
    "get_default_device", "get_default_dtype", "get_deterministic_debug_mode", "get_float32_matmul_precision",
    "is_deterministic_algorithms_warn_only_enabled",
)  # fmt: skip
_SETTERS = (
    "set_autocast_dtype", "set_autocast_enabled", "set_default_device", "set_default_dtype",
    "set_default_tensor_type", "set_deterministic_debug_mode", "use_deterministic_algorithms",
)  # fmt: skip

# The generator that runs around the function of a checkpoint which is not reentrant, in torch 2.13 and in 2.14.
_AROUND_CHECKPOINTS = (
    "_checkpoint_without_reentrant_generator",
    "_checkpoint_without_reentrant_generator_impl",
)


class RandomStates:
    """The states of the generators of torch, Python and numpy before a program runs."""

    def __init__(self) -> None:
        self._torch = torch.get_rng_state()
        self._python = random.getstate()
        numpy = sys.modules.get("numpy")
        self._numpy = None if numpy is None else numpy.random.get_state()

    def has_moved(self) -> bool:
        """Tell whether Python's or numpy's generator has moved."""
        if random.getstate() != self._python:
            return True
        if self._numpy is None:
            return False
        now = sys.modules["numpy"].random.get_state()
        return bool(now[2:] != self._numpy[2:] or not (now[1] == self._numpy[1]).all())

    def restore(self) -> str | None:
        """Put the states back, and name the generator outside of torch that the program drew from."""
        drawn = None
        if not torch.equal(self._torch, torch.get_rng_state()):
            torch.set_rng_state(self._torch)
        if random.getstate() != self._python:
            random.setstate(self._python)
            drawn = "Python's `random`"
        if self._numpy is not None:
            numpy = sys.modules["numpy"]
            now = numpy.random.get_state()
            if now[2:] != self._numpy[2:] or not (now[1] == self._numpy[1]).all():
                numpy.random.set_state(self._numpy)
                drawn = "`numpy.random`"
        return drawn


def _refused(original: Any) -> Any:
    """Return a function that no captured program may call."""

    def hook(*args: Any, **kwargs: Any) -> Any:
        if active_tracer() is not None:
            raise trace_error("ST026", what=f"calls torch.{original.__name__}")
        return original(*args, **kwargs)

    hook.__wrapped__ = original  # type: ignore[attr-defined]
    return hook


def _asked_by_program(original: Any) -> Any:
    """Return a function that is asked at each call, where the program calls it and not torch."""
    asking = _asking(original)

    def hook(*args: Any, **kwargs: Any) -> Any:
        asked = original if is_internal(sys._getframe(1)) else asking
        return asked(*args, **kwargs)

    hook.__wrapped__ = original  # type: ignore[attr-defined]
    return hook


def _refusing(what: str) -> Callable[[Any], Any]:
    def make(original: Any) -> Any:
        def hook(*args: Any, **kwargs: Any) -> Any:
            if active_tracer() is not None:
                raise trace_error("ST026", what=what)
            return original(*args, **kwargs)

        return hook

    return make


def _inlined_checkpoint(original: Any) -> Any:
    """A checkpoint saves memory; what it computes, backwards too, is what its function computes."""

    def hook(*args: Any, **kwargs: Any) -> Iterator[None]:
        if active_tracer() is None:
            yield from original(*args, **kwargs)
        else:
            yield

    return hook


def _saved_tensors_hooks(original: Any) -> Any:
    def __enter__(self: Any) -> Any:
        if active_tracer() is not None:
            raise trace_error("ST026", what=f"enters torch.autograd.graph.{type(self).__name__}")
        return original(self)

    return __enter__


def _removing(original: Any) -> Any:
    """Hooks that were there before are part of what was captured; those of the program's own come and go."""

    def remove(self: Any) -> None:
        tracer = active_tracer()
        table = self.hooks_dict_ref()
        if tracer is not None and self.id < tracer._first_hook and self.id in (table or ()):
            held = [f"self.{path}" if path else "self" for path, module in tracer.root.named_modules()
                    if any(value is table for value in vars(module).values())]  # fmt: skip
            name = held[0] if held else "a tensor"
            raise trace_error("ST023", attribute=name, what="removes a hook of")
        original(self)

    return remove


def _new_parameter(original: Any) -> Any:
    plain = original.__func__ if isinstance(original, staticmethod) else original

    def __new__(cls: Any, data: Any = None, requires_grad: bool = True) -> Any:
        tracer = active_tracer()
        if tracer is not None and tracer._is_proxy(data):
            return tracer.call_function(cls, (data, requires_grad), {})
        return plain(cls, data, requires_grad)

    return staticmethod(__new__)


class _GeneratorMeta(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, _real_generator)

    def __subclasscheck__(cls, other: type) -> bool:
        return other is cls or issubclass(other, _real_generator)


_real_generator = torch.Generator


class _Generator(metaclass=_GeneratorMeta):
    """Stands for `torch.Generator`: one that a program makes is made anew at each call."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        tracer = active_tracer()
        if tracer is not None:
            return tracer.call_function(_real_generator, args, kwargs)
        return _real_generator(*args, **kwargs)


def patch_process_state(patches: PatchSet) -> None:
    """Have reads of random states recorded, and changes of the process refused, while `patches` are in force."""
    for place in (torch, torch.random):
        for name in _RECORDED:
            patches.patch(place, name, _recorded)
    for name in _SETTERS:
        if hasattr(torch, name):
            patches.patch(torch, name, _refused)
    for name in _ASKED:
        if hasattr(torch, name):
            patches.patch(torch, name, _asked_by_program)
    patches.patch(torch.utils, "swap_tensors", _refusing("calls torch.utils.swap_tensors"))
    patches.patch(forward_ad, "enter_dual_level", _refusing("enters a level of forward-mode gradients"))
    patches.patch(torch, "Generator", lambda before: _Generator)
    patches.patch(nn.Parameter, "__new__", _new_parameter)
    patches.patch(RemovableHandle, "remove", _removing)
    patches.patch(torch.autograd.graph.saved_tensors_hooks, "__enter__", _saved_tensors_hooks)
    for name in _AROUND_CHECKPOINTS:
        if hasattr(checkpointing, name):
            patches.patch(checkpointing, name, _inlined_checkpoint)


def next_hook() -> int:
    """Return the number that the next hook gets that is registered anywhere."""
    return RemovableHandle.next_id


_FORWARD_TABLES = ("_forward_hooks", "_forward_pre_hooks")
_BACKWARD_TABLES = ("_backward_hooks", "_backward_pre_hooks")
_OF_ALL = torch.nn.modules.module


def new_hooks(module: nn.Module, first: int, backward: bool = False) -> bool:
    """Tell whether a module, or all modules, have hooks that were registered since.

    Args:
        module: The module.
        first: The number of the first that counts.
        backward: Look at those that run backwards.
    """
    names = _BACKWARD_TABLES if backward else _FORWARD_TABLES
    tables = [getattr(module, name, None) for name in names]
    tables.extend(getattr(_OF_ALL, f"_global{name}", None) for name in names)
    return any(key >= first for table in tables if table for key in table)


def swapped_tensor(module: nn.Module, is_traced: Callable[[Any], bool], plain: bool = False) -> str | None:
    """Return the name of a parameter or buffer of a module for which a traced value stands, if there is one.

    Args:
        module: The module.
        is_traced: Tells traced values.
        plain: Look at plain attributes instead, where a parameter lands that is a traced value.
    """
    for inner in module.modules() if module._modules else (module,):
        tables: list[dict[str, Any]] = [vars(inner)] if plain else [inner._parameters, inner._buffers]
        for table in tables:
            for name, value in table.items():
                if is_traced(value):
                    return name
    return None
