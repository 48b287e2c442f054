"""Running passes one after the other."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from torch import nn

from ..errors import ArgumentError
from .base import PassResult
from .errors import PassError
from .transaction import guarded

__all__ = [
    "PassManager",
    "inplace_wrapper",
    "pass_result_wrapper",
    "sort_passes",
    "this_before_that_pass_constraint",
]

Pass = Callable[..., Any]
Constraint = Callable[[Pass, Pass], bool]
Check = Callable[[nn.Module], Any]


def pass_result_wrapper(fn: Pass | None) -> Pass | None:
    """Return a pass that calls `fn` and reports that it changed the module.

    Args:
        fn: Function that changes a module, or returns another.

    Returns:
        A function that returns a `PassResult`; the module in it is what `fn` returned, or else its argument.
    """
    if fn is None:
        return None

    @functools.wraps(fn)
    def wrapped(gm: nn.Module) -> PassResult:
        result = fn(gm)
        if isinstance(result, PassResult):
            return result
        return PassResult(result if isinstance(result, nn.Module) else gm, True)

    if wrapped.__name__ == "wrapped":
        wrapped.__name__ = type(fn).__name__
    return wrapped


inplace_wrapper = pass_result_wrapper


def this_before_that_pass_constraint(this: Pass, that: Pass) -> Constraint:
    """Return a constraint that `this` has to run in front of `that`.

    Args:
        this: Pass to run first.
        that: Pass to run later.
    """

    def depends_on(a: Pass, b: Pass) -> bool:
        return not (a == that and b == this)

    return depends_on


def sort_passes(passes: Sequence[Pass], constraints: Sequence[Constraint]) -> list[Pass]:
    """Return passes in an order in which every constraint holds, as near to the given order as possible.

    Args:
        passes: Passes to order.
        constraints: Each is called with two passes and returns whether the first may stand in front of the
            second.

    Raises:
        PassError: There is no such order (ST233).
    """

    def must_follow(i: int, j: int) -> bool:
        return i != j and not all(constraint(passes[i], passes[j]) for constraint in constraints)

    numbers = range(len(passes))
    behind = {i: {j for j in numbers if must_follow(i, j)} for i in numbers}
    order: list[int] = []
    left = dict.fromkeys(numbers)
    while left:
        free = next((i for i in left if not behind[i] & left.keys()), None)
        if free is None:
            raise PassError("ST233", passes=[passes[i] for i in left])
        order.append(free)
        del left[free]
    return [passes[i] for i in order]


class PassManager:
    """A schedule of passes.

    Args:
        passes: Functions that take a module and return a `PassResult`.
        constraints: Each is called with two passes and returns whether the first may stand in front of the
        second.
        steps: Number of times that the passes are run at most; they stop when nothing changes.
        run_checks_after_each_pass: Run the checks and lint after each pass.
        suppress_check_failures: Warn of failing checks and of violated constraints instead of raising.

    Attributes:
        passes: The passes in the order in which they run.
        constraints: The constraints.
    """

    def __init__(
        self,
        passes: Sequence[Pass] | None = None,
        constraints: Sequence[Constraint] | None = None,
        steps: int | None = None,
        run_checks_after_each_pass: bool = False,
        suppress_check_failures: bool = False,
    ) -> None:
        self.passes: list[Pass] = list(passes or ())
        self.constraints: list[Constraint] = list(constraints or ())
        self.steps = steps if steps else 1
        self.run_checks_after_each_pass = run_checks_after_each_pass
        self.suppress_check_failures = suppress_check_failures
        self._checks: list[Check] = []
        self._validated = False

    def add_pass(self, _pass: Pass) -> None:
        """Add a pass at the end."""
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint: Constraint) -> None:
        """Add a constraint."""
        self.constraints.append(constraint)
        self._validated = False

    def add_checks(self, check: Check) -> None:
        """Add a function that is called with the module and raises if something is wrong.

        Raises:
            ArgumentError: It does not take exactly one argument (ST112).
        """
        if len(inspect.signature(check).parameters) != 1:
            taken = f"one with {inspect.signature(check)}"
            expected = "one that should only take in one variable, a module"
            raise ArgumentError("ST112", what="PassManager check function", expected=expected, actual=taken)
        self._checks.append(check)

    def validate_constraints(self) -> None:
        """Check the order of the passes.

        Raises:
            PassError: A constraint is violated (ST232).
        """
        if self._validated:
            return
        for constraint in self.constraints:
            for i, first in enumerate(self.passes):
                for j, second in enumerate(self.passes[i + 1 :], i + 1):
                    if not constraint(first, second):
                        self._complain(
                            PassError("ST232", first=second, second=first, first_index=j, second_index=i)
                        )
        self._validated = True

    def _complain(self, error: PassError) -> None:
        if not self.suppress_check_failures:
            raise error
        warnings.warn(str(error), stacklevel=3)

    def solve_constraints(self) -> None:
        """Reorder the passes so that every constraint holds, changing as little as possible.

        Raises:
            PassError: There is no such order (ST233); the passes stay as they are.
        """
        self.passes = sort_passes(self.passes, self.constraints)
        self._validated = True

    def check(self, module: nn.Module) -> None:
        """Run the checks on a module; the base class lints its graph first."""
        graph = getattr(module, "graph", None)
        if graph is not None:
            graph.lint()
        for check in self._checks:
            check(module)

    def __call__(self, module: nn.Module) -> PassResult:
        """Run the passes until nothing changes, or as often as `steps` says.

        Args:
            module: Module to run them on.

        Returns:
            The module after the last pass, and whether any pass changed anything.

        Raises:
            PassError: A pass failed (ST230), and then the module is as it was before that pass; a pass returned
                something else than a PassResult (ST231); or the order is wrong (ST232).
        """
        self.validate_constraints()
        self._checked(module)
        modified = False
        for _ in range(self.steps):
            changed = False
            for index, run in enumerate(self.passes):
                result = self._run(run, module, index)
                module = result.graph_module
                changed = changed or result.modified
                if self.run_checks_after_each_pass:
                    self._checked(module)
            modified = modified or changed
            if not changed:
                break
        return PassResult(module, modified)

    def _checked(self, module: nn.Module) -> None:
        try:
            self.check(module)
        except Exception as error:
            if not self.suppress_check_failures:
                raise
            warnings.warn(f"a check failed: {error}", stacklevel=3)

    def _run(self, run: Pass, module: nn.Module, index: int) -> PassResult:
        name = getattr(run, "__name__", type(run).__name__)
        try:
            result = guarded(run, module)
        except Exception as error:
            before = [getattr(p, "__name__", type(p).__name__) for p in self.passes[:index]]
            raise PassError("ST230", name=name, before=before) from error
        if isinstance(result, tuple) and hasattr(result, "graph_module") and hasattr(result, "modified"):
            return PassResult(result.graph_module, bool(result.modified))
        raise PassError("ST231", name=name, actual=type(result).__name__)
