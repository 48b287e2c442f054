"""What capture decided on the user's behalf."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from ..diagnostics import Location

__all__ = ["Decision", "DecisionKind", "Report"]

DecisionKind = Literal["guard", "assumption", "frozen", "constant", "state", "print"]


@dataclass(frozen=True)
class Decision:
    """One thing that capture decided.

    Attributes:
        kind: `guard` (checked at each call), `assumption` (not checked), `frozen` (what something outside of the
            program gave: a clock, the environment, a device), `constant` (a plain value that the program reads by name
            from an attribute, a global or an enclosing function: the capture has that of the time of the capture),
            `state` (an effect on the module's state), `print` (ran at capture).
        message: What was decided, in one line.
        location: The user's line that called for it.
    """

    kind: DecisionKind
    message: str
    location: Location | None = None

    def __str__(self) -> str:
        where = f"  ({self.location})" if self.location is not None else ""
        return f"{self.kind}: {self.message}{where}"


class Report:
    """Everything that capture decided; empty means that nothing was assumed.

    Printed, constants that one function reads share a line, and so do decisions of one kind at one place.

    Args:
        decisions: What was decided.

    >>> import torch
    >>> from symtrace import symbolic_trace
    >>> print(symbolic_trace(lambda x: torch.relu(x)).report)
    nothing was assumed
    """

    def __init__(self, decisions: Iterable[Decision] = ()) -> None:
        self._decisions = list(decisions)
        self._later: Callable[[], Iterable[Decision]] | None = None

    @property
    def decisions(self) -> list[Decision]:
        """The decisions, in the order in which the program called for them, constants last."""
        if self._later is not None:
            later, self._later = self._later, None
            for decision in later():
                self.add(decision.kind, decision.message, decision.location)
        return self._decisions

    def add(self, kind: DecisionKind, message: str, location: Location | None = None) -> None:
        """Note a decision, once."""
        decision = Decision(kind, message, location)
        if decision not in self._decisions:
            self._decisions.append(decision)

    def add_later(self, later: Callable[[], Iterable[Decision]]) -> None:
        """Have further decisions made when the report is read."""
        self._later = later

    def __iter__(self) -> Iterator[Decision]:
        return iter(self.decisions)

    def __len__(self) -> int:
        return len(self.decisions)

    def __eq__(self, other: object) -> bool:
        return self.decisions == other.decisions if isinstance(other, Report) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Report, (self.decisions,)

    def __deepcopy__(self, memo: dict[int, Any]) -> Report:
        return Report(self.decisions)

    def __repr__(self) -> str:
        return f"Report({self.decisions!r})"

    def __str__(self) -> str:
        groups: dict[Any, list[Decision]] = {}
        for index, decision in enumerate(self):
            groups.setdefault(_group(decision, index), []).append(decision)
        return "\n".join(map(_line, groups.values())) or "nothing was assumed"


def _group(decision: Decision, index: int) -> Any:
    """Return what decisions that are printed on one line have in common."""
    where = decision.location
    if where is None:
        return index
    return (
        decision.kind,
        where.file,
        where.function if decision.kind == "constant" else (where.line, where.column),
    )


def _line(group: list[Decision]) -> str:
    first = group[0]
    if len(group) == 1:
        return str(first)
    if first.kind != "constant":
        return str(
            Decision(first.kind, f"{first.message}, and {len(group) - 1} more like it", first.location)
        )
    return str(Decision(first.kind, ", ".join(one.message for one in group), first.location))
