"""Builtins that go through traced values: `sorted`, `min` and `max` with and without a key, `in`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...ops import program
from ..joints import SeveralKinds
from .iterables import as_open
from .levels import refusal
from .loops import record_loop
from .variables import HOLE, Structure, flatten

if TYPE_CHECKING:
    from ..watching import Watcher

__all__ = ["CHOOSING", "chosen", "contained"]

CHOOSING = {sorted: program.sorted_by, min: program.least, max: program.greatest}
"""Builtins that compare items, and the operations that do so."""


def chosen(tracer: Watcher, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return what `sorted`, `min` or `max` gives as the result of one node; `NotImplemented` where Python can tell.

    Raises:
        TraceError: ST033, the items are of kinds that can't stand for one another.
    """
    key, reverse = kwargs.get("key"), kwargs.get("reverse", False)
    if not kwargs.keys() <= {"key", "reverse"} or type(reverse) is not bool:
        return NotImplemented
    given = args[0] if len(args) == 1 else list(args)
    if tracer.is_open_iterable(given):
        if key is None and not reverse:
            return NotImplemented
        keys = given if key is None else _keys(tracer, given, key)
        node = _node(tracer, function, given, keys, reverse)
        return tracer.like(given, node) if function is sorted else tracer.item_of(given, node)
    if type(given) not in (list, tuple):
        return NotImplemented
    items = list(given)
    known = items if key is None else [key(item) for item in items]
    if len(items) < 2 or not any(_decides(tracer, one) for one in known):
        return _plainly(function, items, known, reverse)
    structure, samples = _common(tracer, items)
    node = _node(tracer, function, items, known, reverse)
    if function is not sorted:
        return _value(tracer, structure, iter(samples), node)
    parts = [
        tracer.create_node("call_function", operator.getitem, (node, index), {})
        for index in range(len(items))
    ]
    return [_value(tracer, structure, iter(samples), part) for part in parts]


def _plainly(function: Any, items: list[Any], keys: list[Any], reverse: bool) -> Any:
    if not items:
        return function(items)
    if items is keys:
        return sorted(items, reverse=reverse) if function is sorted else function(items)
    return CHOOSING[function](items, keys, reverse)


def _keys(tracer: Watcher, items: Any, key: Callable[[Any], Any]) -> Any:
    """Return the keys of items of which only the run knows how many there are, as a traced list."""

    def turn(item: Any, state: Any) -> Any:
        state[3][0].append(key(item))
        return True, state

    opened = as_open(tracer, items)
    return record_loop(tracer, opened, None, turn, (True, False, HOLE, ([],)))[3][0]


def _decides(tracer: Watcher, value: Any) -> bool:
    """Tell whether what only the run knows decides how a value compares."""
    if type(value) in (tuple, list):
        return any(_decides(tracer, item) for item in value)
    return tracer._is_proxy(value) and tracer.is_compared_open(value)


def _node(tracer: Watcher, function: Any, items: Any, keys: Any, reverse: bool) -> Any:
    given = tracer.create_arg(items)
    args = (given, given if keys is items else tracer.create_arg(keys), reverse)
    return tracer.create_node("call_function", CHOOSING[function], args, {})


def _common(tracer: Watcher, items: list[Any]) -> tuple[Structure, list[Any]]:
    """Return the structure that all items have, and a value like the leaves at each place of it."""
    samples: list[Any] = []
    structure = flatten(items[0], samples)
    for item in items[1:]:
        leaves: list[Any] = []
        if flatten(item, leaves) != structure:
            raise refusal(tracer, "chooses from values of different structures, as the data tells")
        for index, leaf in enumerate(leaves):
            samples[index] = _joined(tracer, samples[index], leaf)
    return structure, samples


def _joined(tracer: Watcher, one: Any, two: Any) -> Any:
    if type(one) is _Several:
        return one if tracer.joined(one.sample, two) is not None else _joined(tracer, one.sample, two)
    if one is two or (type(one) is type(two) and not tracer.is_value(one) and bool(one == two)):
        return one
    joined = tracer.joined(one, two)
    if joined is None:
        raise refusal(tracer, "chooses from values of different kinds, as the data tells")
    if not tracer.is_traced(joined) and tracer.is_value(joined):
        return _Several(joined)
    return joined


class _Several:
    """Stands for a plain number that is one of several.

    Args:
        sample: One of them.
    """

    def __init__(self, sample: Any) -> None:
        self.sample = sample


def _value(tracer: Watcher, structure: Structure, samples: Any, node: Any) -> Any:
    """Return an item of some structure that a node stands for."""
    if structure.kind is None:
        sample = next(samples)
        if type(sample) is _Several:
            return tracer.renewed(sample.sample, node)
        is_new = type(sample) is SeveralKinds or tracer.is_traced(sample)
        return tracer.renewed(sample, node) if is_new else sample
    keys = structure.keys or tuple(range(len(structure.parts)))
    items = [
        _value(tracer, part, samples, tracer.create_node("call_function", operator.getitem, (node, key), {}))
        for key, part in zip(keys, structure.parts, strict=True)
    ]
    if structure.kind is dict:
        return dict(zip(keys, items, strict=True))
    return structure.kind(items)


def contained(tracer: Watcher, item: Any, container: Any) -> Any:
    """Return `item in container` for a container of Python; `NotImplemented` where Python can tell."""
    kind = type(container)
    if kind not in (list, tuple, set, frozenset, dict, range):
        return NotImplemented
    if kind in (set, frozenset, dict) and any(tracer._is_proxy(one) for one in container):
        return NotImplemented
    items = list(container)
    if not any(_decides(tracer, one) for one in (item, *items)) or not items:
        return NotImplemented
    return tracer.call_function(operator.contains, (tuple(items), item), {})
