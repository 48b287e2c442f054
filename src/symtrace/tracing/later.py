"""What runs after the call: hooks that run backwards may write what the program reads at its next call."""

from __future__ import annotations

import collections
import dis
import functools
import types
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from ..diagnostics import Location
from ..errors import TraceError
from .hooks import tracing_as
from .scanning import content_of, is_users, names_used
from .shared_names import kept_names, program_names
from .state import Need, Restart

if TYPE_CHECKING:
    from .watching import Watcher

__all__ = ["LATER", "OF_FUNCTION", "needs_of_hooks", "run_unseen"]

LATER = frozenset({"register_hook", "register_post_accumulate_grad_hook"})
"""Methods of tensors that take a function which runs once the call is over."""

OF_FUNCTION = ("forward", "setup_context", "backward", "jvp", "vmap")
"""Methods of an autograd function that run as one node."""

_CONTAINERS = (list, dict, set, collections.deque)


def needs_of_hooks(root: Any) -> frozenset[Need]:
    """Return what has to be read at each call, since hooks of modules that run backwards may write it.

    Args:
        root: What is traced.

    Raises:
        TraceError: ST026, a hook of a parameter, which the stand-in shares, holds a module; or see `run_unseen`.
    """
    if not isinstance(root, nn.Module):
        return frozenset()
    found: list[Any] = []
    for module in root.modules():
        for table in (module._backward_hooks, getattr(module, "_backward_pre_hooks", None)):
            found.extend((table or {}).values())
    for parameter in root.parameters():
        for table in (parameter._backward_hooks, getattr(parameter, "_post_accumulate_grad_hooks", None)):
            for hook in (table or {}).values():
                _refuse_holding(hook, root)
    return _needs_of(found, root, type(root).forward) if found else frozenset()


def run_unseen(tracer: Watcher, functions: tuple[Any, ...], sees_modules: bool = True) -> None:
    """Have what functions may write, which run later or as one node, read at each call.

    Args:
        tracer: Traces the program that gives the functions away.
        functions: The functions.
        sees_modules: Whether they may get hold of a module.

    Raises:
        Restart: The program has to be traced again for that.
        TraceError: ST026, it is nothing that a node could read.
    """
    functions = tuple(one for one in functions if (id(one), sees_modules) not in tracer._handed_out)
    with tracing_as(None):
        missing = _needs_of(functions, tracer.root, tracer._traced, sees_modules) - tracer._needs
    tracer._handed_out |= {(id(one), sees_modules) for one in functions}
    if missing:
        raise Restart(*missing)


def _needs_of(
    functions: Iterable[Any], root: nn.Module, function: Any, sees_modules: bool = True
) -> frozenset[Need]:
    """Return what has to be read at each call, since some functions may write it when they run, out of sight.

    Args:
        functions: What runs later, or as one node.
        root: The module that is traced.
        function: What is traced.
        sees_modules: Whether they may get hold of a module.

    Raises:
        TraceError: ST026, one of them may write something else that the program reads: a global, say.
    """
    needs: set[Need] = set()
    read: set[str] | None = None
    for later in functions:
        parts = list(_parts(later))
        names = {name for part in parts for name in kept_names(part)}
        for module in root.modules() if names and sees_modules else ():
            own = module.__dict__
            needs.update(Need.of(type(module), name) for name in names if name in own and name != "training")
        for name, code in _written_outside(parts):
            if read is None:
                read = program_names(root, function, frozenset())
            if name in read:
                location = None if code is None else Location(code.co_filename, code.co_firstlineno)
                what = f"reads `{name}`, which a function that is one node or runs backwards may write"
                raise TraceError("ST026", location=location, what=what)
    return frozenset(needs)


def _parts(later: Any) -> Iterator[Any]:
    """Yield a callable, with the functions that it holds in variables around it and in bound arguments."""
    stack, seen = [later], set()
    while stack:
        part = stack.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, functools.partial):
            stack += [part.func, *filter(callable, part.args)]
        for cell in getattr(getattr(part, "__func__", part), "__closure__", None) or ():
            held = content_of(cell)
            if type(held) in (types.FunctionType, types.MethodType, functools.partial):
                stack.append(held)


def _written_outside(parts: list[Any]) -> Iterator[tuple[str, types.CodeType | None]]:
    """Yield globals, enclosing variables and attributes of objects that functions may write or change something in."""
    for part in parts:
        names = kept_names(part)
        owner = getattr(part, "__self__", part)
        if names and not isinstance(owner, nn.Module | types.FunctionType | functools.partial):
            call = getattr(part, "__func__", vars(type(part)).get("__call__"))
            code = getattr(call, "__code__", None)
            yield from ((name, code) for name in names & set(getattr(owner, "__dict__", ())))
        for table, name, code in names_used(part, set()):
            for item in () if name else dis.get_instructions(code):
                held = None
                if names and item.opname == "LOAD_GLOBAL":
                    held = table.get(item.argval)
                elif names and item.opname == "LOAD_DEREF":
                    held = _enclosed(part, item.argval)
                stores = item.opname == "STORE_GLOBAL" or (
                    item.opname == "STORE_DEREF" and item.argval in code.co_freevars  # and not its own
                )
                if stores or _may_change(held):
                    yield item.argval, code
                elif names and isinstance(held, type) and is_users(held.__module__):
                    yield from ((one, code) for one in names & set(vars(held)))


def _enclosed(function: Any, name: str) -> Any:
    function = getattr(function, "__func__", function)
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    cells = getattr(function, "__closure__", None) or ()
    return next((content_of(cell) for own, cell in zip(names, cells, strict=False) if own == name), None)


def _may_change(value: Any) -> bool:
    if value is None or isinstance(value, _CONTAINERS):
        return value is not None
    plain = isinstance(value, nn.Module | torch.Tensor | type | types.ModuleType) or callable(value)
    return not plain and is_users(type(value).__module__)


def _refuse_holding(hook: Any, root: nn.Module) -> None:
    """Refuse a hook on a parameter that reaches a module: what it does there, it does to the original."""
    modules = set(map(id, root.modules()))
    function, held = hook, []
    while isinstance(function, functools.partial):
        held += [*function.args, *function.keywords.values()]
        function = function.func
    if isinstance(function, types.MethodType):
        held.append(function.__self__)
        function = function.__func__
    held += map(content_of, getattr(function, "__closure__", None) or ())
    held += getattr(function, "__defaults__", None) or ()
    if any(id(value) in modules for value in held):
        code = getattr(function, "__code__", None)
        location = None if code is None else Location(code.co_filename, code.co_firstlineno)
        what = "has a hook on a parameter, which the captured module shares, that holds a module"
        raise TraceError("ST026", location=location, what=what)
