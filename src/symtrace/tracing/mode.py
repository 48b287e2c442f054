"""Sees every torch call of the capturing thread, also those without a traced argument."""

from __future__ import annotations

import copy
import sys
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

from .blame import trace_error
from .frames import is_internal
from .proxy import Proxy, collect_proxies

if TYPE_CHECKING:
    from .tracer import Tracer

__all__ = ["CaptureMode", "answer_for_real"]

_QUERIES = frozenset({
    "__contains__", "__dir__", "__format__", "__hash__", "__len__", "__repr__", "_is_view", "can_cast", "data_ptr",
    "dim", "element_size", "get_device", "has_names", "is_complex", "is_conj", "is_contiguous", "is_floating_point",
    "is_inference", "is_neg", "is_pinned", "is_same_size", "is_set_to", "is_shared", "is_signed", "ndimension",
    "nelement", "numel", "promote_types", "result_type", "size", "storage", "storage_offset", "storage_type", "stride",
    "type_as_str", "untyped_storage", "_set_grad_enabled", "__reduce_ex__", "__deepcopy__",
    "is_tensor", "is_storage", "is_grad_enabled", "_typed_storage", "sparse_dim", "dense_dim", "is_coalesced",
    "_has_compatible_shallow_copy_type",
})  # fmt: skip
"""Functions that tell what is known of a real tensor without looking at its content."""

_CHANGING = frozenset({"device", "dtype", "grad", "grad_fn", "is_leaf", "layout", "requires_grad"})
"""Properties of a module's tensors that may be others at the next call, or once the module was moved or cast."""

_TENSOR_PROPERTIES = frozenset({"H", "T", "data", "imag", "mH", "mT", "real"})

_CONVERSIONS = frozenset(
    {"__bool__", "__complex__", "__float__", "__index__", "__int__", "__array__", "numpy"}
)
"""Functions that give the content of a real tensor to Python."""


class CaptureMode(TorchFunctionMode):
    """Records calls on real tensors, factories and random draws; calls on traced values go to their proxies.

    Args:
        tracer: Records.
    """

    def __init__(self, tracer: Tracer) -> None:
        super().__init__()
        self._tracer = tracer

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Record or answer one call."""
        kwargs = kwargs or {}
        tracer = self._tracer
        for value in args:
            if issubclass(type(value), Proxy):
                return type(value).__torch_function__(func, types, args, kwargs)
        found: list[Proxy] = []
        collect_proxies((args, kwargs), found)
        if found:
            return type(found[0]).__torch_function__(func, types, args, kwargs)
        return answer_for_real(tracer, func, args, kwargs)


def answer_for_real(tracer: Tracer, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Record or answer a call that has no traced value among its arguments."""
    name = getattr(func, "__name__", "")
    if name == "__deepcopy__" and tracer._is_of_module(args[0]):
        return tracer.call_function(copy.deepcopy, (args[0],), {})  # of what it is at each call
    if name in _QUERIES or type(func) is type:  # torch.device and its like are plain values
        return func(*args, **kwargs)
    if name in ("__get__", "__set__"):
        slot = getattr(getattr(func, "__self__", None), "__name__", "")
        if name == "__set__":
            return tracer.call_function(setattr, (args[0], slot, args[1]), {})
        if slot in _TENSOR_PROPERTIES:
            return tracer.call_function(getattr, (args[0], slot), {})
        if slot == "_version" and tracer._is_of_module(args[0]) and not is_internal(sys._getframe(2)):
            raise trace_error("ST026", what="asks how often a tensor of the module was written to")
        if slot in _CHANGING and tracer._is_of_module(args[0]):
            return tracer._property_of_held(args[0], slot)
        return func(*args, **kwargs)
    if name in _CONVERSIONS and args and isinstance(args[0], torch.Tensor):
        proxy = tracer.proxy(tracer.create_arg(args[0]))
        return getattr(proxy, "__array__" if name == "numpy" else name)()
    return tracer.on_torch_function(func, args, kwargs)
