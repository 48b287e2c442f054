"""Lists, dicts and objects that leave a program in several places: each is one object in the captured program, too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from ..ir import Node
from ..ops import program
from .arguments import ATOMS, vars_of
from .blame import trace_error

if TYPE_CHECKING:
    from .watching import Watcher

__all__ = ["make_shared"]

_IMMUTABLE = (tuple, frozenset, torch.Tensor, nn.Module, type)


def make_shared(tracer: Watcher, result: Any) -> None:
    """Record as nodes the containers that are returned and kept in an attribute, or in two places of either, or inputs.

    Args:
        tracer: The tracer, at the end of a trace.
        result: What the program returns.

    Raises:
        TraceError: ST022, one is kept in an attribute on one way of a decision.

    Cost: linear in what is returned and kept, times the attributes that keep it for containers in several places.
    """
    kept = tracer._assigned.entries()
    originals = {id(one.copied): one.before for entry in kept for one in entry.originals}
    reached = _Reached(tracer, [result, *[entry.value for entry in kept]], originals)
    given = [value for identity, value in reached.seen.items() if identity in tracer.given]
    shared = [*given, *(value for value in reached.several_times() if id(value) not in tracer.given)]
    if not shared:
        return
    parts = [(entry, _Reached(tracer, [entry.value], originals).seen) for entry in kept]
    for value in shared:
        keeping = [entry for entry, seen in parts if id(value) in seen]
        if any(entry.depth for entry in keeping):
            raise trace_error("ST022", attribute=f"self.{keeping[0].name}")
        if not keeping:
            _make(tracer, value)
            continue
        with tracer.graph.inserting_before(keeping[0].write):
            _make(tracer, value)
    for entry in kept:
        if not entry.depth:
            owner, name, _ = entry.write.args
            entry.write.args = (owner, name, tracer.create_arg(entry.value))


def _make(tracer: Watcher, value: Any) -> None:
    made = tracer.given_node(id(value)) if id(value) in tracer.given else tracer.create_arg(value)
    if type(made) in (list, dict):
        maker = program.new_list if type(made) is list else program.new_dict
        made = tracer.create_node("call_function", maker, (made,), {})
    if type(made) is Node:
        tracer.shared[id(value)] = made


class _Reached:
    """What is reached from some values, through containers and through objects that hold traced values.

    Args:
        tracer: The tracer.
        places: The values.
        originals: What stands for a container in its place, by identity.
    """

    def __init__(self, tracer: Watcher, places: list[Any], originals: dict[int, Any]) -> None:
        self._tracer = tracer
        self._originals = originals
        self.seen: dict[int, Any] = {}
        self._order: list[Any] = []
        self._again: set[int] = set()
        for place in places:
            self._visit(place)

    def several_times(self) -> list[Any]:
        """Return what is reached more than once and can be changed, the inner ones first."""
        return [value for value in self._order if id(value) in self._again]

    def _visit(self, value: Any) -> None:
        while id(value) in self._originals:
            value = self._originals[id(value)]
        cls = type(value)
        if cls in ATOMS or issubclass(cls, torch.Tensor | nn.Module | type) or self._tracer._is_proxy(value):
            return
        if hasattr(cls, "__fx_create_arg__"):  # it tells itself what it is in a graph
            return
        if id(value) in self.seen:
            if not issubclass(cls, _IMMUTABLE):
                self._again.add(id(value))
            return
        self.seen[id(value)] = value
        for part in self._parts(value, cls):
            self._visit(part)
        self._order.append(value)

    def _parts(self, value: Any, cls: type) -> Iterator[Any]:
        if issubclass(cls, dict):
            yield from dict.values(value)
        elif issubclass(cls, list | tuple):
            yield from value
        elif self._tracer.holds_values(value):
            yield from vars_of(value).values()
