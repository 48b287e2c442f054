"""The bridge to fake tensors: shapes, dtypes and devices without content."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, cast

import torch

# The module has an underscore, but is how torch itself shares fake tensors; checked on 2.13 and 2.14.
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
)
from torch.utils import (
    _python_dispatch,  # the only way to step outside a dispatch mode; checked on 2.13 and 2.14
)

__all__ = ["DATA_DEPENDENT", "FakeTensor", "FakeTensorMode", "fake_on", "outside_modes"]

DATA_DEPENDENT = (DataDependentOutputException, DynamicOutputShapeException)
"""What a fake tensor raises where only the data decides."""


def fake_on(mode: FakeTensorMode, tensor: torch.Tensor, device: Any = None) -> FakeTensor:
    """Return a fake tensor with the shape, strides, dtype and flags of a tensor.

    Args:
        mode: The fake mode that it belongs to.
        tensor: A real tensor, or one on the meta device.
        device: Where it claims to be; by default where the tensor is, and on the CPU for one on the meta device.
    """
    if isinstance(tensor, FakeTensor):
        if tensor.fake_mode is mode:
            return tensor
        meta = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")
        return FakeTensor(mode, meta.requires_grad_(tensor.requires_grad), device or tensor.fake_device)
    if tensor.device.type == "meta":
        target = torch.device(device or "cpu")
        meta = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")
        fake = FakeTensor(mode, meta, target)
        fake.requires_grad_(tensor.requires_grad)
        return fake
    return mode.from_tensor(tensor)


def outside_modes() -> AbstractContextManager[None]:
    """Return a context in which operators run for real, whatever fake mode is in force."""
    return cast("AbstractContextManager[None]", _python_dispatch._disable_current_modes())
