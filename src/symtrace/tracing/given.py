"""Inputs that a program may find to be None, or no tensor: the captured one is for those given, and says so."""

from __future__ import annotations

import dis
import inspect
import operator
from types import BuiltinFunctionType, CodeType
from typing import TYPE_CHECKING, Any

import torch

from ..diagnostics import Location
from ..ir import Node
from ..ops import program
from .code_cache import cached_by_code
from .hooks import original_isinstance

if TYPE_CHECKING:
    from .watching import Watcher

__all__ = ["asks_for_none", "guard_given"]

_ANY = frozenset({operator.is_, operator.is_not, operator.eq, operator.ne, operator.not_, operator.truth})
"""Operators that take None, too."""

_JUMPS = frozenset(number for name, number in dis.opmap.items() if name.endswith("_NONE"))
_COMPARING = frozenset({dis.opmap["IS_OP"], dis.opmap["COMPARE_OP"]})


@cached_by_code
def asks_for_none(code: CodeType) -> bool:
    """Tell whether a function asks of a variable whether it is None."""
    used = set(code.co_code[::2])
    if used.isdisjoint(_JUMPS) and (used.isdisjoint(_COMPARING) or None not in code.co_consts):
        return False
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
    """Have inputs checked that the program was traced with, where the graph would take None or a number for them."""
    code = getattr(inspect.unwrap(getattr(tracer._traced, "inner", tracer._traced)), "__code__", None)
    location = None if code is None else Location(code.co_filename, code.co_firstlineno)
    last = inputs = [node for node in tracer.graph.nodes if node.op == "placeholder"]
    check: tuple[Any, tuple[Any, ...]]
    for node in inputs:
        if str(node.target).startswith("*") or any(user.target is program.guard for user in node.users):
            continue
        by_both = not tracer._example_values and node.args == (None,)  # it is traced both ways
        if node in tracer._asked_class:
            if any(_fails_for_number(user, node) for user in node.users):
                continue
            condition, check = (
                f"isinstance({node.target}, torch.Tensor)",
                (original_isinstance, (node, torch.Tensor)),
            )
        elif by_both or not tracer._asks_for_none or any(_fails_for_none(user, node) for user in node.users):
            continue
        else:
            condition, check = f"{node.target} is not None", (program.is_given, (node,))
        with tracer.graph.inserting_after(last[-1]):
            asked = tracer.graph.call_function(*check)
        with tracer.graph.inserting_after(asked):
            last = [tracer.graph.call_function(program.guard, (asked, True, condition))]
        tracer.report.add("guard", condition, location)


def _fails_for_number(user: Node, node: Node) -> bool:
    """Tell whether a node that uses a value raises an error if that is a number."""
    return getattr(user.target, "__module__", None) != "_operator" and _fails_for_none(user, node)


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
