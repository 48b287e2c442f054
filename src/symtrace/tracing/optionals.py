"""Values that are None or not, as the data decides: `mask = None; if x.sum() > 0: mask = ...`.

Such a value is one of the graph, which is None at some runs. Whether it is None is a question for the run, of which
both ways are kept; in each of them the answer is known. Anything else that is done with it is recorded as with the
value that is there, so that the run raises what the program raises for None.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..ir import Node
from ..ops import program
from .control_flow.levels import refusal
from .frames import unpacked_length, user_frame
from .recording import TracerBase
from .state import Need, Restart

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["NO_FACTS", "OPTIONALS", "UNIONS", "Facts", "Optionals", "OrNone"]

OPTIONALS = Need(bool, "optional", 1)
"""That a value is None or not as the data decides: whether something is None has to be asked where it is seen."""

UNIONS = Need(bool, "union", 2)
"""That a value is of several kinds, as the data decides: statements that use it have to be told."""

Facts = Mapping[int, bool]
"""Whether optional values are None, by identity, as far as is known."""

NO_FACTS: Facts = {}


_ADDING = frozenset({"append", "extend", "insert", "__setitem__", "__iadd__", "__add__"})
_PUTTING = frozenset({operator.setitem, operator.iadd, operator.add, program.new_list})


@dataclass(frozen=True)
class OrNone:
    """Stands in a loop for a value that some rounds leave None.

    Attributes:
        sample: One that it may be otherwise.
    """

    sample: Any


class Optionals(TracerBase):
    """Keeps account of which values may be None.

    Attributes:
        optionals: The values, by identity.
        versions: The variables around what is recorded, and those that its way was given in their place.
        places: What decisions and loops have been found to change beside variables.
    """

    if TYPE_CHECKING:
        _needs: frozenset[Need]
        _is_proxy: Callable[[Any], bool]
        joined: Callable[[Any, Any], Any]
        merged: Callable[[Any, Any, Node, int], Any]
        renewed: Callable[[Any, Node], Any]
        is_value: Callable[[Any], bool]
        is_traced_list: Callable[[Any], bool]

    def _begin(self) -> None:
        super()._begin()
        self.optionals: dict[int, Any] = {}
        self._is_none: dict[int, bool] = {}
        self.places: list[Any] = []
        self.versions: list[tuple[tuple[Any, Any], ...]] = []
        self._implied: dict[int, tuple[Any, Facts, Facts]] = {}

    def _watch_for_none(self) -> None:
        """Have code seen that asks whether something is None."""

    # ------------------------------------------------------------------ what is known

    @property
    def keeps_optionals(self) -> bool:
        """Whether values that may be None are kept; code that asks for None is not seen before."""
        return OPTIONALS in self._needs

    def want_optionals(self) -> None:
        """Start again so that values that may be None are kept.

        Raises:
            Restart: They are not yet.
        """
        if not self.keeps_optionals:
            raise Restart(OPTIONALS)

    @property
    def keeps_unions(self) -> bool:
        """Whether values of different kinds on two ways are kept as one of several."""
        return UNIONS in self._needs

    def want_unions(self) -> None:
        """Start again so that values of different kinds on two ways are kept.

        Raises:
            Restart: They are not yet.
        """
        self.want_optionals()
        if not self.keeps_unions:
            raise Restart(UNIONS)

    @property
    def shown(self) -> int:
        """What lifted functions show: 1 where they ask for None, 2 each use of a variable."""
        return 2 * self.keeps_unions or int(self.keeps_optionals)

    def presence(self, value: Any, facts: Facts = NO_FACTS) -> bool | None:
        """Tell whether there is a value: False for None, None where only the run can tell.

        Args:
            value: The value.
            facts: What is known besides.
        """
        if value is None:
            return False
        if not self.optionals or id(value) not in self.optionals:
            return True
        is_none = facts.get(id(value), self._is_none.get(id(value)))
        return None if is_none is None else not is_none

    def is_optional(self, value: Any) -> bool:
        """Tell whether only the run can say if a value is None."""
        return bool(self.optionals) and self.presence(value) is None

    def note_optional(self, value: Any) -> Any:
        """Note that a value may be None, and return it."""
        if not self.optionals:
            self._watch_for_none()
        self.optionals[id(value)] = value
        return value

    # ------------------------------------------------------------------ questions

    def asks_for_none(self, value: Any) -> Any:
        """Return `value is None`, a traced bool where only the run can tell."""
        is_there = self.presence(value)
        if is_there is not None:
            return not is_there
        result = self.call_function(operator.is_, (value, None), {})
        return self._imply(result, {id(value): True}, {id(value): False})

    def asks_for_value(self, value: Any) -> Any:
        """Return `value is not None`, a traced bool where only the run can tell."""
        is_there = self.presence(value)
        if is_there is not None:
            return is_there
        result = self.call_function(operator.is_not, (value, None), {})
        return self._imply(result, {id(value): False}, {id(value): True})

    def _imply(self, result: Any, if_true: Facts, if_false: Facts) -> Any:
        if (if_true or if_false) and self._is_proxy(result) and id(result) not in self._implied:
            self._implied[id(result)] = result, if_true, if_false
        return result

    def implied_by(self, test: Any) -> tuple[Facts, Facts]:
        """Return what is known where a test is true, and where it is false."""
        found = self._implied.get(id(test))
        return (NO_FACTS, NO_FACTS) if found is None else found[1:]

    def imply_not(self, result: Any, test: Any) -> Any:
        """Note that a result is `not test`, and return it."""
        if_true, if_false = self.implied_by(test)
        return self._imply(result, if_false, if_true)

    def imply_both(self, result: Any, first: Any, rest: list[Any]) -> Any:
        """Note that a result is `first and rest`, and return it; `rest` is empty if nothing asked for it."""
        facts = {**self.implied_by(first)[0], **(self.implied_by(rest[-1])[0] if rest else NO_FACTS)}
        return self._imply(result, facts, NO_FACTS)

    def imply_either(self, result: Any, first: Any, rest: list[Any]) -> Any:
        """Note that a result is `first or rest`, and return it; `rest` is empty if nothing asked for it."""
        facts = {**self.implied_by(first)[1], **(self.implied_by(rest[-1])[1] if rest else NO_FACTS)}
        return self._imply(result, NO_FACTS, facts)

    def settle(self, facts: Facts, values: tuple[Any, ...] = ()) -> tuple[Any, ...]:
        """Have facts known until the region ends, and return values with None for those that are.

        Args:
            facts: The facts.
            values: Values.
        """
        if not facts:
            return values
        self._is_none.update(facts)
        return tuple([None if facts.get(id(value)) else value for value in values])

    def require(self, value: Any, asked: str) -> None:
        """Record that an optional value is asked for what None has not.

        Args:
            value: The value.
            asked: Name of an attribute, or `__iter__`.
        """
        error: Exception = AttributeError(f"'NoneType' object has no attribute {asked!r}")
        if asked == "__iter__":
            frame = user_frame(2)
            is_unpacked = frame is not None and unpacked_length(frame) is not None
            what = (
                "cannot unpack non-iterable NoneType object"
                if is_unpacked
                else "'NoneType' object is not iterable"
            )
            error = TypeError(what)
        self.create_node("call_function", program.present, (self.create_arg(value), error), {})
        self.settle({id(value): False})

    def _assume_length(self, value: Any, count: int) -> None:
        """Note that a value was unpacked into so many names."""
        if self.is_optional(value):
            self.require(value, "__iter__")

    def refuse_optional(self, value: Any, classes: Any = None, answer: bool = True) -> None:
        """Stop where the program asks for the class of a value that may be None.

        Args:
            value: The value.
            classes: Those of an `isinstance`.
            answer: What it answers if there is a value.

        Raises:
            TraceError: ST033, it makes a difference.
        """
        if self.is_optional(value) and (classes is None or isinstance(None, classes) is not answer):
            raise refusal(self, "asks for the class of a value that is None or not, depending on the data")

    # ------------------------------------------------------------------ lists of the graph

    def call_method(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record a call of a method of `args[0]`."""
        if self.keeps_control_flow and method in _ADDING and self.is_traced_list(args[0]):
            self.refuse_none_in((args[1:], kwargs))
        return super().call_method(method, args, kwargs)

    def call_function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record a call of a function."""
        # Whether a value is a list costs a walk over what it was computed from, so that is asked last.
        if (
            self.keeps_control_flow
            and function in _PUTTING
            and self._may_hold_none((args, kwargs), NO_FACTS)
            and (function is program.new_list or any(map(self.is_traced_list, args)))
        ):
            self.refuse_none_in((args, kwargs))
        return super().call_function(function, args, kwargs)

    def refuse_none_in(self, value: Any, facts: Facts = NO_FACTS) -> None:
        """Stop where a list of the graph gets what may be None: what is read from it later is not known to be.

        Args:
            value: What is put into it, in containers.
            facts: What is known of values that may be None.

        Raises:
            TraceError: ST033.
        """
        if self._may_hold_none(value, facts):
            raise refusal(self, "puts what is None, or may be, into a list that grows as the data decides")

    def _may_hold_none(self, value: Any, facts: Facts) -> bool:
        return any(self.presence(one, facts) is not True for one in _leaves(value))

    # ------------------------------------------------------------------ joints

    def sample_of(self, value: Any) -> Any:
        """Return what stands in a loop for a value and those of other rounds."""
        return OrNone(value) if self.is_optional(value) else value

    def joined_or_none(self, sample: Any, after: Any) -> Any:
        """Return a sample for what is either of two values, of which one may be None; None if there is none."""
        is_optional = type(sample) is OrNone
        inner = sample.sample if is_optional else sample
        before, there = True if is_optional else self.presence(inner), self.presence(after)
        if before and there and not is_optional:
            return self.joined(inner, after)
        if not self.keeps_optionals or not all(
            self.is_value(one) for one in (inner, after) if one is not None
        ):
            return None
        if before is False or there is False:
            found = after if before is False else inner
        else:
            found = self.joined(inner, after)
        if found is None or (is_optional and found is inner):
            return None if found is None else sample
        return OrNone(found)

    def renewed_or_none(self, sample: Any, node: Node) -> Any:
        """Return a traced value like a sample that another node computes."""
        if type(sample) is OrNone:
            return self.note_optional(self.renewed(sample.sample, node))
        return self.renewed(sample, node)

    def merged_or_none(self, sample: Any, node: Node, index: int) -> Any:
        """Return the value after a loop that is like a sample, read from a result of a node."""
        if type(sample) is OrNone:
            return self.note_optional(self.merged(sample.sample, sample.sample, node, index))
        return self.merged(sample, sample, node, index)


def _leaves(value: Any) -> Iterator[Any]:
    """Yield what is in lists, tuples and dicts."""
    if type(value) in (list, tuple):
        for item in value:
            yield from _leaves(item)
    elif type(value) is dict:
        yield from _leaves(list(value.values()))
    else:
        yield value
