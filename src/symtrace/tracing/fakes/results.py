"""Remembers, by the metadata of what they were given, what torch's functions give on fake tensors."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import torch.utils._pytree as pytree  # the public home of pytrees, underscore and all (torch 2.13, 2.14)
from torch import nn

from ...values import FakeTensor, FakeTensorMode
from ..hooks import real_size
from ..process_state import new_hooks

__all__ = ["Results", "known_by", "module_known_by"]

_PLAIN = frozenset({int, float, str, bool, complex, type(None), torch.dtype, torch.device, torch.memory_format,
                    torch.layout, type(...)})  # fmt: skip
_BUILT_IN = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)
_TORCHS = frozenset({"torch", "torch.functional", "torch.nn.functional", "torch._jit_internal"})
_OWNERS = frozenset({"torch", "_operator", "builtins"})
_CLASSES = frozenset({torch.Tensor, torch.Tensor.__base__})
_READS_AND_WRITES = frozenset({getattr, setattr, print, delattr})
_DEVICES = frozenset({"cpu", "cuda"})
_MOST = 4096


class _Unkeyed(Exception):
    """An argument is none that metadata describes."""


class Results:
    """What calls gave, by function and metadata of the arguments.

    A layer costs a fake tensor for each operation below its functions, many times what it costs to make the results.
    Remembered is what is a new tensor, or several, made by a function of torch that wrote to none of its arguments: the
    metadata of these decides all that there is to know of it.
    """

    def __init__(self) -> None:
        self._known: dict[Any, _Known | None] = {}

    def call(
        self,
        mode: FakeTensorMode,
        what: Any,
        function: Callable[..., Any],
        args: Any,
        kwargs: Any,
        state: tuple[torch.Tensor, ...] = (),
    ) -> Any:
        """Return what a function gives for fake tensors; to be called without a mode in force.

        Args:
            mode: The fake mode.
            what: What the function is known by, from `known_by` or such; None for one that can't be remembered.
            function: The function.
            args: Its arguments.
            kwargs: Its keyword arguments.
            state: Further tensors that it reads.
        """
        tensors: list[torch.Tensor] = []
        key = None
        if what is not None and not torch.is_inference_mode_enabled():
            try:
                key = (
                    what,
                    _key(args, tensors),
                    _key(kwargs, tensors),
                    _key(state, tensors),
                    _circumstances(),
                )
                known = self._known.get(key)
            except _Unkeyed:
                key = None
        if key is None or not tensors:
            with mode:
                return function(*args, **kwargs)
        if known is not None:
            return _recall(mode, known, functools.partial(function, *args, **kwargs), tensors)
        if key in self._known:
            with mode:
                return function(*args, **kwargs)
        versions = [tensor._version for tensor in tensors]
        with mode:
            result = function(*args, **kwargs)
        if len(self._known) >= _MOST:
            self._known.clear()
        written = versions != [tensor._version for tensor in tensors]
        storages = {tensor.untyped_storage()._cdata for tensor in tensors}
        self._known[key] = None if written else _described(result, storages)
        return result


def known_by(kind: str, target: Any, first: Any) -> Any:
    """Return what a call is known by, or None if it is not a call of a function of torch's or Python's own."""
    if kind == "call_method":
        return target if type(first) is FakeTensor else None
    cls = type(target)
    if cls is types.FunctionType:
        return target if target.__module__ in _TORCHS else None
    return target if cls in _BUILT_IN and _is_known(target) and target not in _READS_AND_WRITES else None


def _is_known(function: Any) -> bool:
    """Tell whether a function of C is one of torch's or Python's own, not bound to an object of the program's."""
    owner = getattr(function, "__self__", None)
    if type(owner) is types.ModuleType:
        return owner.__name__.partition(".")[0] in _OWNERS
    return (
        getattr(function, "__objclass__", None) in _CLASSES
        or getattr(torch, function.__name__, None) is function
    )


def module_known_by(module: nn.Module) -> tuple[Any, tuple[torch.Tensor, ...]]:
    """Return what a layer of torch's own is known by, and its tensors; None for another."""
    own = vars(module)
    if module._modules or new_hooks(module, 0):
        return None, ()
    if not type(module).__module__.startswith("torch.nn.modules."):
        return None, ()
    settings = []
    for name, value in own.items():
        if name[0] == "_" and name in _TABLES:
            continue
        try:
            settings.append((name, _key(value, [])))
        except _Unkeyed:
            return None, ()
    tensors = [*module._parameters.values(), *module._buffers.values()]
    return (type(module), *settings), tuple(tensor for tensor in tensors if tensor is not None)


_TABLES = frozenset(vars(nn.Module()))


def _key(value: Any, tensors: list[torch.Tensor]) -> Any:
    cls = type(value)
    if cls is FakeTensor or cls is nn.Parameter or cls is torch.Tensor:
        if value.layout is not torch.strided or value.is_conj() or value.is_neg():
            raise _Unkeyed
        if cls is FakeTensor:
            device = value.fake_device
            if value.constant is not None:
                raise _Unkeyed
        else:
            device = value.device
        if device.type not in _DEVICES:
            raise _Unkeyed
        tensors.append(value)
        return value.shape, value.stride(), value.dtype, device, value.requires_grad
    if cls in _PLAIN:
        return cls, value
    if cls is tuple or cls is list or cls is real_size:
        return cls, *[_key(item, tensors) for item in value]
    if cls is dict:
        return tuple([(name, _key(item, tensors)) for name, item in value.items()])
    if cls is slice:
        return cls, *[_key(item, tensors) for item in (value.start, value.stop, value.step)]
    raise _Unkeyed


def _circumstances() -> Any:
    """Return what else decides what functions give."""
    cuda: Any = torch.backends.cuda
    on_cpu, on_cuda = torch.is_autocast_enabled("cpu"), torch.is_autocast_enabled("cuda")
    return (
        torch.is_grad_enabled(),
        on_cpu and torch.get_autocast_dtype("cpu"),
        on_cuda and torch.get_autocast_dtype("cuda"),
        cuda.flash_sdp_enabled(),
        cuda.mem_efficient_sdp_enabled(),
        cuda.math_sdp_enabled(),
        torch.backends.mkldnn.enabled,
    )


class _Made(NamedTuple):
    """A tensor that a call makes."""

    shape: torch.Size
    strides: tuple[int, ...]
    dtype: torch.dtype
    device: torch.device
    requires_grad: bool


class _Known(NamedTuple):
    """A result: tensors, and how they are packed."""

    made: tuple[_Made, ...]
    packed: pytree.TreeSpec | None
    requires_grad: bool


def _described(result: Any, storages: set[int]) -> _Known | None:
    """Return what makes a result anew, or None if it is not all new tensors.

    Args:
        result: The result.
        storages: Those that existed before.
    """
    leaves, spec = ([result], None) if type(result) is FakeTensor else pytree.tree_flatten(result)
    made = []
    for leaf in leaves:
        if type(leaf) is not FakeTensor or leaf.constant is not None or leaf.layout is not torch.strided:
            return None
        storage = leaf.untyped_storage()._cdata
        if storage in storages or leaf.storage_offset() or leaf.is_conj() or leaf.is_neg():
            return None
        if leaf.requires_grad and leaf.is_leaf:
            return None  # the graph of gradients begins here
        storages.add(storage)
        made.append(_Made(leaf.shape, leaf.stride(), leaf.dtype, leaf.fake_device, leaf.requires_grad))
    return _Known(tuple(made), spec, any(one.requires_grad for one in made)) if made else None


def _make(mode: FakeTensorMode, made: tuple[_Made, ...]) -> tuple[FakeTensor, ...]:
    return tuple([
        FakeTensor(mode, torch.empty_strided(one.shape, one.strides, dtype=one.dtype, device="meta"), one.device)
        for one in made
    ])  # fmt: skip


class _Recalled(torch.autograd.Function):
    """Stands in the graph of gradients for a call whose result is remembered, and runs it when they are asked for."""

    @staticmethod
    def forward(ctx: Any, mode: FakeTensorMode, made: Any, again: Callable[[], Any], *tensors: Any) -> Any:
        """Make the tensors of the result."""
        ctx.set_materialize_grads(False)
        ctx.again, ctx.tensors = again, tensors
        results = _make(mode, made)
        plain = [tensor for tensor, one in zip(results, made, strict=True) if not one.requires_grad]
        ctx.mark_non_differentiable(*plain)
        return results

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Return the gradients of the call."""
        create_graph = torch.is_grad_enabled()
        with torch.enable_grad():
            results = pytree.tree_leaves(ctx.again())
        asked = [
            (result, grad)
            for result, grad in zip(results, grads, strict=True)
            if grad is not None and result.requires_grad
        ]
        wanted = [tensor for tensor in ctx.tensors if tensor.requires_grad]
        found = iter(torch.autograd.grad(
            [result for result, _ in asked], wanted, [grad for _, grad in asked],
            create_graph=create_graph, allow_unused=True,
        ))  # fmt: skip
        return None, None, None, *[next(found) if tensor.requires_grad else None for tensor in ctx.tensors]


def _recall(
    mode: FakeTensorMode, known: _Known, again: Callable[[], Any], tensors: list[torch.Tensor]
) -> Any:
    if known.requires_grad:
        leaves = _Recalled.apply(mode, known.made, again, *tensors)  # type: ignore[no-untyped-call]
    else:
        leaves = _make(mode, known.made)
    return leaves[0] if known.packed is None else pytree.tree_unflatten(leaves, known.packed)
