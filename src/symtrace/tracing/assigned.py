"""Lists, dicts and sets that a program assigns to an attribute of a module, and goes on filling."""

from __future__ import annotations

import collections
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from ..ir import Node
from .proxy import Proxy

__all__ = ["Assigned", "AssignedContainers"]

Versions = list[tuple[tuple[Any, Any], ...]]
"""For each region, the outer ones first, the variables around it with those that it has in their place."""

_SINGLE = (torch.Tensor, Proxy, str, bytes, int, float, bool, type(None))


@dataclass(slots=True)
class Original:
    """What was there before a region, in whose place the region has a copy.

    Attributes:
        copied: The copy.
        before: What was there.
        content: What was in it when the region was left, and in the copy until then.
    """

    copied: Any
    before: Any
    content: Any


@dataclass
class Assigned:
    """An assignment to an attribute.

    Attributes:
        module: Whose attribute.
        name: Its name.
        value: The container.
        depth: How many regions were being recorded.
        write: The node that assigns.
        content: What was in it then.
        originals: What stood in the place of containers in it, for the regions around.
        settled: How many regions are left to be recorded for which `originals` is not settled.
    """

    module: nn.Module
    name: str
    value: Any
    depth: int
    write: Node
    content: Any
    originals: list[Original]
    settled: int

    def has_changed(self, depth: int) -> bool:
        """Tell whether it, or what was there in its place before the regions that are left, has other content now."""
        if not _is_same(_content(self.value), self.content):
            return True
        left = self.depth > depth
        return left and any(not _is_same(_content(one.before), one.content) for one in self.originals)

    def settle(self, depth: int) -> None:
        """Take what the originals hold for what the region has left in them, which was just left."""
        if depth < self.settled:
            self.settled = depth
            for one in self.originals:
                one.content = _content(one.before)


class AssignedContainers:
    """Remembers what was in a container when it was assigned: that alone is what the assignment records."""

    def __init__(self) -> None:
        self._entries: dict[tuple[int, str], Assigned] = {}

    def note(
        self, module: nn.Module, name: str, value: Any, depth: int, write: Node, versions: Versions
    ) -> None:
        """Remember an assignment.

        Args:
            module: Whose attribute is assigned.
            name: Name of the attribute.
            value: What it becomes.
            depth: How many regions are being recorded.
            write: The node that assigns.
            versions: Of the regions that are being recorded.
        """
        self._entries.pop((id(module), name), None)
        if not issubclass(type(value), _SINGLE):
            inside = {id(one) for one in _containers(value)}
            originals: list[Original] = []
            for pairs in reversed(versions):
                for before, copied in pairs:
                    if before is not copied and id(copied) in inside:
                        originals.append(Original(copied, before, _content(copied)))
                        inside.add(id(before))  # which may be a copy in turn
            entry = Assigned(module, name, value, depth, write, _content(value), originals, depth)
            self._entries[id(module), name] = entry

    def settle(self, depth: int) -> None:
        """Note that a region is recorded and what it changed is in the containers around it.

        Args:
            depth: How many regions are being recorded now.
        """
        for entry in self._entries.values():
            entry.settle(depth)

    def keeps(self, containers: list[Any]) -> str | None:
        """Return the name of an attribute that holds one of some containers; None if none does."""
        wanted = {id(one) for one in containers}
        for entry in self._entries.values():
            if wanted and any(id(one) in wanted for one in _containers(entry.value)):
                return entry.name
        return None

    def entries(self) -> list[Assigned]:
        """Return the last assignment of each attribute, the oldest first."""
        return list(self._entries.values())

    def changed(self, depth: int) -> list[tuple[nn.Module, str, Any]]:
        """Return what has other content than when it was assigned at this depth, or deeper, and still has."""
        found = []
        for entry in self._entries.values():
            if entry.depth >= depth and entry.has_changed(depth):
                found.append((entry.module, entry.name, entry.value))
        return found

    def is_deeper(self, module: nn.Module, name: str, depth: int) -> bool:
        """Tell whether an attribute was assigned in a region that is recorded already."""
        return self._entries[id(module), name].depth > depth


def _containers(value: Any) -> Iterator[Any]:
    """Yield a container and those in it."""
    cls = type(value)
    if issubclass(cls, dict | list | tuple | set | collections.deque):
        yield value
        for item in dict.values(value) if issubclass(cls, dict) else value:
            yield from _containers(item)


def _content(value: Any) -> Any:
    """Return what is in a container, with what is in the containers in it."""
    cls = type(value)
    if issubclass(cls, dict):
        return cls, [(key, _content(item)) for key, item in dict.items(value)]
    if issubclass(cls, list | tuple | collections.deque):
        return cls, [(None, _content(item)) for item in value]
    if issubclass(cls, set):
        return cls, [(None, item) for item in value]
    return value


def _is_same(one: Any, two: Any) -> bool:
    if not (type(one) is type(two) is tuple):
        return one is two
    return (
        one[0] is two[0]
        and len(one[1]) == len(two[1])
        and all(a[0] is b[0] and _is_same(a[1], b[1]) for a, b in zip(one[1], two[1], strict=True))
    )
