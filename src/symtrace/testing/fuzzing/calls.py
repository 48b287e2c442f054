"""How a program and its capture are called side by side, and what of a call is looked at."""

from __future__ import annotations

import dataclasses
from typing import Any

import torch
from torch import nn

__all__ = ["CALLS", "NOT_STATE", "leaves_of", "settings"]

CALLS = (
    # training, rows, seed of the inputs and draws, inputs that require gradients, gradients enabled
    (True, 3, 1, False, True),
    (True, 3, 1, True, True),
    (True, 5, 2, True, True),
    (False, 5, 3, True, True),
    (False, 4, 4, False, True),
    (True, 2, 5, True, False),
)
"""The calls of one run, in order: state goes from one to the next."""

NOT_STATE = frozenset(vars(nn.Module())) - {"training"}
"""Attributes that every module has, and that are compared in other ways."""


def settings() -> tuple[Any, ...]:
    """Return the modes of this thread that a capture or call must leave as they are."""
    return torch.is_grad_enabled(), torch.is_autocast_enabled("cpu"), torch.is_inference_mode_enabled()


def leaves_of(value: Any) -> list[Any]:
    """Return what is in containers and dataclasses, in order."""
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves_of(item)]
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in leaves_of(item)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [getattr(value, field.name) for field in dataclasses.fields(value)]
        return leaves_of(vars(value) if hasattr(value, "__dict__") else fields)
    return [value]
