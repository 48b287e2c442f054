"""Checks that a captured program makes at each call, since capture rested on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ir import Node
from ..ops import program
from .blame import expression, here

if TYPE_CHECKING:
    from .recording import TracerBase

__all__ = ["add_guard"]


def add_guard(tracer: TracerBase, node: Node, expected: Any) -> Node:
    """Record that `node` must have the value `expected` at each call."""
    location = here(3)
    condition = f"{expression(node)} is {expected!r}"
    tracer.report.add("guard", condition, location)
    place = () if location is None else (location.file, location.line)
    return tracer.create_node("call_function", program.guard, (node, expected, condition, *place), {})
