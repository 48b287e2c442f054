"""Unique, valid Python names."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Container

__all__ = ["RESERVED", "Namespace", "sanitize", "snake_case"]

RESERVED = frozenset(keyword.kwlist) | frozenset(dir(builtins)) - {"None"} | {
    "device", "fx_pytree", "inf", "nan", "NoneType", "pytree", "torch",
}  # fmt: skip
"""Names that generated code needs for something else."""

_ILLEGAL = re.compile(r"[^0-9a-zA-Z_]+")
_SUFFIX = re.compile(r"(.*)_(\d+)", re.DOTALL)
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


def snake_case(text: str) -> str:
    """Return `text` in lower case, with an underscore at each hump: `fooBar` becomes `foo_bar`."""
    return _HUMP.sub("_", text).lower()


def sanitize(text: str) -> str:
    """Return `text` as an identifier: illegal runs become one underscore, a leading digit gets one in front."""
    text = _ILLEGAL.sub("_", text)
    if not text:
        return "_unnamed"
    return f"_{text}" if text[0].isdigit() else text


class Namespace:
    """Hands out names that are valid identifiers and taken only once.

    The caller keeps the table of names in use, so that a name is free as soon as its owner is gone; the
    namespace only remembers the last number given to each stem. A stem that was given out once is numbered
    from then on, which keeps names stable while a graph is edited.

    Args:
        taken: Names in use; membership is all that is asked of it.
    """

    __slots__ = ("_last", "_stems", "_taken")

    def __init__(self, taken: Container[str]) -> None:
        self._taken = taken
        self._last: dict[str, int] = {}
        self._stems: set[str] = set()

    def allocate(self, candidate: str) -> str:
        """Return `candidate` if it is valid and was never given out, else the next free `stem_n`.

        Cost: amortised constant.
        """
        if candidate in self._stems:
            # The common case while tracing: a stem that has been used, so that the next number is free.
            number = self._last[candidate] + 1
            name = f"{candidate}_{number}"
            if name not in self._taken:
                self._last[candidate] = number
                return name
        name = sanitize(candidate)
        return self._give(name, fresh=name not in self._stems)

    def claim(self, name: str) -> str:
        """Return exactly `name` if it is valid and unused now, else what `allocate` gives."""
        return self._give(sanitize(name), fresh=True)

    def _give(self, name: str, *, fresh: bool) -> str:
        match = _SUFFIX.fullmatch(name)
        stem, number = (match[1], int(match[2])) if match else (name, 0)
        last = self._last
        if not fresh or name in self._taken or name in RESERVED:
            number = last.get(stem, 0) + 1
            while (name := f"{stem}_{number}") in self._taken:
                number += 1
        if stem == name:
            self._stems.add(name)
            last.setdefault(name, 0)
        else:
            last[stem] = number
        return name

    def adopt(self, other: Namespace) -> None:
        """Go on numbering where `other` stands; for a table that holds the same names."""
        self._last = dict(other._last)
        self._stems = set(other._stems)

    def state(self) -> tuple[dict[str, int], frozenset[str]]:
        """Return the numbers and stems given out, for storing."""
        return dict(self._last), frozenset(self._stems)

    def set_state(self, state: tuple[dict[str, int], frozenset[str]]) -> None:
        """Take back what `state` gave."""
        self._last, self._stems = dict(state[0]), set(state[1])
