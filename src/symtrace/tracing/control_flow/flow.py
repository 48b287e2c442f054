"""What lifted functions ask: which way to go, or both."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ...errors import TraceError
from ..blame import here
from ..hooks import active_tracer, tracing_as
from .branches import Raised, record_branches, refusal, would_handle

__all__ = ["UNDEFINED", "Flow", "flow"]


class _Undefined:
    """Stands for a variable that has no value yet."""

    def __repr__(self) -> str:
        return "a variable that is not assigned on this path"

    def __getattr__(self, name: str) -> Any:
        raise TraceError(
            "ST033", location=here(2), what="uses a variable that one branch leaves without a value"
        )


UNDEFINED = _Undefined()


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
    "In": lambda item, container: item in container, "NotIn": lambda item, container: item not in container,
}  # fmt: skip


class Flow:
    """The functions that a lifted function calls in place of its own decisions."""

    UNDEFINED = UNDEFINED

    @staticmethod
    def branch(
        test: Any, then: Callable[..., Any], orelse: Callable[..., Any], values: Any, held: Callable[[], Any]
    ) -> Any:
        """Run one of two blocks, or record both; return what they leave in variables, or what the function returns."""
        tracer = _open_tracer(test)
        if tracer is None:
            return (then if test else orelse)(*values)
        return record_branches(tracer, test, lambda: then(*values), lambda: orelse(*values), held)

    @staticmethod
    def choose(test: Any, then: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
        """Return `then() if test else orelse()`."""
        tracer = _open_tracer(test)
        if tracer is None:
            return then() if test else orelse()
        return record_branches(tracer, test, then, orelse)

    @staticmethod
    def and_(first: Any, *rest: Callable[[], Any]) -> Any:
        """Return `first and rest[0]() and ...`."""
        if not rest:
            return first
        tracer = _open_tracer(first)
        if tracer is None:
            return Flow.and_(rest[0](), *rest[1:]) if first else first
        otherwise = False if tracer.class_of(first) is bool else first
        return record_branches(tracer, first, lambda: Flow.and_(rest[0](), *rest[1:]), lambda: otherwise)

    @staticmethod
    def or_(first: Any, *rest: Callable[[], Any]) -> Any:
        """Return `first or rest[0]() or ...`."""
        if not rest:
            return first
        tracer = _open_tracer(first)
        if tracer is None:
            return first if first else Flow.or_(rest[0](), *rest[1:])
        at_once = True if tracer.class_of(first) is bool else first
        return record_branches(tracer, first, lambda: at_once, lambda: Flow.or_(rest[0](), *rest[1:]))

    @staticmethod
    def compare(left: Any, name: str, value: Callable[[], Any], *rest: Any) -> Any:
        """Return the result of a chain of comparisons.

        Args:
            left: The first operand.
            name: Name of the first operator in the syntax tree.
            value: Gives the second operand.
            *rest: Further operators and operands.
        """
        right = value()
        result = _COMPARISONS[name](left, right)
        if not rest:
            return result
        return Flow.and_(result, lambda: Flow.compare(right, *rest))

    @staticmethod
    def not_(value: Any) -> Any:
        """Return `not value`."""
        tracer = _open_tracer(value)
        return not value if tracer is None else tracer.call_function(operator.not_, (value,), {})

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


flow = Flow()
