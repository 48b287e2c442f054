"""What capture decided on the user's behalf."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from ..diagnostics import Location

__all__ = ["Decision", "DecisionKind", "Report"]

DecisionKind = Literal["guard", "assumption", "frozen", "state", "print"]


@dataclass(frozen=True)
class Decision:
    """One thing that capture decided.

    Attributes:
        kind: `guard` (checked at each call), `assumption` (not checked), `frozen` (a value that was baked in), `state`
            (an effect on the module's state), `print` (ran at capture).
        message: What was decided, in one line.
        location: The user's line that called for it.
    """

    kind: DecisionKind
    message: str
    location: Location | None = None

    def __str__(self) -> str:
        where = f"  ({self.location})" if self.location is not None else ""
        return f"{self.kind}: {self.message}{where}"


@dataclass
class Report:
    """Everything that capture decided; empty means that nothing was assumed."""

    decisions: list[Decision] = field(default_factory=list)

    def add(self, kind: DecisionKind, message: str, location: Location | None = None) -> None:
        """Note a decision, once."""
        decision = Decision(kind, message, location)
        if decision not in self.decisions:
            self.decisions.append(decision)

    def __iter__(self) -> Iterator[Decision]:
        return iter(self.decisions)

    def __len__(self) -> int:
        return len(self.decisions)

    def __str__(self) -> str:
        return "\n".join(map(str, self.decisions)) or "nothing was assumed"
