"""The only place that patches anything: process-wide hooks that answer for the thread that is capturing.

A hook is installed when the first capture of the process begins and taken out when the last one ends. In a thread that
is not capturing it passes through. Each place is counted, so that captures may overlap in any order.
"""

from __future__ import annotations

import builtins
import logging
import sys
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from ..values import FakeTensor
from . import torch_tables

if TYPE_CHECKING:
    from .tracer import Tracer

__all__ = [
    "MISSING",
    "PatchSet",
    "active_tracer",
    "installed",
    "is_tracing",
    "original_call",
    "original_callable",
    "original_isinstance",
    "original_len",
    "real_size",
    "tracing_as",
    "unwatched",
]

original_isinstance = builtins.isinstance
original_call = nn.Module.__call__
_original_getattr = nn.Module.__getattr__
_original_setattr = nn.Module.__setattr__
_original_delattr = nn.Module.__delattr__
MISSING = object()


class _Active(threading.local):
    tracer: Tracer | None = None


_active = _Active()
_lock = threading.RLock()
_counts: dict[tuple[int, str], int] = {}
_saved: dict[tuple[int, str], tuple[Any, Any]] = {}
_limit_holders = 0
_saved_limit = 0


def active_tracer() -> Tracer | None:
    """Return the tracer that is capturing in this thread."""
    return _active.tracer


def is_tracing() -> bool:
    """Tell whether a program is being captured in this thread."""
    return _active.tracer is not None


@contextmanager
def tracing_as(tracer: Tracer | None) -> Iterator[None]:
    """Make `tracer` the one that hooks of this thread answer to; None lets them pass through."""
    before = _active.tracer
    _active.tracer = tracer
    try:
        yield
    finally:
        _active.tracer = before


@contextmanager
def unwatched() -> Iterator[None]:
    """Run torch code of symtrace's own during a capture, without any of it being recorded."""
    with (
        tracing_as(None),
        torch._C.DisableTorchFunction(),
    ):  # modes and subclasses alike; checked on 2.13, 2.14
        yield


def _read(place: Any, name: str) -> Any:
    table = place if type(place) is dict else vars(place)
    return table.get(name, MISSING)


def _write(place: Any, name: str, value: Any) -> None:
    if type(place) is dict:
        if value is MISSING:
            place.pop(name, None)
        else:
            place[name] = value
    elif value is MISSING:
        delattr(place, name)
    else:
        setattr(place, name, value)


class PatchSet:
    """Places patched on behalf of one capture, given back by `undo` whatever happened."""

    def __init__(self) -> None:
        self._held: list[tuple[int, str]] = []
        self._holds_limit = False

    def patch(self, place: Any, name: str, make: Callable[[Any], Any]) -> None:
        """Replace one attribute, or one entry of a dict.

        Args:
            place: A class, module or dict.
            name: Name in it.
            make: Gives the replacement for the present value; asked only when nobody holds the place yet.
        """
        key = (id(place), name)
        with _lock:
            if _counts.get(key, 0) == 0:
                before = _read(place, name)
                _saved[key] = (place, before)
                _write(place, name, make(None if before is MISSING else before))
            _counts[key] = _counts.get(key, 0) + 1
            self._held.append(key)

    def patch_code(self, function: Any, make: Callable[[types.FunctionType], types.CodeType]) -> None:
        """Replace what a function object does, for all who have it."""
        key = (id(function), "__code__")
        with _lock:
            if _counts.get(key, 0) == 0:
                _saved[key] = (function, function.__code__)
                function.__code__ = make(function)
            _counts[key] = _counts.get(key, 0) + 1
            self._held.append(key)

    def raise_recursion_limit(self) -> None:
        """Allow the frames that hooks add to each call of a module, so that what runs eagerly is traced too."""
        global _limit_holders, _saved_limit
        with _lock:
            if _limit_holders == 0:
                _saved_limit = sys.getrecursionlimit()
                sys.setrecursionlimit(3 * _saved_limit)
            _limit_holders += 1
            self._holds_limit = True

    def _restore_limit(self) -> None:
        global _limit_holders
        if self._holds_limit:
            self._holds_limit = False
            _limit_holders -= 1
            if _limit_holders == 0:
                sys.setrecursionlimit(_saved_limit)

    def undo(self) -> None:
        """Give every place back; the last holder restores what was there."""
        with _lock:
            self._restore_limit()
            while self._held:
                key = self._held.pop()
                _counts[key] -= 1
                if _counts[key] == 0:
                    del _counts[key]
                    place, before = _saved.pop(key)
                    _write(place, key[1], before)
        torch_tables.mend_tables(BUILTINS)


# ---------------------------------------------------------------------- modules


def _module_call(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
    tracer = _active.tracer
    if tracer is None:
        return original_call(self, *args, **kwargs)
    return tracer._on_module_call(self, args, kwargs)


def _module_getattr(self: nn.Module, name: str) -> Any:
    value = _original_getattr(self, name)
    tracer = _active.tracer
    return value if tracer is None else tracer._on_getattr(self, name, value)


def _module_setattr(self: nn.Module, name: str, value: Any) -> None:
    tracer = _active.tracer
    if tracer is None or not tracer._on_setattr(self, name, value):
        _original_setattr(self, name, value)


def _module_delattr(self: nn.Module, name: str) -> None:
    tracer = _active.tracer
    if tracer is None or not tracer._on_delattr(self, name):
        _original_delattr(self, name)


def _get_training(self: nn.Module) -> Any:
    try:
        value = self.__dict__["training"]
    except KeyError:
        raise AttributeError("training") from None
    tracer = _active.tracer
    return value if tracer is None else tracer._on_training(self, value)


def _set_training(self: nn.Module, value: Any) -> None:
    self.__dict__["training"] = value


def _training_property(before: Any) -> Any:
    return property(_get_training, _set_training)


# ---------------------------------------------------------------------- builtins and torch


def _isinstance(value: Any, classes: Any) -> bool:
    tracer = _active.tracer
    if original_isinstance(value, classes):
        # Programs ask for the class of fake tensors to find out whether they are traced.
        return tracer is None or type(value) is not FakeTensor or tracer._on_fake_isinstance(value, classes)
    return tracer is not None and tracer._on_isinstance(value, classes)


def _callable(value: Any) -> bool:
    tracer = _active.tracer
    if tracer is not None and tracer._is_proxy(value):
        return tracer._on_callable(value)
    return original_callable(value)


original_callable = builtins.callable
_callable.__wrapped__ = original_callable  # type: ignore[attr-defined]
_isinstance.__wrapped__ = original_isinstance  # type: ignore[attr-defined]


def _gated(original: Any) -> Any:
    """Return a function that records the call when an argument is traced."""

    def hook(*args: Any, **kwargs: Any) -> Any:
        tracer = _active.tracer
        if tracer is not None:
            proxy = tracer._find_proxy(args, kwargs)
            if proxy is not None:
                return proxy.tracer.call_function(original, args, kwargs)
        return original(*args, **kwargs)

    hook.__name__ = getattr(original, "__name__", "hook")
    hook.__wrapped__ = original  # type: ignore[attr-defined]
    return hook


def _recorded(original: Any) -> Any:
    """Return a function that is recorded whenever a capture is running, traced arguments or not."""

    def hook(*args: Any, **kwargs: Any) -> Any:
        tracer = _active.tracer
        if tracer is not None:
            return tracer.call_function(original, args, kwargs)
        return original(*args, **kwargs)

    hook.__name__ = getattr(original, "__name__", "hook")
    hook.__wrapped__ = original  # type: ignore[attr-defined]
    return hook


def _pinned_property(name: str) -> Any:
    """A property that fake tensors answer themselves, out of sight of the mode that sees those of tensors."""

    def make(before: Any) -> Any:
        def read(self: Any) -> Any:
            tracer = _active.tracer
            if tracer is None:
                return before.fget(self)
            return tracer._on_fake_property(self, name, before.fget)

        return property(read, before.fset)

    return make


def _len(value: Any, /) -> Any:
    tracer = _active.tracer
    if tracer is not None and tracer._is_proxy(value):
        return tracer.call_function(original_len, (value,), {})
    return original_len(value)


original_grad_mode = torch.is_grad_enabled
original_len = builtins.len
_len.__wrapped__ = original_len  # type: ignore[attr-defined]


def _choosing(original: Any) -> Any:
    """`max` and `min`, which would compare traced values one with another."""

    def hook(*args: Any, **kwargs: Any) -> Any:
        tracer = _active.tracer
        if tracer is not None and not kwargs:
            values = args if len(args) != 1 else args[0]
            if type(values) in (tuple, list):
                for value in values:
                    if tracer._is_proxy(value):
                        return tracer.call_function(original, args, kwargs)
        return original(*args, **kwargs)

    hook.__wrapped__ = original  # type: ignore[attr-defined]
    return hook


real_size = torch.Size


def _taking_traced(original: Any) -> Any:
    """Return what stands for a class whose C constructor takes no traced values."""

    class Meta(type):
        def __instancecheck__(cls, value: Any) -> bool:
            return original_isinstance(value, original)

        def __subclasscheck__(cls, other: type) -> bool:
            return other is cls or issubclass(other, original)

    class StandIn(metaclass=Meta):
        def __new__(cls, *args: Any) -> Any:
            tracer = _active.tracer
            if tracer is not None:
                proxy = tracer._find_proxy(args, {})
                if proxy is not None:
                    return proxy.tracer.call_function(original, args, {})
            return original(*args)

    return StandIn


def _apply(original: Any) -> Any:
    def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
        tracer = _active.tracer
        bound = original.__get__(None, cls)
        if tracer is not None:
            return tracer._on_apply(cls, bound, args, kwargs)
        return bound(*args, **kwargs)

    return classmethod(apply)


def _script_call(original: Any) -> Any:
    """A scripted function stays one node: its interpreter takes no traced values."""

    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        tracer = _active.tracer
        proxy = None if tracer is None else tracer._find_proxy(args, kwargs)
        if proxy is not None:
            return proxy.tracer.create_proxy("call_function", self, args, kwargs, name=self.name)
        return original(self, *args, **kwargs)

    return __call__


def _make_context(original: Any) -> Any:
    """Comes before `forward` of an autograd function that was applied under a name bound before the capture."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        tracer = _active.tracer
        if tracer is not None:
            tracer._on_hidden_apply(type(self).__name__)
        if original is not None:
            original(self, *args, **kwargs)

    return __init__


def _unwrapping(original: Any) -> Any:
    """What torch 2.13 calls in `Function.apply` on all that `isinstance` takes for a tensor."""

    def unwrap_if_dead(value: Any) -> Any:
        tracer = _active.tracer
        return value if tracer is not None and tracer._is_proxy(value) else original(value)

    return unwrap_if_dead


def _enter(original: Any) -> Any:
    def __enter__(self: Any) -> Any:
        tracer = _active.tracer
        if tracer is not None:
            tracer._on_enter(self)
            # What it sets inside is no call of the program: neither as a function nor as a mode of its own.
            with tracing_as(None), torch._C.DisableTorchFunction():
                return original(self)
        return original(self)

    return __enter__


def _exit(original: Any) -> Any:
    def __exit__(self: Any, *exc: Any) -> Any:
        tracer = _active.tracer
        if tracer is None:
            return original(self, *exc)
        try:
            tracer._on_exit(self)
        finally:  # what can't be recorded leaves no mode in force
            with tracing_as(None), torch._C.DisableTorchFunction():
                result = original(self, *exc)
        return result

    return __exit__


def _init_switch(original: Any) -> Any:
    """`torch.set_grad_enabled` takes effect when it is made, with or without a `with` statement."""

    def __init__(self: Any, mode: Any) -> None:
        tracer = _active.tracer
        if tracer is not None:
            tracer._on_enter(self, (mode,))
            # Under a mode that each call decides, what is recorded is recorded as at capture.
            value = tracer._value_now(mode) if tracer._is_proxy(mode) else bool(mode)
            with tracing_as(None), torch._C.DisableTorchFunction():
                original(self, value)
            return
        original(self, mode)

    return __init__


def _reading(original: Any) -> Any:
    """`container[key]` of modules registered under several names."""

    def __getitem__(self: nn.Module, key: Any) -> Any:
        value = original(self, key)
        tracer = _active.tracer
        if (
            tracer is not None
            and original_isinstance(value, nn.Module)
            and not original_isinstance(key, slice)
        ):
            if type(key) is int:
                key = list(self._modules)[key]
            tracer._note_read(self, str(key), value)
        return value

    return __getitem__


def _walking(original: Any) -> Any:
    """Iteration over modules registered under several names."""

    def __iter__(self: nn.Module) -> Iterator[Any]:
        tracer = _active.tracer
        if tracer is None:
            yield from original(self)
            return
        for name, value in self._modules.items():
            if value is not None:
                tracer._note_read(self, name, value)
            yield value

    return __iter__


def _asking(original: Any) -> Any:
    """A question about the modes that are in force."""

    def hook(*args: Any, **kwargs: Any) -> Any:
        tracer = _active.tracer
        if tracer is None:
            return original(*args, **kwargs)
        with torch._C.DisableTorchFunction():
            return tracer._on_mode_query(original, args, kwargs)

    hook.__wrapped__ = original  # type: ignore[attr-defined]
    return hook


def _members(original: Any) -> Any:
    """What `named_parameters` and `named_buffers` yield: tensors that the program has put in, where it has."""

    def _named_members(self: nn.Module, *args: Any, **kwargs: Any) -> Iterator[tuple[str, Any]]:
        tracer = _active.tracer
        if tracer is None or not tracer._replaced:
            yield from original(self, *args, **kwargs)
            return
        for name, value in original(self, *args, **kwargs):
            yield name, tracer._current_tensor(value)

    return _named_members


def _saving(original: Any) -> Any:
    """What `state_dict` holds, likewise."""

    def _save_to_state_dict(self: nn.Module, destination: Any, prefix: str, keep_vars: bool) -> None:
        original(self, destination, prefix, keep_vars)
        tracer = _active.tracer
        if tracer is not None and tracer._replaced:
            for table in (self._parameters, self._buffers):
                for name, value in table.items():
                    current = tracer._current_tensor(value)
                    if current is not value and prefix + name in destination:
                        destination[prefix + name] = current if keep_vars else current.detach()

    return _save_to_state_dict


MODE_QUESTIONS = ("is_autocast_enabled", "is_grad_enabled", "is_inference_mode_enabled")
"""Functions of torch that tell which modes are in force."""


def patch_containers(patches: PatchSet) -> None:
    """Have containers of modules tell under which name a module is read."""
    for container in (nn.ModuleList, nn.Sequential):
        patches.patch(container, "__getitem__", _reading)
        patches.patch(container, "__iter__", _walking)
    patches.patch(nn.ModuleDict, "__getitem__", _reading)


BUILTINS = ("callable", "isinstance", "len", "max", "min")
"""Builtin functions that are hooked."""

SIZE_FACTORIES = ("empty", "ones", "rand", "randn", "zeros")
"""Factories that take sizes one by one, where the C parser rejects a proxy before it asks who handles it."""

_UNHOOKED = (
    FakeTensor.__module__,
    "torch._subclasses.meta_utils",
    "torch.fx.experimental.symbolic_shapes",
    "ast",
)
"""Modules that ask for types very often, and never for those of the program's values."""

MODES = (torch.no_grad, torch.enable_grad, torch.inference_mode, torch.autocast)


@contextmanager
def installed(tracer: Tracer) -> Iterator[PatchSet]:
    """Install the hooks for the capture that `tracer` makes in this thread.

    Yields:
        The set of patches, to which the tracer may add.
    """
    not_made = torch_tables.fill_tables()
    patches = PatchSet()
    try:
        patches.raise_recursion_limit()
        patches.patch(nn.Module, "__call__", lambda before: _module_call)
        patches.patch(nn.Module, "__getattr__", lambda before: _module_getattr)
        patches.patch(nn.Module, "__setattr__", lambda before: _module_setattr)
        patches.patch(nn.Module, "__delattr__", lambda before: _module_delattr)
        patches.patch(nn.Module, "training", _training_property)
        patches.patch(builtins, "isinstance", lambda before: _isinstance)
        for module in filter(None, map(sys.modules.get, _UNHOOKED)):
            patches.patch(vars(module), "isinstance", lambda before: original_isinstance)
        patches.patch(builtins, "callable", lambda before: _callable)
        patches.patch(builtins, "len", lambda before: _len)
        patches.patch(builtins, "max", _choosing)
        patches.patch(builtins, "min", _choosing)
        for name in ("Size", "finfo", "iinfo"):
            patches.patch(torch, name, _taking_traced)
        # It logs, as an error, each failure of a fake kernel, which the program may handle or a real one may mend.
        patches.patch(logging.getLogger(FakeTensor.__module__), "disabled", lambda before: True)
        for name in ("device", "layout", "is_mkldnn"):
            if name in vars(FakeTensor):  # torch 2.14 has more of them than 2.13
                patches.patch(FakeTensor, name, _pinned_property(name))
        for name in SIZE_FACTORIES:
            patches.patch(torch, name, _gated)
        for name in MODE_QUESTIONS:
            patches.patch(torch, name, _asking)
        patches.patch(nn.Module, "_named_members", _members)
        patches.patch(nn.Module, "_save_to_state_dict", _saving)
        patches.patch(torch, "manual_seed", _recorded)
        patches.patch(torch.random, "manual_seed", _recorded)
        patches.patch(torch.autograd.Function, "apply", _apply)
        patches.patch(torch.autograd.function.BackwardCFunction, "__init__", _make_context)
        if hasattr(torch._functorch.utils, "unwrap_if_dead"):
            patches.patch(torch._functorch.utils, "unwrap_if_dead", _unwrapping)
        patches.patch(torch.jit.ScriptFunction, "__call__", _script_call)
        for manager in MODES:
            patches.patch(manager, "__enter__", _enter)
            patches.patch(manager, "__exit__", _exit)
        patches.patch(torch.set_grad_enabled, "__init__", _init_switch)
        patches.patch(torch.set_grad_enabled, "__exit__", _exit)
        with tracing_as(tracer):
            yield patches
    finally:
        patches.undo()
        for table in not_made:
            table.cache_clear()
