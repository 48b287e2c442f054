"""Checks that a captured program makes at each call, since capture rested on them."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from ..ir import Node
from ..ops import program
from .blame import here

if TYPE_CHECKING:
    from .recording import TracerBase

__all__ = ["add_guard"]

_SIGNS = {
    operator.eq: "==", operator.ne: "!=", operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">=",
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.floordiv: "//", operator.mod: "%",
    operator.truediv: "/",
}  # fmt: skip


def add_guard(tracer: TracerBase, node: Node, expected: Any) -> Node:
    """Record that `node` must have the value `expected` at each call."""
    location = here(3)
    condition = f"{expression(node)} is {expected!r}"
    tracer.report.add("guard", condition, location)
    place = () if location is None else (location.file, location.line)
    return tracer.create_node("call_function", program.guard, (node, expected, condition, *place), {})


def expression(value: Any, depth: int = 4) -> str:
    """Return a value as the user might have written it."""
    if not isinstance(value, Node):
        return repr(value)
    op, target, args = value.op, value.target, value.args
    if op == "placeholder":
        return str(target)
    if op == "get_attr":
        return f"self.{target}" if target else "self"
    if depth == 0:
        return value.name
    inner = [expression(arg, depth - 1) for arg in args]
    if op == "call_method":
        return f"{inner[0]}.{target}({', '.join(inner[1:])})"
    if target in _SIGNS and len(inner) == 2:
        return f"{inner[0]} {_SIGNS[target]} {inner[1]}"
    if target is getattr and len(args) == 2:
        return f"{inner[0]}.{args[1]}"
    if target is operator.getitem and len(inner) == 2:
        return f"{inner[0]}[{inner[1]}]"
    name = target if isinstance(target, str) else getattr(target, "__name__", str(target))
    return f"{name}({', '.join(inner)})"
