"""The schedule of passes that torch.fx had first: passes take an object and return the one to go on with."""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable, Sequence
from typing import Any

from torch import nn

from ..errors import ArgumentError
from .errors import PassError
from .manager import Constraint, Pass, this_before_that_pass_constraint
from .transaction import guarded

__all__ = [
    "PassManager",
    "inplace_wrapper",
    "log_hook",
    "loop_pass",
    "these_before_those_pass_constraint",
    "this_before_that_pass_constraint",
]

_logger = logging.getLogger(__name__)


def inplace_wrapper(fn: Pass) -> Pass:
    """Return a pass that calls `fn` and returns the object that it was given.

    Args:
        fn: Function that changes its argument.
    """

    @functools.wraps(fn)
    def wrapped(gm: Any, *args: Any, **kwargs: Any) -> Any:
        fn(gm, *args, **kwargs)
        return gm

    return wrapped


def log_hook(fn: Pass, level: int = logging.INFO) -> Pass:
    """Return a pass that logs what `fn` returns.

    Args:
        fn: A pass.
        level: Level of the messages.
    """

    @functools.wraps(fn)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        value = fn(*args, **kwargs)
        _logger.log(level, "Ran pass %s\t Return value: %s", _name(fn), value)
        return value

    return wrapped


def loop_pass(
    base_pass: Pass, n_iter: int | None = None, predicate: Callable[[Any], bool] | None = None
) -> Pass:
    """Return a pass that runs another several times; exactly one of the last two arguments has to be given.

    Args:
        base_pass: The pass to repeat.
        n_iter: How many times.
        predicate: Tells of the object whether to run the pass once more.

    Raises:
        ArgumentError: Both or neither are given (ST112).
    """
    if (n_iter is None) == (predicate is None):
        actual = "neither" if n_iter is None else "both"
        raise ArgumentError("ST112", what="loop_pass", expected="n_iter or predicate", actual=actual)

    @functools.wraps(base_pass)
    def wrapped(source: Any) -> Any:
        rounds = 0
        while rounds < n_iter if n_iter is not None else predicate is not None and predicate(source):
            source = base_pass(source)
            rounds += 1
        return source

    return wrapped


def these_before_those_pass_constraint(these: Pass, those: Pass) -> Constraint:
    """Return a constraint that `these` has to run in front of `those`, however they are wrapped.

    Args:
        these: Pass to run first.
        those: Pass to run later.
    """

    def depends_on(a: Pass, b: Pass) -> bool:
        return not (inspect.unwrap(a) == those and inspect.unwrap(b) == these)

    return depends_on


class PassManager:
    """A list of passes that run one after the other, each on what the one before it returned.

    `symtrace.passes.Pipeline` checks what passes claim and keeps a history.

    Args:
        passes: Functions that take an object and return one.
        constraints: Each is called with two passes and returns whether the first may stand in front of the second.

    Attributes:
        passes: The passes in the order in which they run.
        constraints: The constraints.

    >>> manager = PassManager([inplace_wrapper(lambda numbers: numbers.sort())])
    >>> manager([2, 1])
    [1, 2]
    """

    def __init__(
        self, passes: Sequence[Pass] | None = None, constraints: Sequence[Constraint] | None = None
    ) -> None:
        self.passes: list[Pass] = list(passes or ())
        self.constraints: list[Constraint] = list(constraints or ())

    @classmethod
    def build_from_passlist(cls, passes: Sequence[Pass]) -> PassManager:
        """Return a schedule without constraints.

        Args:
            passes: The passes.
        """
        return cls(passes)

    def add_pass(self, _pass: Pass) -> None:
        """Add a pass at the end."""
        self.passes.append(_pass)

    def add_constraint(self, constraint: Constraint) -> None:
        """Add a constraint."""
        self.constraints.append(constraint)

    def remove_pass(self, _passes: Sequence[str]) -> None:
        """Remove passes.

        Args:
            _passes: Their names.
        """
        self.passes = [one for one in self.passes if _name(one) not in _passes]

    def replace_pass(self, _target: Pass, _replacement: Pass) -> None:
        """Put a pass in the place of another.

        Args:
            _target: The pass to replace, or one of the same name.
            _replacement: The pass to put there.
        """
        name = _name(_target)
        self.passes = [_replacement if _name(one) == name else one for one in self.passes]

    def validate(self) -> None:
        """Check the order of the passes.

        Raises:
            PassError: A constraint is violated (ST232).
        """
        for constraint in self.constraints:
            for i, first in enumerate(self.passes):
                for j, second in enumerate(self.passes[i + 1 :], i + 1):
                    if not constraint(first, second):
                        raise PassError("ST232", first=second, second=first, first_index=j, second_index=i)

    def __call__(self, source: Any) -> Any:
        """Run the passes.

        Args:
            source: What the first pass gets. A GraphModule is as before a pass that failed.

        Returns:
            What the last pass returned.

        Raises:
            PassError: The order is wrong (ST232).
        """
        self.validate()
        for run in self.passes:
            source = guarded(run, source) if isinstance(source, nn.Module) else run(source)
        return source


def _name(run: Pass) -> str:
    return str(getattr(run, "__name__", type(run).__name__))
