"""Dicts of modules that a program fills while it runs, such as caches: each call asks anew what is in them."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from ..ir import Node
from .state import Need, Restart

if TYPE_CHECKING:
    from .watching import Watcher

__all__ = ["LiveDict", "needs_of_dict", "needs_of_held", "read_dict", "takes_as_dict"]


_TABLES = frozenset(vars(nn.Module()))
"""Attributes that every module has: what is in them are parameters, buffers, modules and hooks."""


class LiveDict:
    """Stands for a dict that is an attribute of a module; `in`, reading and setting an item are recorded.

    Any other use has the trace start again with the dict taken for what it is at capture.

    Args:
        tracer: Records.
        owner: Whose attribute it is.
        name: Name of the attribute.
        items: What is in it at capture.
    """

    def __init__(self, tracer: Watcher, owner: nn.Module, name: str, items: dict[Any, Any]) -> None:
        self._tracer = tracer
        self._owner = owner
        self._name = name
        self._items = dict(items)

    def node(self) -> Node:
        """Return a node that reads the dict where the program is now."""
        path = self._tracer._paths.modules[id(self._owner)][0]
        return self._tracer.create_node("get_attr", f"{path}.{self._name}" if path else self._name, (), {})

    def __fx_create_arg__(self, tracer: Any) -> Node:
        return self.node()

    def contains(self, key: Any) -> Any:
        """Return whether there is an item, as a traced bool."""
        key = self._key(key)
        asked = self._tracer.create_node("call_function", operator.contains, (self.node(), key), {})
        return self._tracer.renewed(key in self._items, asked)

    def __contains__(self, key: Any) -> bool:
        return bool(self.contains(key))

    def __getitem__(self, key: Any) -> Any:
        key = self._key(key)
        sample = self._items[key]
        read = self._tracer.create_node("call_function", operator.getitem, (self.node(), key), {})
        return self._tracer.renewed_state(sample, read)

    def __setitem__(self, key: Any, value: Any) -> None:
        key = self._key(key)
        if not self._tracer.is_value(value):
            self._take_as_it_is()
        stored = self._tracer.create_arg(value)
        self._tracer.create_node("call_function", operator.setitem, (self.node(), key, stored), {})
        self._items[key] = value

    def _key(self, key: Any) -> Any:
        if type(key) is not str and type(key) is not int:
            self._take_as_it_is()
        return key

    def _take_as_it_is(self, *args: Any) -> Any:
        raise Restart(_as_it_is(self._owner, self._name))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._take_as_it_is()

    __len__ = __iter__ = __bool__ = __eq__ = __delitem__ = __or__ = __ror__ = __reversed__ = _take_as_it_is
    __hash__ = None  # type: ignore[assignment]


def _as_it_is(owner: nn.Module, name: str) -> Need:
    """Return what tells that a dict is to be taken for what it is at capture."""
    return Need(dict, (type(owner), name, "as it is"), id(dict))


def _live(owner: nn.Module, name: str) -> Need:
    """Return what tells that a dict is to be asked at each call."""
    return Need(dict, (type(owner), name, "live"), id(dict))


def takes_as_dict(tracer: Watcher, owner: nn.Module, name: str, value: Any) -> bool:
    """Tell whether a read of an attribute gives a dict: one that is asked at each call, or the one at capture."""
    return type(value) is dict and _live(owner, name) in tracer._needs


def read_dict(tracer: Watcher, owner: nn.Module, name: str, value: dict[Any, Any]) -> Any:
    """Return what the program gets that reads a dict."""
    if _as_it_is(owner, name) in tracer._needs or not _is_askable(value):
        return value
    return LiveDict(tracer, owner, name, value)


def needs_of_dict(tracer: Watcher, container: Any) -> tuple[Need, ...]:
    """Return what has to be watched so that a dict is asked at each call; nothing if it can't be, or is already."""
    if type(container) is not dict or not tracer.keeps_control_flow or not _is_askable(container):
        return ()
    for module in tracer.root.modules():
        for name, value in vars(module).items():
            if value is container and name not in _TABLES:
                live = _live(module, name)
                return () if live in tracer._needs else (Need.of(type(module), name), live)
    return ()


def needs_of_held(tracer: Watcher, tensor: torch.Tensor) -> tuple[Need, ...]:
    """Return what has to be watched so that the dict that holds a tensor is asked at each call."""
    for held in tracer._paths.dicts:
        if any(item is tensor for item in held.values()):
            return needs_of_dict(tracer, held)
    return ()


def _is_askable(items: dict[Any, Any]) -> bool:
    """Tell whether a dict has tensors and numbers alone."""
    kinds = (torch.Tensor, int, float)
    return all(type(key) in (str, int) for key in items) and all(
        isinstance(item, kinds) for item in items.values()
    )
