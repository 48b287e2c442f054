"""The module that is traced: paths of what is in it, writes to it, and a check that nothing leaked into it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from .proxy import Proxy, collect_proxies

__all__ = ["Need", "Paths", "Restart", "Snapshot"]

_OWN = frozenset(vars(nn.Module()))


class Restart(BaseException):
    """The trace has to start again, since it met something that must be watched from the start.

    Attributes:
        needs: What the next try watches in addition.
    """

    def __init__(self, *needs: Need) -> None:
        super().__init__()
        self.needs = needs


@dataclass(frozen=True)
class Need:
    """A place that has to answer for traced values from the start of a trace.

    Attributes:
        place: A class whose attribute the program writes, or the globals in which a builtin class is called.
        name: Name of the attribute or class.
    """

    place: Any = field(compare=False)
    name: str
    identity: int

    @staticmethod
    def of(place: Any, name: str) -> Need:
        """Return the need for `name` in `place`."""
        return Need(place, name, id(place))


class Paths:
    """Dotted paths of the modules and tensors in a module, by identity."""

    def __init__(self, root: nn.Module) -> None:
        self.modules: dict[int, list[str]] = {}
        self.tensors: dict[int, str] = {}
        self._kept: list[Any] = [root]
        for name, module in root.named_modules(remove_duplicate=False):
            self.add_module(name, module)

    def add_module(self, name: str, module: nn.Module) -> None:
        """Add one module, without those inside it."""
        known = self.modules.setdefault(id(module), [])
        known.append(name)
        if len(known) > 1:
            return
        prefix = f"{name}." if name else ""
        state = module.__dict__
        tensors = self.tensors
        for table in (state["_parameters"], state["_buffers"]):
            for key, value in table.items():
                if value is not None:
                    tensors.setdefault(id(value), prefix + key)
        if len(state) > len(_OWN):
            for key, value in state.items():
                if isinstance(value, torch.Tensor):
                    tensors.setdefault(id(value), prefix + key)

    def add_tree(self, name: str, module: nn.Module) -> None:
        """Add a module from outside under a path, with all modules inside it, and keep it alive."""
        self._kept.append(module)
        for inner, child in module.named_modules(remove_duplicate=False):
            self.add_module(f"{name}.{inner}" if inner else name, child)

    def keep(self, value: Any) -> None:
        """Keep an object alive, so that its identity stays its own."""
        self._kept.append(value)


def _containers(root: nn.Module) -> Iterator[tuple[nn.Module, str, Any]]:
    for module in root.modules():
        state = module.__dict__
        if len(state) > len(_OWN):
            for name, value in state.items():
                if name not in _OWN and type(value) in (list, dict, set):
                    yield module, name, value


class Snapshot:
    """The lists, dicts and sets in the plain attributes of a module, to see whether a program changed them."""

    def __init__(self, root: nn.Module) -> None:
        self._saved = [(module, name, value, value.copy()) for module, name, value in _containers(root)]

    def restore(self) -> tuple[nn.Module, str, Proxy | None] | None:
        """Put every container back, and return the first that had changed, with a traced value found in it."""
        changed = None
        for module, name, value, before in self._saved:
            if len(value) == len(before) and _same_items(value, before):
                continue
            found: list[Proxy] = []
            collect_proxies(list(value) if isinstance(value, set) else value, found)
            changed = changed or (module, name, found[0] if found else None)
            value.clear()
            value.extend(before) if isinstance(value, list) else value.update(before)
        return changed


def _same_items(value: Any, before: Any) -> bool:
    if isinstance(value, dict):
        return all(key in value and value[key] is item for key, item in before.items())
    if isinstance(value, list):
        return all(a is b for a, b in zip(value, before, strict=True))
    return {id(item) for item in value} == {id(item) for item in before}
