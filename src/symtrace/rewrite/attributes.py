"""Modules, parameters and buffers that a replacement brings along."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from ..errors import PatternError
from ..ir import Graph, all_graphs
from .pattern import resolve, same_configuration

__all__ = ["Imports"]


@dataclass
class Imports:
    """What has to be added to a module so that the targets of a replacement resolve in it.

    A path that the module has already means what is there, as long as that is of the same kind: a replacement
    refers to the layers of the module that is rewritten by their names. Otherwise it is brought along as a
    copy, under a free name.

    Attributes:
        module: Module that is rewritten.
        paths: For each target of the replacement, the path that it has in `module`.
    """

    module: nn.Module
    paths: dict[str, str] = field(default_factory=dict)
    _new: dict[str, tuple[Any, nn.Module, str]] = field(default_factory=dict)

    def plan(self, graph: Graph, source: nn.Module | None) -> dict[str, str]:
        """Return the path in `module` of each target of a replacement; nothing is changed yet.

        Args:
            graph: The replacement.
            source: Module in which its targets resolve, if any.

        Raises:
            PatternError: A target is in neither module (ST208).
        """
        paths: dict[str, str] = {}
        for node in (node for inner in all_graphs(graph) for node in inner.nodes):
            if node.op in ("get_attr", "call_module") and node.target not in paths:
                paths[node.target] = self._path(node.target, source)
        return paths

    def _path(self, target: str, source: nn.Module | None) -> str:
        for path, (_, known, origin) in self._new.items():
            if known is source and origin == target:
                return path
        there = resolve(self.module, target)
        brought = None if source is None else resolve(source, target)
        if there is None and brought is None:
            raise PatternError("ST208", target=target)
        if brought is None or (there is not None and _is_same_kind(there, brought)):
            return target
        assert source is not None
        path = self._free(target)
        self._new[path] = (brought, source, target)
        return path

    def _free(self, target: str) -> str:
        if not self._is_used(target):
            return target
        stem = target.replace(".", "_")
        number = 0
        while self._is_used(f"{stem}_{number}"):
            number += 1
        return f"{stem}_{number}"

    def _is_used(self, path: str) -> bool:
        """Return whether something stands at `path`, or in its way."""
        if path in self._new:
            return True
        owner: Any = self.module
        *parents, last = path.split(".")
        for atom in parents:
            if not hasattr(owner, atom):
                return False
            owner = getattr(owner, atom)
            if not isinstance(owner, nn.Module):
                return True
        return hasattr(owner, last)

    def brings(self, path: str) -> bool:
        """Return whether what will stand at a path is brought along."""
        return path in self._new

    def install(self) -> None:
        """Add copies of what was planned to the module."""
        for path, (value, source, origin) in self._new.items():
            owner = self.module
            *parents, last = path.split(".")
            for atom in parents:
                if not hasattr(owner, atom):
                    owner.add_module(atom, nn.Module())
                owner = getattr(owner, atom)
            _attach(owner, last, copy.deepcopy(value), source, origin)
        self._new.clear()


def _attach(owner: nn.Module, name: str, value: Any, source: nn.Module, origin: str) -> None:
    *parents, last = origin.split(".")
    holder = resolve(source, ".".join(parents)) if parents else source
    if isinstance(value, nn.Module):
        owner.add_module(name, value)
    elif isinstance(value, nn.Parameter):
        owner.register_parameter(name, value)
    elif isinstance(value, torch.Tensor) and last in dict(holder.named_buffers(recurse=False)):
        persistent = any(key == last for key in holder.state_dict())
        owner.register_buffer(name, value, persistent=persistent)
    else:
        setattr(owner, name, value)


def _is_same_kind(there: Any, brought: Any) -> bool:
    if there is brought:
        return True
    if isinstance(there, nn.Module) and isinstance(brought, nn.Module):
        return same_configuration(there, brought)
    if isinstance(there, nn.Parameter) and isinstance(brought, nn.Parameter):
        return there.shape == brought.shape and there.dtype == brought.dtype
    if isinstance(there, torch.Tensor) and isinstance(brought, torch.Tensor):
        alike = type(there) is type(brought) and there.shape == brought.shape and there.dtype == brought.dtype
        return alike and there.device == brought.device and bool(torch.equal(there, brought))
    return type(there) is type(brought) and bool(there == brought)
