"""Merges what two ways of a decision leave behind, leaf by leaf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...errors import TraceError
from ...ir import Node
from ...ops import program
from ..arguments import ATOMS
from ..hooks import real_size
from .levels import refusal
from .unions import AsTag, Narrowed, Union, UnionShape, ways_of
from .variables import HOLE, LOST, UNDEFINED, Maybe, is_named_tuple, is_record, renewed

if TYPE_CHECKING:
    from ..optionals import Facts
    from ..watching import Watcher

__all__ = ["AsList", "Merger"]


@dataclass(frozen=True)
class _Result:
    """A place in a merged value that a result of the node fills."""

    index: int
    is_maybe: bool = False
    is_optional: bool = False


@dataclass(frozen=True)
class _SizeShape:
    """A `torch.Size` while two ways are merged, which holds nothing but numbers."""

    items: tuple[Any, ...]


@dataclass(frozen=True)
class AsList:
    """A list that has to be one of the graph, as it is on the other path.

    Attributes:
        items: The list.
    """

    items: list[Any]


class Merger:
    """Finds out where the results of two paths differ.

    Args:
        tracer: Records.
        raised: Whether each path ends in an exception.
        existing: Identities of the lists and dicts that were there before the decision.
        copied: Identities of those that the paths were given in their place.
        is_strict: Values that can't stand for one another are refused at once, even if nothing should read them.
        facts: What each path knows of values that may be None.

    Attributes:
        rebuilt: Lists and dicts that were there before, in whose place a merged one stands.
        made: Those that are no variable's, so that the paths should have made them.
        outputs: For each path, the values that have to be results of its region.
        prefers_else: Whether the example goes the second way.
    """

    def __init__(
        self,
        tracer: Watcher,
        raised: tuple[bool, bool],
        existing: frozenset[int],
        copied: frozenset[int],
        is_strict: bool,
        facts: tuple[Facts, Facts] = ({}, {}),
    ) -> None:
        self._tracer = tracer
        self._existing = existing
        self._copied = copied
        self._is_strict = is_strict
        self._facts = facts
        self._may_lose = False
        self.rebuilt: list[Any] = []
        self.made: list[Any] = []
        self._raised = raised
        self.outputs: tuple[list[Any], list[Any]] = ([], [])
        self.prefers_else = False

    def merge(self, one: Any, two: Any) -> Any:
        """Return the common structure of two values, with `_Result` where they differ.

        Raises:
            TraceError: ST033, they can't stand for one another.
        """
        if self._raised[0]:
            return self._only(two, 1)
        if self._raised[1]:
            return self._only(one, 0)
        if type(one) is Narrowed and type(two) is Narrowed and one.union is two.union:
            return one.joined(two)
        one, two = (value.value if type(value) is Narrowed else value for value in (one, two))
        if one is two:
            return one
        if one is HOLE or two is HOLE:
            return self._only(two, 1) if one is HOLE else self._only(one, 0)
        if type(one) is Union or type(two) is Union:
            return LOST if one is LOST or two is LOST else self._union(one, two)
        if any(value is UNDEFINED or value is LOST or type(value) is Maybe for value in (one, two)):
            return self._maybe(one, two)
        optional = self._optional(one, two)
        if optional is not NotImplemented:
            return optional
        cls = type(one)
        self._note_rebuilt(one)
        self._note_rebuilt(two)
        if cls is type(two) and cls in (tuple, list) and len(one) == len(two):
            return cls([self.merge(a, b) for a, b in zip(one, two, strict=True)])
        if cls is real_size and type(two) is real_size and len(one) == len(two):
            return _SizeShape(tuple([self.merge(a, b) for a, b in zip(one, two, strict=True)]))
        if cls is type(two) and is_named_tuple(cls):
            return cls(*[self.merge(a, b) for a, b in zip(one, two, strict=True)])
        if cls is type(two) and is_record(cls) and list(vars(one)) == list(vars(two)):
            return renewed(one, {name: self.merge(vars(one)[name], vars(two)[name]) for name in vars(one)})
        if cls is type(two) and cls is dict and list(one) == list(two):
            return {key: self.merge(one[key], two[key]) for key in one}
        is_traced = self._tracer.is_traced(one) or self._tracer.is_traced(two)
        if not is_traced and cls is type(two) and _equal(one, two):
            return one
        if cls is list and self._tracer.is_traced_list(two):
            one = AsList(one)
        elif type(two) is list and self._tracer.is_traced_list(one):
            two = AsList(two)
        elif not self._tracer.may_merge(one, two):
            return self._union(one, two)
        self.outputs[0].append(one)
        self.outputs[1].append(two)
        return _Result(len(self.outputs[0]) - 1)

    def _union(self, one: Any, two: Any) -> Any:
        """Merge two values of different kinds: what comes out is one of several.

        Raises:
            TraceError: ST033, such values are not kept.
        """
        tracer = self._tracer
        if not self._is_strict and not self._may_lose:
            if (one is None) is not (two is None):
                tracer.want_optionals()
            tracer.want_unions()
        if self._is_strict or not tracer.keeps_unions:
            raise refusal(tracer, "makes values of different kinds on two ways")
        ways: list[Any] = []
        tags: list[Any] = []
        for value, some in zip((one, two), ways_of(tracer, one, two), strict=True):
            numbers = tuple([_number_of(ways, way) for way in some])
            tags.append(AsTag(value, numbers) if type(value) is Union else numbers[0])
        sources = [0 if number < len(ways_of(tracer, one)[0]) else 1 for number in range(len(ways))]
        shapes = tuple([self._only(way, which) for way, which in zip(ways, sources, strict=True)])
        for outputs, tag in zip(self.outputs, tags, strict=True):
            outputs.append(tag)
        return UnionShape(_Result(len(self.outputs[0]) - 1), shapes)

    def _optional(self, one: Any, two: Any) -> Any:
        """Merge two values of which one is None, or may be; `NotImplemented` if there are two."""
        if self._is_strict or not self._tracer.keeps_optionals:
            return NotImplemented
        pair = one, two
        there = [self._presence(value, which) for which, value in enumerate(pair)]
        if all(there):
            return NotImplemented
        if there == [False, False]:
            return None
        for which, other in ((0, two), (1, one)):
            if pair[which] is None and self._facts[which].get(id(other)):
                return other  # the variable as it was, of which this path knows that it is None
        values = [value for value, is_there in zip(pair, there, strict=True) if is_there is not False]
        if not all(map(self._tracer.is_value, values)) or not self._tracer.may_merge(values[0], values[-1]):
            return self._union(one, two)
        for outputs, value, is_there in zip(self.outputs, pair, there, strict=True):
            outputs.append(None if is_there is False else value)
        return _Result(len(self.outputs[0]) - 1, is_optional=True)

    def _presence(self, value: Any, which: int) -> bool | None:
        return self._tracer.presence(value, self._facts[which])

    def _note_rebuilt(self, value: Any) -> None:
        if (type(value) in (list, dict) or is_record(type(value))) and id(value) not in self._copied:
            (self.rebuilt if id(value) in self._existing else self.made).append(value)

    def merge_variables(self, one: Any, two: Any, dead: frozenset[int]) -> Any:
        """Merge the variables after two paths; those that nothing reads any more need not agree."""
        if self._raised[0] or self._raised[1]:
            return self.merge(one, two)
        merged = []
        for index, (a, b) in enumerate(zip(one, two, strict=True)):
            merged.append(UNDEFINED if index in dead and a is not b else self._merge_or_lose(a, b))
        return tuple(merged)

    def merge_states(self, one: Any, two: Any, dead: frozenset[int]) -> Any:
        """Merge the states of a loop after two paths."""
        if self._raised[0] or self._raised[1]:
            return self.merge(one, two)
        first = [self.merge(a, b) for a, b in zip(one[:3], two[:3], strict=True)]
        return *first, self.merge_variables(one[3], two[3], dead)

    def _merge_or_lose(self, one: Any, two: Any) -> Any:
        if self._is_strict:
            return self.merge(one, two)
        count, before, rebuilt = len(self.outputs[0]), self._tracer.refusal, list(self.rebuilt)
        made = list(self.made)
        outermost, self._may_lose = not self._may_lose, True
        try:
            return self.merge(one, two)
        except TraceError as error:
            if error.code != "ST033":
                raise
            self._tracer.refusal = before
            self.rebuilt, self.made = rebuilt, made
            for outputs in self.outputs:
                del outputs[count:]
            return LOST
        finally:
            self._may_lose = not outermost

    def _maybe(self, one: Any, two: Any) -> Any:
        """Merge two values of which one may be missing."""
        if one is LOST or two is LOST:
            return LOST
        values = [value.value if type(value) is Maybe else value for value in (one, two)]
        present = [value for value in values if value is not UNDEFINED]
        if not present:
            return UNDEFINED
        if len(present) == 1 and type(present[0]) is tuple and present[0]:
            # Each leaf is checked where it is read.
            pairs = [(one, item) if one is UNDEFINED else (item, two) for item in present[0]]
            return tuple([self._maybe(*pair) for pair in pairs])
        fits = all(self._tracer.is_value(value) for value in present)
        if not fits or (len(present) == 2 and not self._tracer.may_merge(*present)):
            return self._lost(one, two)
        for outputs, value in zip(self.outputs, values, strict=True):
            outputs.append(program.UNASSIGNED if value is UNDEFINED else value)
        is_optional = any(map(self._may_be_none, present))
        return _Result(len(self.outputs[0]) - 1, is_maybe=True, is_optional=is_optional)

    def _lost(self, one: Any, two: Any) -> Any:
        if self._is_strict:
            raise refusal(self._tracer, "makes values of different kinds on two ways")
        return self._union(one, two) if self._tracer.keeps_unions else LOST

    def _only(self, value: Any, which: int) -> Any:
        """Return the structure of what one path gives, where the other one raises."""
        cls = type(value)
        if id(value) in self._existing:  # as it was before the decision
            return value
        self._note_rebuilt(value)
        if cls in (tuple, list):
            return cls([self._only(item, which) for item in value])
        if cls is real_size:
            return _SizeShape(tuple([self._only(item, which) for item in value]))
        if is_named_tuple(cls):
            return cls(*[self._only(item, which) for item in value])
        if cls is dict:
            return {key: self._only(item, which) for key, item in value.items()}
        if is_record(cls):
            return renewed(value, {name: self._only(item, which) for name, item in vars(value).items()})
        if cls is Maybe:
            self.outputs[which].append(value.value)
            self.outputs[1 - which].append(None)
            return _Result(
                len(self.outputs[0]) - 1, is_maybe=True, is_optional=self._may_be_none(value.value)
            )
        if not self._tracer.is_traced(value):
            return value
        self.outputs[which].append(value)
        self.outputs[1 - which].append(None)
        return _Result(len(self.outputs[0]) - 1, is_optional=self._presence(value, which) is None)

    def _may_be_none(self, value: Any) -> bool:
        return bool(self._tracer.is_optional(value))

    def build(self, shape: Any, node: Node) -> Any:
        """Return the merged value, its results read from a node."""
        cls = type(shape)
        if cls is _Result:
            one, two = self.outputs[0][shape.index], self.outputs[1][shape.index]
            one, two = (0 if type(each) is AsTag else each for each in (one, two))
            if one is None or one is program.UNASSIGNED or type(one) is AsList:
                one = two
            elif two is None or two is program.UNASSIGNED or type(two) is AsList:
                two = one
            if self.prefers_else:
                one, two = two, one
            value = self._tracer.merged(one, two, node, shape.index)
            if shape.is_optional:
                self._tracer.note_optional(value)
            return Maybe(value) if shape.is_maybe else value
        if cls is UnionShape:
            return Union(self.build(shape.tag, node), tuple([self.build(way, node) for way in shape.ways]))
        if cls in (tuple, list):
            items = [self.build(item, node) for item in shape]
            return shape if all(a is b for a, b in zip(items, shape, strict=True)) else cls(items)
        if cls is _SizeShape:
            return real_size([self.build(item, node) for item in shape.items])
        if is_named_tuple(cls):
            return cls(*[self.build(item, node) for item in shape])
        if is_record(cls):
            fields = {name: self.build(item, node) for name, item in vars(shape).items()}
            is_same = all(one is vars(shape)[name] for name, one in fields.items())
            return shape if is_same else renewed(shape, fields)
        if cls is dict:
            items_by_key = {key: self.build(item, node) for key, item in shape.items()}
            return shape if all(items_by_key[key] is shape[key] for key in shape) else items_by_key
        return shape


def _number_of(ways: list[Any], way: Any) -> int:
    """Return the position of a value among others, to which it is added if it is not there."""
    for number, other in enumerate(ways):
        if way is other or (type(way) is type(other) and type(way) in ATOMS and _equal(way, other)):
            return number
    ways.append(way)
    return len(ways) - 1


def _equal(one: Any, two: Any) -> bool:
    try:
        return bool(one == two) and (type(one) is not float or repr(one) == repr(two))
    except Exception:  # whatever a comparison of the user's raises, they are not known to be equal
        return False
