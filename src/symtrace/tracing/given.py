"""Inputs that a program may find to be None: the captured one is for those that were given, and says so."""

from __future__ import annotations

import dis
import inspect
import operator
from types import BuiltinFunctionType, CodeType
from typing import TYPE_CHECKING

from ..diagnostics import Location
from ..ir import Node
from ..ops import program
from .code_cache import cached_by_code

if TYPE_CHECKING:
    from .watching import Watcher

__all__ = ["asks_for_none", "guard_given"]

_ANY = frozenset({operator.is_, operator.is_not, operator.eq, operator.ne, operator.not_, operator.truth})
"""Operators that take None, too."""


@cached_by_code
def asks_for_none(code: CodeType) -> bool:
    """Tell whether a function asks of a variable whether it is None."""
    loaded = None
    before = ""
    for item in dis.get_instructions(code):
        if item.opname.endswith("_NONE") and loaded not in (None, "self"):
            return True
        if item.opname in ("IS_OP", "COMPARE_OP") and before == "None":
            return True
        if item.opname in ("CACHE", "NOP", "EXTENDED_ARG"):
            continue
        before = "None" if item.opname == "LOAD_CONST" and item.argval is None else ""
        if item.opname.startswith(("LOAD_FAST", "LOAD_DEREF")):
            loaded = item.argval
        elif item.opname.startswith(("LOAD_ATTR", "LOAD_METHOD", "LOAD_GLOBAL")):
            loaded = None
    return False


def guard_given(tracer: Watcher) -> None:
    """Have inputs checked that the program was traced with, where the graph would take None for them."""
    code = getattr(inspect.unwrap(getattr(tracer._traced, "inner", tracer._traced)), "__code__", None)
    location = None if code is None else Location(code.co_filename, code.co_firstlineno)
    last = inputs = [node for node in tracer.graph.nodes if node.op == "placeholder"]
    for node in inputs:
        if any(user.target is program.guard or _fails_for_none(user, node) for user in node.users):
            continue
        by_both = not tracer._example_values and node.args == (None,)  # it is traced both ways
        if by_both or str(node.target).startswith("*"):
            continue
        condition = f"{node.target} is not None"
        with tracer.graph.inserting_after(last[-1]):
            check = tracer.graph.call_function(program.is_given, (node,))
        with tracer.graph.inserting_after(check):
            last = [tracer.graph.call_function(program.guard, (check, True, condition))]
        tracer.report.add("guard", condition, location)


def _fails_for_none(user: Node, node: Node) -> bool:
    """Tell whether a node that uses a value raises an error if that is None."""
    is_first = bool(user.args) and user.args[0] is node
    if user.op == "call_method":
        return is_first
    if user.op == "call_module":
        return is_first
    if user.op != "call_function" or user.target in _ANY:
        return False
    if user.target is getattr or user.target is operator.getitem:
        return is_first
    module = getattr(user.target, "__module__", None)
    if module == "_operator":
        return any(arg is node for arg in user.args)
    return (
        is_first
        and isinstance(user.target, BuiltinFunctionType)
        and str(module or "torch").startswith("torch")
    )
