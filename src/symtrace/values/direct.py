"""A fake mode that asks the kernels of common operators for the metadata of their results, without any detour."""

from __future__ import annotations

from typing import Any

import torch

# The modules have underscores, but are how torch itself runs kernels on fake tensors; checked on 2.13 and 2.14.
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode, in_kernel_invocation_manager

__all__ = ["DirectMode"]

_EXACT = frozenset("aten::" + name for name in (
    "view", "_unsafe_view", "alias", "detach", "t", "transpose.int", "permute", "unsqueeze", "squeeze.dim", "expand",
    "slice.Tensor", "select.int", "split.Tensor", "unbind.int", "clone", "cat", "embedding",
    "add.Tensor", "sub.Tensor", "mul.Tensor", "div.Tensor", "mul.Scalar", "pow.Tensor_Scalar", "neg", "abs", "exp",
    "sqrt", "rsqrt", "sin", "cos", "tanh", "sigmoid", "relu", "silu", "gelu", "minimum", "maximum", "where.self",
    "masked_fill.Scalar", "eq.Tensor", "ne.Tensor", "lt.Tensor", "le.Tensor", "gt.Tensor", "ge.Tensor", "eq.Scalar",
    "ne.Scalar", "lt.Scalar", "le.Scalar", "gt.Scalar", "ge.Scalar", "bitwise_and.Tensor", "bitwise_or.Tensor",
    "bitwise_not", "logical_not", "mm", "bmm", "addmm", "baddbmm", "_softmax", "_safe_softmax", "_log_softmax",
    "mean.dim", "sum.dim_IntList", "_scaled_dot_product_flash_attention_for_cpu",
))  # fmt: skip
"""Operators whose kernels for the meta device give sizes and strides by the code of those for the CPU and for CUDA."""

_DEVICE = torch.ops.prim.device.default
_LAYER_NORM = "aten::native_layer_norm"
_ALIASES = frozenset({"aten::alias", "aten::detach"})
_PLAIN = frozenset({int, float, bool, str, type(None), torch.dtype, torch.memory_format})
_DEVICES = frozenset({"cpu", "cuda"})
_names: dict[Any, str | None] = {}


class _Unfit(Exception):
    """An argument is none that a kernel can be given as it is."""


def _layer_norm(tensors: list[FakeTensor], input: Any, sizes: Any, *rest: Any) -> tuple[torch.Tensor, ...]:
    """Return what `native_layer_norm` gives, whose kernel for the meta device is written in Python."""
    count = len(sizes)
    shape = tuple(input.shape)
    if not count or shape[-count:] != tuple(sizes) or not input.is_contiguous():
        raise _Unfit
    if any(one.dtype is not torch.float32 for one in tensors) or any(
        tuple(one.shape) != tuple(sizes) for one in tensors if one is not input
    ):
        raise _Unfit
    rows = shape[:-count] + (1,) * count
    return tuple([torch.empty(size, dtype=torch.float32, device="meta") for size in (shape, rows, rows)])


class DirectMode(FakeTensorMode):  # type: ignore[no-untyped-call]
    """Does what `FakeTensorMode` does, which takes a hundred times as long as a kernel for a new operator or new sizes.

    It looks for implementations in Python first, which there are for most operators, and keys what it found.
    """

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Return what an operator gives for fake tensors."""
        kwargs = kwargs or {}
        if func is _DEVICE and type(args[0]) is FakeTensor and not args[0].fake_mode.in_kernel_invocation:
            return args[0].fake_device
        try:
            name = _names[func]
        except KeyError:
            name = func._name if type(func) is torch._ops.OpOverload else None
            name = _names[func] = name if name in _EXACT or name == _LAYER_NORM else None
        if name is not None:
            try:
                return self._run(name, func, args, kwargs)
            except (_Unfit, RuntimeError, TypeError, ValueError, IndexError):
                pass  # the fake mode gives what is right, or says what is wrong
        return super().__torch_dispatch__(func, types, args, kwargs)

    def _run(self, name: str, func: Any, args: Any, kwargs: Any) -> Any:
        tensors: list[FakeTensor] = []
        real: list[torch.Tensor] = []
        given = [self._fit(arg, tensors, real) for arg in args]
        named = {key: self._fit(value, tensors, real) for key, value in kwargs.items()}
        if len(tensors) == len(real):  # what is all real is computed
            raise _Unfit
        device = tensors[0].fake_device
        if device.type not in _DEVICES or any(tensor.fake_device != device for tensor in tensors):
            raise _Unfit
        with in_kernel_invocation_manager(self):
            result = func(*given, **named) if name != _LAYER_NORM else _layer_norm(tensors, *given, **named)
        if type(result) is torch.Tensor:
            fake = FakeTensor(self, result, device)
            if name in _ALIASES:
                fake.dispatch_keys = tensors[0].dispatch_keys
            return fake
        if type(result) not in (tuple, list):
            raise _Unfit
        return type(result)([
            FakeTensor(self, one, device) if type(one) is torch.Tensor else one for one in result
        ])  # fmt: skip

    def _fit(self, value: Any, tensors: list[FakeTensor], real: list[torch.Tensor]) -> Any:
        cls = type(value)
        if cls in _PLAIN:
            return value
        if cls is torch.nn.Parameter or cls is torch.Tensor:
            real.append(value)
            value = self.fake_tensor_converter.from_real_tensor(self, value)
            cls = type(value)
        if cls is FakeTensor:
            if value.fake_mode is not self or value.constant is not None or value.layout is not torch.strided:
                raise _Unfit
            if value.is_conj() or value.is_neg():
                raise _Unfit
            tensors.append(value)
            return value
        if cls is list or cls is tuple:
            return cls([self._fit(item, tensors, real) for item in value])
        raise _Unfit
