"""Operators that compute each element by itself, and have a form that writes in place."""

from __future__ import annotations

import operator
from typing import Any

import torch
import torch.nn.functional as F

__all__ = ["BINARY", "FUNCTIONAL_OPERATORS", "FUNCTIONS", "INPLACE_FUNCTIONS", "METHODS"]

METHODS = frozenset({
    "abs", "acos", "add", "addcdiv", "addcmul", "asin", "atan", "ceil", "clamp", "clamp_max", "clamp_min", "cos",
    "cosh", "div", "erf", "erfc", "exp", "exp2", "expm1", "floor", "frac", "lerp", "log", "log10", "log1p", "log2",
    "masked_fill", "mul", "neg", "pow", "reciprocal", "relu", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh",
    "sqrt", "square", "sub", "tan", "tanh", "trunc", "true_divide",
})  # fmt: skip
"""Methods of tensors that have a form with an underscore; the one without gives the same values in a new tensor."""

BINARY = frozenset({"add", "addcdiv", "addcmul", "div", "lerp", "mul", "pow", "sub", "true_divide"})
"""Those whose result may have another dtype than the first operand, on account of the others."""

FUNCTIONAL_OPERATORS: dict[Any, tuple[Any, str]] = {
    operator.iadd: (operator.add, "add"),
    operator.isub: (operator.sub, "sub"),
    operator.imul: (operator.mul, "mul"),
    operator.itruediv: (operator.truediv, "div"),
}
"""Augmented assignments: what computes the same, and the method that it stands for."""

INPLACE_FUNCTIONS: dict[Any, tuple[Any, str]] = {
    getattr(torch, f"{name}_"): (getattr(torch, name), name)
    for name in sorted(METHODS)
    if hasattr(torch, f"{name}_") and hasattr(torch, name)
}
"""Functions of torch that write to their first argument: what computes the same, and the method."""

FUNCTIONS = frozenset({
    F.relu, F.relu6, F.elu, F.selu, F.celu, F.leaky_relu, F.silu, F.mish, F.hardswish, F.hardsigmoid, F.hardtanh,
})  # fmt: skip
"""Functions with a parameter `inplace` that compute each element by itself."""
