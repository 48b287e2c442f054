"""The objects that generated code names, under names that nothing in the function hides."""

from __future__ import annotations

import builtins
import re
import sys
import types
from collections.abc import Iterable
from typing import Any

from .._base.qualified import qualified_name, resolve_qualified

__all__ = ["Globals"]

_NOT_IDENTIFIER = re.compile(r"\W+")


class Globals:
    """Names for objects, kept apart from the local names of the function.

    Args:
        local_names: Names of parameters and variables of the generated function.
        torch: The torch module, spelled `torch` unless a local name hides it.
    """

    def __init__(self, local_names: Iterable[str], torch: types.ModuleType) -> None:
        self._locals = set(local_names)
        self._torch = torch
        self._text_of: dict[int, str] = {}
        self._builtins: set[str] = set()
        self.table: dict[str, Any] = {}

    def add(self, hint: str, value: Any) -> str:
        """Return the name that stands for `value`: `hint`, made an identifier, unless it is taken."""
        text = self._text_of.get(id(value))
        if text is not None:
            return text
        stem = _NOT_IDENTIFIER.sub("_", hint).strip() or "_value"
        if stem[0].isdigit():
            stem = f"_{stem}"
        name, number = stem, 0
        while self._is_hidden(name) or (name in self.table and self.table[name] is not value):
            number += 1
            name = f"{stem}_{number}"
        self.table[name] = value
        self._text_of[id(value)] = name
        return name

    def claim_local(self, name: str) -> str:
        """Return `name`, or one like it, for a further local variable that hides nothing."""
        stem, number = name, 0
        while self._is_hidden(name) or name in self.table or name == "torch":
            number += 1
            name = f"{stem}_{number}"
        self._locals.add(name)
        return name

    def _is_hidden(self, name: str) -> bool:
        return name in self._locals or name in self._builtins

    def builtin(self, name: str) -> str:
        """Return how the builtin `name` is spelled: by itself unless a local name hides it."""
        if name in self._locals or name in self.table:
            return self.add(f"builtins_{name}", _plain(getattr(builtins, name)))
        # No global of that name: what stands in its place while a program is captured has to be found.
        self._builtins.add(name)
        return name

    def qualified(self, value: Any) -> str:
        """Return how a function, class or operator is spelled.

        What is reached through `torch` is spelled in full; everything else becomes a global of its own.
        """
        text = self._text_of.get(id(value))
        if text is not None:
            return text
        name = qualified_name(value)
        if name == getattr(value, "__name__", None) and _plain(getattr(builtins, name, None)) is value:
            return self.builtin(name)
        if name.startswith("torch.") and _leads_to(name, value):
            text = self.add("torch", self._torch) + name[len("torch") :]
            self._text_of[id(value)] = text
            self.table.setdefault(f" {text}", value)  # keeps the object alive, so that its id stays its own
            return text
        return self.add(
            name.replace("operator.", "_operator_") if name.startswith("operator.") else name, value
        )

    def finish(self) -> dict[str, Any]:
        """Return the table of globals."""
        return {name: value for name, value in self.table.items() if name[0] != " "}


def _plain(function: Any) -> Any:
    """Return the builtin function itself, where another stands in its place for the time of a capture."""
    wrapped = getattr(function, "__wrapped__", None)
    return wrapped if type(wrapped) is types.BuiltinFunctionType else function


def _leads_to(name: str, value: Any) -> bool:
    """Tell whether generated code that spells `name` gets `value`, attribute by attribute."""
    try:
        resolve_qualified(name)  # which imports what has to be
        found: Any = sys.modules["torch"]
        for part in name.split(".")[1:]:
            found = getattr(found, part)
    except (LookupError, AttributeError):
        return False
    return found is value
