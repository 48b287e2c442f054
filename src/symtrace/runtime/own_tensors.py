"""Copies of the tensors of a module: a stand-in writes to its own, and views stay views of one another."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

__all__ = ["OwnTensors", "is_plain"]


def is_plain(value: Any) -> bool:
    """Tell whether a value is a tensor that a program may write to like a buffer."""
    return isinstance(value, torch.Tensor) and not isinstance(value, nn.Parameter) and value.is_leaf


class OwnTensors:
    """Makes one copy of each tensor it is asked for; tensors that share memory have copies that share memory.

    What shares memory with a parameter is no copy, since parameters are shared with the original.

    Args:
        root: The module whose parameters are shared.
    """

    def __init__(self, root: nn.Module) -> None:
        self._copies: dict[int, tuple[Any, Any]] = {}
        self._memory: dict[int, Any] = {}
        for parameter in root.parameters():
            place = _place(parameter)
            if place is not None:
                self._memory[place] = None

    def own(self, value: Any) -> Any:
        """Return the copy of a tensor, always the same one."""
        if id(value) not in self._copies:
            self._copies[id(value)] = (
                value,
                self._copy(value),
            )  # with the original, whose identity has to last
        return self._copies[id(value)][1]

    def known(self, value: Any) -> Any:
        """Return the copy of a tensor if it, or one that it shares memory with, was copied; else itself."""
        if id(value) in self._copies:
            return self._copies[id(value)][1]
        if not is_plain(value):
            return value
        place = _place(value)
        return self.own(value) if place is not None and self._memory.get(place) is not None else value

    def _copy(self, value: Any) -> Any:
        if torch.nn.parameter.is_lazy(value):
            return value
        place = _place(value)
        with torch.no_grad():
            if place is None:
                own = value.detach().clone()
            elif place in self._memory and self._memory[place] is None:
                return value
            else:
                if place not in self._memory:
                    self._memory[place] = value.untyped_storage().clone()
                own = torch.empty(0, dtype=value.dtype, device=value.device)
                own.set_(self._memory[place], value.storage_offset(), value.shape, value.stride())
        return own.requires_grad_(value.requires_grad)


def _place(value: Any) -> int | None:
    """Return where a tensor's memory is, or None where that has no meaning or the tensor is more than its memory."""
    if type(value) not in (torch.Tensor, nn.Parameter, nn.Buffer) or value.layout is not torch.strided:
        return None
    if value.is_meta or value.is_quantized or value.is_conj() or value.is_neg() or value.is_inference():
        return None
    if torch.nn.parameter.is_lazy(value):
        return None
    return value.untyped_storage().data_ptr() or None
