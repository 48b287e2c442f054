"""Calls of `batch_norm` as the layers that do the same."""

from __future__ import annotations

import inspect
from typing import Any

import torch.nn.functional as F
from torch import nn

from ..ir import Node
from .core import Context

__all__ = ["as_layer"]

_LAYERS: dict[type, type[Any]] = {
    **dict.fromkeys((nn.Linear, nn.Conv1d, nn.ConvTranspose1d), nn.BatchNorm1d),
    **dict.fromkeys((nn.Conv2d, nn.ConvTranspose2d), nn.BatchNorm2d),
    **dict.fromkeys((nn.Conv3d, nn.ConvTranspose3d), nn.BatchNorm3d),
}
_SIGNATURE = inspect.signature(F.batch_norm)


def as_layer(node: Node, before: nn.Module, ctx: Context) -> nn.Module | None:
    """Return a layer in evaluation mode that does what a call of `F.batch_norm` does, if there is one.

    Args:
        node: The node.
        before: The layer whose value is normalised.
        ctx: Where its statistics are found. Nothing in the program may write to them.
    """
    kind = _LAYERS.get(type(before))
    if node.target is not F.batch_norm or kind is None:
        return None
    try:
        bound = _SIGNATURE.bind(*node.args, **node.kwargs)
    except TypeError:
        return None
    bound.apply_defaults()
    given = bound.arguments
    if given["training"] is not False or not isinstance(given["eps"], float):
        return None
    tensors = [_tensor(given[name], ctx) for name in ("running_mean", "running_var", "weight", "bias")]
    mean, variance, weight, bias = tensors
    if mean is None or variance is None or _MISSING in tensors:
        return None
    layer = kind(mean.numel(), given["eps"], affine=False)
    layer.running_mean, layer.running_var = mean, variance
    for name, value in (("weight", weight), ("bias", bias)):
        layer.register_parameter(name, value)
    return layer.eval()  # type: ignore[no-any-return]


_MISSING: Any = object()


def _tensor(value: Any, ctx: Context) -> Any:
    """Return the tensor that an operand is at each call, or None for None."""
    if value is None:
        return None
    found = ctx.value(value)
    return _MISSING if found is None or ctx.is_written(value) else found
