"""Values that rest on flags which callers switch, and on nothing else as long as the flags are what they are."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from ..ir import Node, Region
from ..ops.control_flow import CONTROL_FLOW, cond
from . import hooks

if TYPE_CHECKING:
    from .joints import Joints

__all__ = ["answer_by_flags", "asks_for_flag"]

_UNKNOWN = object()
_MOST = 100
_PURE = {operator.not_: operator.not_, bool: bool}


def asks_for_flag(node: Node) -> bool:
    """Tell whether a value comes from a flag that callers switch: of a module that is training, or of gradients.

    Autocast is none: what lies in the way that was not taken would be recorded with the types of the one that was.
    """
    while node.op == "call_function" and len(node.all_input_nodes) == 1 and node.target not in CONTROL_FLOW:
        node = node.all_input_nodes[0]
    if node.op == "get_attr":
        return str(node.target).rpartition(".")[2] == "training"
    return node.op == "call_function" and node.target is hooks.original_grad_mode


def answer_by_flags(tracer: Joints, node: Node) -> tuple[bool, dict[str, bool]] | None:
    """Return whether a value is true as long as modules are training or not as they are, and those flags.

    That is so if the ways of decisions on the flags that are taken then give constants.

    Returns:
        The answer, and the flags by path; None if something else has a say in it.
    """
    flags: dict[str, bool] = {}
    value = _Answer(tracer, flags).of(node)
    return None if value is _UNKNOWN or not flags else (bool(value), flags)


class _Answer:
    """Looks for what a node gives.

    Args:
        tracer: Knows the flags.
        flags: Receives those that were asked.
    """

    def __init__(self, tracer: Joints, flags: dict[str, bool]) -> None:
        self._tracer = tracer
        self._flags = flags
        self._left = _MOST

    def of(self, value: Any, inside: dict[Node, Any] | None = None) -> Any:
        """Return what a value is, `_UNKNOWN` if that can't be told.

        Args:
            value: A node, or a constant.
            inside: What placeholders of a region stand for.
        """
        if not isinstance(value, Node):
            return value if type(value) in (bool, int, float, type(None)) else _UNKNOWN
        self._left -= 1
        if self._left < 0:
            return _UNKNOWN
        if value.op == "placeholder":
            outer = (inside or {}).get(value) or self._tracer.outer_of(value)
            return _UNKNOWN if outer is None else self.of(outer)
        if value.op == "get_attr":
            return self._flag(str(value.target))
        if value.op != "call_function":
            return _UNKNOWN
        if value.target in _PURE:
            inner = self.of(value.args[0], inside)
            return _UNKNOWN if inner is _UNKNOWN else _PURE[value.target](inner)
        if value.target is operator.getitem and isinstance(value.args[0], Node) and not inside:
            return self._result(value.args[0], value.args[1])
        return _UNKNOWN

    def _flag(self, path: str) -> Any:
        if path.rpartition(".")[2] != "training":
            return _UNKNOWN
        held = self._tracer.attribute(path)
        if type(held) is not bool or self._tracer.is_written(path):
            return _UNKNOWN
        self._flags[path] = held
        return held

    def _result(self, node: Node, index: Any) -> Any:
        """Return a result of a decision."""
        if node.op != "call_function" or node.target is not cond:
            return _UNKNOWN
        test = self.of(node.args[0])
        if test is _UNKNOWN:
            return _UNKNOWN
        region, operands = (node.args[1], node.args[3]) if test else (node.args[2], node.args[4])
        if type(region) is not Region:
            return _UNKNOWN
        nodes = list(region.graph.nodes)
        inside = dict(zip([one for one in nodes if one.op == "placeholder"], operands, strict=False))  # type: ignore[call-overload]
        return self.of(nodes[-1].args[0][index], inside)  # type: ignore[index]
