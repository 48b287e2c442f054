"""What a graph tells its subscribers about each edit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from .node import Node

__all__ = ["Event", "EventKind"]

EventKind = Literal[
    "created",
    "erased",
    "args_changed",
    "moved",
    "renamed",
    "target_changed",
    "annotated",
    "region_changed",
    "settings_changed",
]


@dataclass(frozen=True)
class Event:
    """One edit that has been made.

    Attributes:
        kind: What was done.
        node: The node it was done to; None for settings of the whole graph.
        old: What it had before: `(args, kwargs)`, the name, or `(op, target)`; None otherwise.
    """

    kind: EventKind
    node: Node | None
    old: Any = None
