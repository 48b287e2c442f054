"""The module that is traced: paths of what is in it, and what has to be watched in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from ..ir import Node
from .scanning import is_users

__all__ = ["Need", "Paths", "Replaced", "Restart", "has_setter"]

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
        name: Name of the attribute or class; for a function that makes others, what tells the text of one of them.
    """

    place: Any = field(compare=False)
    name: Any
    identity: int

    @staticmethod
    def of(place: Any, name: str) -> Need:
        """Return the need for `name` in `place`."""
        return Need(place, name, id(place))


class Paths:
    """Dotted paths of the modules and tensors in a module, by identity.

    Attributes:
        modules: Paths of modules.
        tensors: Paths of tensors.
        shared: Tensors that have several.
        around: Modules from outside with modules in them that were known before.
        dicts: Dicts that are attributes, and hold something.
    """

    def __init__(self, root: nn.Module) -> None:
        self.modules: dict[int, list[str]] = {}
        self.tensors: dict[int, str] = {}
        self.shared: set[int] = set()
        self.around: set[int] = set()
        self.dicts: list[dict[Any, Any]] = []
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
                if value is not None and tensors.setdefault(id(value), prefix + key) != prefix + key:
                    self.shared.add(id(value))
        if len(state) > len(_OWN):
            for key, value in state.items():
                if isinstance(value, torch.Tensor):
                    if tensors.setdefault(id(value), prefix + key) != prefix + key:
                        self.shared.add(id(value))
                elif type(value) is dict and value and key not in _OWN:
                    self.dicts.append(value)

    def add_tree(self, name: str, module: nn.Module) -> None:
        """Add a module from outside under a path, with all modules inside it, and keep it alive.

        A module inside it that is known already keeps its name: it is the one that the root has.
        """
        self._kept.append(module)
        known = set(self.modules)
        for inner, child in module.named_modules(remove_duplicate=False):
            if id(child) not in known:
                self.add_module(f"{name}.{inner}" if inner else name, child)
            else:
                self.around.add(id(module))

    def keep(self, value: Any) -> None:
        """Keep an object alive, so that its identity stays its own."""
        self._kept.append(value)


@dataclass
class Replaced:
    """A tensor of a module for which the program has assigned another.

    Attributes:
        tensor: The tensor, kept alive.
        path: Where it was.
        write: The node that assigns.
        key: Identity of the owner, and name.
        node: The node that reads it before, once there is one.
    """

    tensor: torch.Tensor
    path: str
    write: Node
    key: tuple[int, str]
    node: Node | None = None


def has_setter(cls: type, name: str) -> bool:
    """Tell whether assigning an attribute of a class's objects runs code of the program's, as with a property."""
    return any(
        hasattr(type(vars(base)[name]), "__set__") and is_users(base.__module__)
        for base in cls.__mro__
        if name in vars(base)
    )
