"""Layers without parameters as calls of functions: `nn.ReLU()(x)` is `F.relu(x)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from .module_effects import is_hooked

__all__ = ["functional_form"]

_AVERAGE = ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override")
_MAXIMUM = ("kernel_size", "stride", "padding", "dilation", "ceil_mode", "return_indices")

_SETTINGS: dict[type, tuple[Callable[..., Any], tuple[str, ...]]] = {
    nn.ReLU: (F.relu, ("inplace",)),
    nn.ReLU6: (F.relu6, ("inplace",)),
    nn.ELU: (F.elu, ("alpha", "inplace")),
    nn.SELU: (F.selu, ("inplace",)),
    nn.CELU: (F.celu, ("alpha", "inplace")),
    nn.LeakyReLU: (F.leaky_relu, ("negative_slope", "inplace")),
    nn.SiLU: (F.silu, ("inplace",)),
    nn.Mish: (F.mish, ("inplace",)),
    nn.Hardswish: (F.hardswish, ("inplace",)),
    nn.Hardsigmoid: (F.hardsigmoid, ("inplace",)),
    nn.Hardtanh: (F.hardtanh, ("min_val", "max_val", "inplace")),
    nn.GELU: (F.gelu, ("approximate",)),
    nn.Softplus: (F.softplus, ("beta", "threshold")),
    nn.LogSigmoid: (F.logsigmoid, ()),
    nn.Sigmoid: (torch.sigmoid, ()),
    nn.Tanh: (torch.tanh, ()),
    nn.Softmax: (F.softmax, ("dim",)),
    nn.LogSoftmax: (F.log_softmax, ("dim",)),
    nn.Flatten: (torch.flatten, ("start_dim", "end_dim")),
    nn.AvgPool1d: (F.avg_pool1d, ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad")),
    nn.AvgPool2d: (F.avg_pool2d, _AVERAGE),
    nn.AvgPool3d: (F.avg_pool3d, _AVERAGE),
    nn.MaxPool1d: (F.max_pool1d, _MAXIMUM),
    nn.MaxPool2d: (F.max_pool2d, _MAXIMUM),
    nn.MaxPool3d: (F.max_pool3d, _MAXIMUM),
    nn.AdaptiveAvgPool1d: (F.adaptive_avg_pool1d, ("output_size",)),
    nn.AdaptiveAvgPool2d: (F.adaptive_avg_pool2d, ("output_size",)),
    nn.AdaptiveAvgPool3d: (F.adaptive_avg_pool3d, ("output_size",)),
    nn.GLU: (F.glu, ("dim",)),
    nn.Hardshrink: (F.hardshrink, ("lambd",)),
    nn.Softshrink: (F.softshrink, ("lambd",)),
    nn.Softsign: (F.softsign, ()),
    nn.Tanhshrink: (F.tanhshrink, ()),
    nn.Softmin: (F.softmin, ("dim",)),
    nn.PixelShuffle: (F.pixel_shuffle, ("upscale_factor",)),
}


def functional_form(module: Any) -> tuple[Callable[..., Any], dict[str, Any]] | None:
    """Return the function that a layer calls, and its settings as keyword arguments; None if there is none.

    Args:
        module: A module.

    >>> functional_form(nn.LeakyReLU(0.1))[1]
    {'negative_slope': 0.1, 'inplace': False}
    """
    known = _SETTINGS.get(type(module))
    if known is None or is_hooked(module) or "forward" in vars(module):
        return None
    function, names = known
    settings = {name: getattr(module, name) for name in names}
    if type(module) is nn.Softplus:  # it keeps as floats what the function has as whole numbers
        settings = {name: int(value) if value == int(value) else value for name, value in settings.items()}
    return function, settings
