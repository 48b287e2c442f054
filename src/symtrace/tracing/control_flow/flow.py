"""What lifted functions ask: which way to go, or both."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

import torch

from ...errors import TraceError
from ...ops import program
from ..hooks import active_tracer, tracing_as
from ..identity import recorded_identity
from ..live_dicts import LiveDict
from ..proxy import Attribute
from ..shims import SHIMS
from .branches import record_branches
from .consumers import CHOOSING, chosen, contained
from .containers import is_alike
from .iterables import OpenValue, as_open, call
from .levels import Raised, refusal, would_handle
from .loops import record_loop
from .matching import Matching
from .texts import has_open, has_traced, recorded_text
from .unions import Narrowed, Union
from .variables import HOLE, LOST, UNDEFINED, Maybe, map_leaves

__all__ = ["Flow", "flow"]

_ITERABLES = (range, zip, enumerate, reversed)
_CONSUMERS = (sum, any, all, min, max, list, tuple, sorted)
_TAKERS = frozenset({*_CONSUMERS, dict, frozenset, set})
_MOST_ROUNDS = 40
"""How many rounds of a loop that the data ends lie in one another, each in a branch of the one before."""


def _open_tracer(test: Any) -> Any:
    """Return the tracer that has to record both ways, or None if Python can decide by itself."""
    if test is True or test is False or test is None:
        return None
    tracer = active_tracer()
    if tracer is None or not tracer.keeps_control_flow or not tracer._is_proxy(test):
        return None
    return tracer if tracer.is_open(test) else None


_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "Lt": operator.lt, "LtE": operator.le, "Gt": operator.gt, "GtE": operator.ge, "Eq": operator.eq,
    "NotEq": operator.ne, "Is": operator.is_, "IsNot": operator.is_not,
    "In": lambda item, container: Flow.contains(item, container),
    "NotIn": lambda item, container: Flow.not_(Flow.contains(item, container)),
}  # fmt: skip


def _assigned(leaf: Any, name: str) -> Any:
    if leaf is UNDEFINED or leaf is LOST:
        return Flow.load(leaf, name)
    if type(leaf) is not Maybe:
        return leaf
    tracer = active_tracer()
    if tracer is None:
        return leaf.value
    value = tracer.call_function(program.assigned, (leaf.value, name), {})
    return tracer.note_optional(value) if tracer.is_optional(leaf.value) else value


def _first(items: Any, wanted: bool) -> Any:
    """Return what `any` or `all` gives, asking no more items than they do."""
    for item in items:
        if _open_tracer(item) is not None:
            yes, no = (lambda: True), (lambda: _first(items, True))
            if not wanted:
                yes, no = (lambda: _first(items, False)), (lambda: False)
            return Flow.choose(item, yes, no)
        if bool(item) is wanted:
            return wanted
    return not wanted


def _unshimmed(function: Any) -> Any:
    """Return the builtin that a stand-in is for."""
    wrapped = getattr(function, "__wrapped__", None)
    if wrapped in CHOOSING:  # whose names answer otherwise during a capture
        return wrapped
    real = (*_ITERABLES, int, float, bool)
    return next((one for one in real if function is SHIMS.get(one.__name__)), function)


# ---------------------------------------------------------------------- loops that a traced value ends


def _ended(tracer: Any, items: list[Any], body: Any, state: Any, held: Any, dead: Any) -> Any:
    """Record what is left of a loop through known items that a traced value may have ended."""
    if len(items) > 4 and isinstance(items[0], int) and _are_in_steps(items):
        before = tracer.refusal
        try:
            return _rolled(tracer, items, body, state, held, dead)
        except TraceError as error:
            if error.code not in ("ST012", "ST013", "ST033"):
                raise
            tracer.refusal = before
    if len(items) > _MOST_ROUNDS:
        raise refusal(tracer, f"may end a loop of {len(items)} rounds that can't be kept as a loop")
    return _unrolled(tracer, items, body, state, held, dead)


def _are_in_steps(items: list[int]) -> bool:
    step = items[1] - items[0]
    return step != 0 and all(b - a == step for a, b in itertools.pairwise(items))


def _rolled(tracer: Any, items: list[int], body: Any, state: Any, held: Any, dead: Any) -> Any:
    """Record what is left of a loop over a range as a loop, for the case that it goes on."""
    step = items[1] - items[0]
    left = range(items[0], items[-1] + (1 if step > 0 else -1), step)

    def roll(*values: Any) -> Any:
        return record_loop(
            tracer, OpenValue(left), None, _turn(body), (True, state[1], state[2], values), held, dead
        )

    return record_branches(
        tracer,
        state[0],
        roll,
        lambda *values: (False, *state[1:3], values),
        held,
        state[3],
        dead,
        is_state=True,
    )


def _turn(body: Any) -> Any:
    def turn(item: Any, state: Any) -> Any:
        after = body(item, *state[3])
        return after[0], after

    return turn


def _unrolled(tracer: Any, items: list[Any], body: Any, state: Any, held: Any, dead: Any) -> Any:
    """Go through items; each round lies in the branch of the one before where that may have ended the loop."""
    for index, item in enumerate(items):
        if _open_tracer(state[0]) is not None:
            rest, before = items[index + 1 :], state
            return record_branches(
                tracer,
                before[0],
                lambda *values: _unrolled(tracer, rest, body, body(item, *values), held, dead),  # noqa: B023
                lambda *values: (False, *before[1:3], values),  # noqa: B023 - asked at once
                held,
                before[3],
                dead,
                is_state=True,
            )
        if not state[0]:
            return state
        state = body(item, *state[3])
    return state


def _is_error(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseException)


class Flow(Matching):
    """The functions that a lifted function calls in place of its own decisions."""

    UNDEFINED = UNDEFINED
    HOLE = HOLE

    @staticmethod
    def is_(left: Any, right: Any, *asked: Any) -> Any:
        """Return whether two values are one object, once the tracer has seen the question.

        Args:
            left: One.
            right: The other.
            *asked: Those that are variables or parts of something.
        """
        tracer = active_tracer()
        if tracer is not None:
            left, right = (
                tracer.to_identity(side, "is") if type(side) is Attribute else side for side in (left, right)
            )
            if tracer.keeps_control_flow:
                result = recorded_identity(tracer, left, right)
                if result is not NotImplemented:
                    return result
            tracer._on_question("is", list(asked) or [left, right])
            for one, other in ((left, right), (right, left)):
                if one is None:
                    return tracer.asks_for_none(other)
        return left is right

    @staticmethod
    def class_of(value: Any) -> Any:
        """Return the class of a value, as its attribute `__class__` tells."""
        tracer = active_tracer()
        return tracer.type_of(value) if tracer is not None and tracer._is_proxy(value) else value.__class__

    @staticmethod
    def is_none(value: Any) -> Any:
        """Return whether a value is None, a traced bool where only the run can tell."""
        if value is None:
            return True
        tracer = active_tracer()
        return False if tracer is None or not tracer.optionals else tracer.asks_for_none(value)

    @staticmethod
    def is_not_none(value: Any) -> Any:
        """Return whether a value is not None, a traced bool where only the run can tell."""
        if value is None:
            return False
        tracer = active_tracer()
        return True if tracer is None or not tracer.optionals else tracer.asks_for_value(value)

    # ------------------------------------------------------------------ statements

    @staticmethod
    def peek(read: Callable[[], Any]) -> Any:
        """Return the value of a variable, `UNDEFINED` if it has none."""
        try:
            return read()
        except NameError:
            return UNDEFINED

    @staticmethod
    def load(value: Any, name: str) -> Any:
        """Return the value of a variable that may have none."""
        if value is UNDEFINED:
            raise UnboundLocalError(
                f"cannot access local variable '{name}' where it is not associated with a value"
            )
        if value is LOST:
            tracer: Any = active_tracer()
            tracer.want_unions()
            raise refusal(tracer, f"uses `{name}`, which has values of different kinds depending on the path")
        kind = type(value)
        if kind is Maybe or kind in (tuple, list, dict):
            return map_leaves(value, lambda leaf: _assigned(leaf, name))
        return value

    @staticmethod
    def branch(
        test: Any,
        then: Callable[..., Any],
        orelse: Callable[..., Any],
        values: Any,
        held: Callable[[], Any],
        dead: Any,
    ) -> Any:
        """Run one of two blocks, or record both; return the variables that they touch."""
        tracer = _open_tracer(test)
        if tracer is None:
            return (then if test else orelse)(*values)
        return record_branches(tracer, test, then, orelse, held, values, frozenset(dead))

    @staticmethod
    def split(
        block: Callable[..., Any], values: Any, held: Callable[[], Any], dead: Any, asked: tuple[int, ...]
    ) -> Any:
        """Run a block, once for each value that a variable may be of; return the variables that it touches.

        Args:
            block: Takes the variables.
            values: The variables.
            held: Gives those of enclosing functions.
            dead: Positions of those that nothing reads afterwards; None if the block ends the function.
            asked: Positions of those that it uses.
        """
        index = next((one for one in asked if type(values[one]) is Union), None)
        tracer: Any = active_tracer()
        if index is None or tracer is None:
            return block(*values)
        union = values[index]

        def run(number: int, given: Any) -> Any:
            way = given[index].ways[number]
            result = Flow.split(block, (*given[:index], way, *given[index + 1 :]), held, dead, asked)
            if dead is None or result[index] is not way or not is_alike(way, union.ways[number]):
                return result
            same = Narrowed(union, frozenset({number}), union.ways[number])
            return (*result[:index], same, *result[index + 1 :])

        def decide(given: Any, first: int) -> Any:
            if first == len(union.ways) - 1:
                return run(first, given)
            return record_branches(
                tracer,
                tracer.call_function(operator.eq, (union.tag, first), {}),
                lambda *values: run(first, values),
                lambda *values: decide(values, first + 1),
                held,
                given,
                None if dead is None else frozenset(dead),
            )

        result = decide(values, 0)
        if dead is None:
            return result
        return tuple([one.widened() if type(one) is Narrowed else one for one in result])

    @staticmethod
    def branch_return(
        test: Any, then: Callable[..., Any], orelse: Callable[..., Any], values: Any, held: Callable[[], Any]
    ) -> Any:
        """Run one of two blocks that end the function, or record both; return what the function returns."""
        tracer = _open_tracer(test)
        if tracer is None:
            return (then if test else orelse)(*values)
        return record_branches(tracer, test, then, orelse, held, values)

    @staticmethod
    def while_(test: Any, body: Callable[..., Any], values: Any, held: Callable[[], Any], dead: Any) -> Any:
        """Run a loop, or record it; return whether it went to its end, whether it returned, what, and the variables.

        Args:
            body: Takes the variables; returns what this does.
            test: Takes the variables.
            values: The variables.
            held: Gives those of enclosing functions.
            dead: Positions of those that nothing reads afterwards.
        """
        state = (True, False, HOLE, values)
        while True:
            tracer = _open_tracer(state[0])
            go_on = state[0]
            if tracer is not None:
                last = state
                go_on = Flow.and_(tuple, go_on, lambda: test(*last[3]))  # noqa: B023 - asked at once
                break
            if not go_on:
                return state
            go_on = test(*state[3])
            tracer = _open_tracer(go_on)
            if tracer is not None:
                break
            if not go_on:
                return state
            state = body(*state[3])

        def turn(item: Any, state: Any) -> Any:
            after = body(*state[3])
            if after[0] is True:
                return test(*after[3]), after
            if after[0] is False:
                return False, after
            return Flow.and_(tuple, after[0], lambda: test(*after[3])), after

        return record_loop(tracer, None, go_on, turn, state, held, frozenset(dead))

    @staticmethod
    def for_(items: Any, body: Callable[..., Any], values: Any, held: Callable[[], Any], dead: Any) -> Any:
        """Run a loop, or record it; return what `while_` does.

        Args:
            items: What it goes through.
            body: Takes an item and the variables.
            values: The variables.
            held: Gives those of enclosing functions.
            dead: Positions of those that nothing reads afterwards.
        """
        tracer = active_tracer()
        state = (True, False, HOLE, values)
        if tracer is not None and tracer.keeps_control_flow:
            opened = as_open(tracer, items)
            if opened is not None:
                return record_loop(tracer, opened, None, _turn(body), state, held, frozenset(dead))
        rest = iter(items)
        for item in rest:
            state = body(item, *state[3])
            open_tracer = _open_tracer(state[0])
            if open_tracer is not None:
                left = list(rest)
                return _ended(open_tracer, left, body, state, held, frozenset(dead)) if left else state
            if not state[0]:
                break
        return state

    @staticmethod
    def raise_(error: Any) -> None:
        """Raise an exception, or record that this path does."""
        tracer = active_tracer()
        if tracer is None or not tracer.levels:
            raise error
        if would_handle(tracer._outside):
            raise refusal(tracer, "may handle an exception that only one way raises")
        with tracing_as(None):
            made = error() if isinstance(error, type) else error
        raise Raised(made)

    @staticmethod
    def raise_new(kind: Any, /, *args: Any, **kwargs: Any) -> None:
        """Raise an exception that is made of values, or record that this path does."""
        tracer = active_tracer()
        if tracer is None or not tracer.levels or not _is_error(kind) or not has_traced(tracer, args, kwargs):
            Flow.raise_(kind(*args, **kwargs))
            return
        if would_handle(tracer._outside):
            raise refusal(tracer, "may handle an exception that only one way raises")
        given = tracer.create_arg((args, kwargs))
        raise Raised(tracer.create_node("call_function", program.new_error, (kind, *given), {}))

    @staticmethod
    def text(*parts: Any) -> Any:
        """Return what an f-string gives: texts, and values with how they are converted and formatted."""
        tracer = active_tracer()
        if tracer is None or not has_traced(tracer, parts):
            return program.text(*parts)
        return recorded_text(tracer, program.text, parts, {})

    @staticmethod
    def written(*parts: Any) -> Any:
        """Return what an f-string gives that is kept; only what the data decides is left to the run."""
        tracer = active_tracer()
        if tracer is None or not has_open(tracer, parts):
            return program.text(*parts)
        return recorded_text(tracer, program.text, parts, {})

    @staticmethod
    def textual(function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Return what makes a text of values, recorded where they are traced."""
        function = {"mod": operator.mod, "format": str.format}.get(function, function)
        tracer = active_tracer()
        if tracer is None or not has_traced(tracer, args, kwargs):
            return function(*args, **kwargs)
        return recorded_text(tracer, _unshimmed(function), args, kwargs)

    # ------------------------------------------------------------------ expressions

    @staticmethod
    def iterable(function: Any, *args: Any, **kwargs: Any) -> Any:
        """Return what `range`, `zip`, `enumerate` or `reversed` gives to a `for`, of unknown length where need be."""
        function = _unshimmed(function)
        tracer = active_tracer()
        is_asked = tracer is not None and tracer.keeps_control_flow and function in _ITERABLES
        opened = call(tracer, function, args, kwargs) if is_asked else None  # type: ignore[arg-type]
        return function(*args, **kwargs) if opened is None else opened

    @staticmethod
    def call(function: Any, *args: Any, **kwargs: Any) -> Any:
        """Return what a builtin gives, recorded where traced values decide how."""
        function = _unshimmed(function)
        tracer = active_tracer()
        if tracer is not None and tracer.keeps_control_flow and function in CHOOSING and args:
            result = chosen(tracer, function, args, kwargs)
            if result is not NotImplemented:
                return result
        if tracer is not None and tracer.keeps_control_flow and not kwargs and args:
            first = args[0]
            if function in (any, all) and len(args) == 1 and not tracer.is_open_iterable(first):
                return _first(iter(first), function is any)
            if function is bool and len(args) == 1 and _open_tracer(first) is not None:
                return tracer.truth_of(first)
            if function in (int, float) and tracer._is_proxy(first):
                return tracer.call_function(function, args, kwargs)
            if function in _CONSUMERS and tracer.is_open_iterable(first):
                return tracer.call_function(function, args, kwargs)
        return function(*args, **kwargs)

    @staticmethod
    def sort(items: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call `items.sort`, which compares traced values if `items` is a list of such."""
        tracer = active_tracer()
        if type(items) is list and not args and tracer is not None and tracer.keeps_control_flow:
            result = chosen(tracer, sorted, (items,), kwargs)
            if result is not NotImplemented:
                items[:] = result
                return None
        return items.sort(*args, **kwargs)

    @staticmethod
    def consume(function: Any, run: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
        """Return what a builtin gives that is handed a generator: `run()`, or else `otherwise()` for one so named."""
        return run() if _unshimmed(function) in _TAKERS else otherwise()

    @staticmethod
    def choose(
        test: Any, then: Callable[[], Any], orelse: Callable[[], Any], held: Callable[[], Any] = tuple
    ) -> Any:
        """Return `then() if test else orelse()`."""
        tracer = _open_tracer(test)
        if tracer is None:
            return then() if test else orelse()
        return record_branches(tracer, test, then, orelse, held)

    @staticmethod
    def and_(held: Callable[[], Any], first: Any, *rest: Callable[[], Any]) -> Any:
        """Return `first and rest[0]() and ...`."""
        if not rest:
            return first
        tracer = _open_tracer(first)
        if tracer is None:
            return Flow.and_(held, rest[0](), *rest[1:]) if first else first
        otherwise = False if tracer.is_bool(first) else first
        asked: list[Any] = []

        def then() -> Any:
            asked.append(Flow.and_(held, rest[0](), *rest[1:]))
            return asked[-1]

        return tracer.imply_both(record_branches(tracer, first, then, lambda: otherwise, held), first, asked)

    @staticmethod
    def or_(held: Callable[[], Any], first: Any, *rest: Callable[[], Any]) -> Any:
        """Return `first or rest[0]() or ...`."""
        if not rest:
            return first
        tracer = _open_tracer(first)
        if tracer is None:
            return first if first else Flow.or_(held, rest[0](), *rest[1:])
        at_once = True if tracer.is_bool(first) else first
        asked: list[Any] = []

        def orelse() -> Any:
            asked.append(Flow.or_(held, rest[0](), *rest[1:]))
            return asked[-1]

        return tracer.imply_either(
            record_branches(tracer, first, lambda: at_once, orelse, held), first, asked
        )

    @staticmethod
    def compare(held: Callable[[], Any], left: Any, name: str, value: Callable[[], Any], *rest: Any) -> Any:
        """Return the result of a chain of comparisons.

        Args:
            held: Gives variables that the operands read.
            left: The first operand.
            name: Name of the first operator in the syntax tree.
            value: Gives the second operand.
            *rest: Further operators and operands.
        """
        right = value()
        result = _COMPARISONS[name](left, right)
        if not rest:
            return result
        return Flow.and_(held, result, lambda: Flow.compare(held, right, *rest))

    @staticmethod
    def contains(item: Any, container: Any) -> Any:
        """Return `item in container`, which for a traced tensor is a traced bool."""
        tracer = active_tracer()
        if tracer is None or not tracer.keeps_control_flow:
            return item in container
        if type(container) is LiveDict:
            return container.contains(item)
        if not tracer._is_proxy(container):
            result = contained(tracer, item, container)
            return item in container if result is NotImplemented else result
        if tracer.class_of(container) is not torch.Tensor:
            return item in container
        return tracer.contains(container, item)

    @staticmethod
    def not_(value: Any) -> Any:
        """Return `not value`."""
        tracer = _open_tracer(value)
        if tracer is None:
            return not value
        return tracer.imply_not(tracer.call_function(operator.not_, (value,), {}), value)


flow = Flow()
