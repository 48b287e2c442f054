"""Hooks that keep what the program reads, told by the names that both use: on a leaf they run at each call only."""

from __future__ import annotations

import builtins
import dis
import functools
import types
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from .blame import trace_error
from .scanning import is_users, names_used

__all__ = ["KeptNames", "has_programs_hooks", "kept_names", "program_names"]

_COMMON = (
    frozenset(dir(torch.Tensor))
    | frozenset(dir(nn.Module))
    | frozenset(dir(builtins))
    | {"F", "nn", "torch", "self"}
)
_TABLES_OF_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
_MOST_ITEMS = 1000
_STORES = ("STORE_ATTR", "STORE_SUBSCR", "STORE_GLOBAL", "STORE_DEREF", "DELETE_")
_STORING = frozenset({
    "__setattr__", "__setitem__", "add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop",
    "popitem", "remove", "setattr", "setdefault", "update",
})  # fmt: skip


def _codes(function: Any) -> Iterator[types.CodeType]:
    while isinstance(function, functools.partial):
        function = function.func
    function = getattr(function, "__func__", function)
    if type(function) is not types.FunctionType:
        function = vars(type(function)).get("__call__")
    code = getattr(function, "__code__", None)
    stack = [] if code is None else [code]
    while stack:
        code = stack.pop()
        yield code
        stack.extend(constant for constant in code.co_consts if type(constant) is types.CodeType)


@functools.lru_cache(maxsize=1024)
def _names(code: types.CodeType) -> frozenset[str]:
    texts = (constant for constant in code.co_consts if type(constant) is str and constant.isidentifier())
    return frozenset({*code.co_names, *code.co_freevars, *texts}) - _COMMON


@functools.lru_cache(maxsize=1024)
def _stores(code: types.CodeType) -> bool:
    if not _STORING.isdisjoint(code.co_names):
        return True
    return any(item.opname.startswith(_STORES) for item in dis.get_instructions(code))


def kept_names(function: Any) -> set[str]:
    """Return the names that a function uses, if it keeps something."""
    codes = list(_codes(function))
    return {name for code in codes for name in _names(code)} if any(map(_stores, codes)) else set()


def _storing_hooks(module: nn.Module) -> set[str]:
    """Return the names used by hooks of a module, and by the program's classes in it, that keep something."""
    found: set[str] = set()
    for inner in module.modules() if module._modules else (module,):
        for table in (inner._forward_hooks, inner._forward_pre_hooks):
            for hook in table.values():
                if type(hook).__module__.startswith("torch."):
                    continue
                found |= kept_names(hook)
        if not type(inner).__module__.startswith("torch."):
            found |= kept_names(type(inner).forward)
    return found


def has_programs_hooks(module: nn.Module) -> bool:
    """Tell whether a layer, or one inside of it, has hooks that are functions of the program."""
    for inner in module.modules() if module._modules else (module,):
        for table in (inner._forward_hooks, inner._forward_pre_hooks):
            for hook in table.values():
                part = hook.func if isinstance(hook, functools.partial) else hook
                if is_users(getattr(part, "__module__", None) or type(part).__module__):
                    return True
    return False


class KeptNames:
    """Tells whether a leaf or its hooks may keep what a program reads, which only shows if they run while it is traced.

    Args:
        root: The module that is traced.
        function: What is traced.
    """

    def __init__(self, root: nn.Module, function: Any) -> None:
        self._root = root
        self._function = function
        self._names: dict[frozenset[type], set[str]] = {}
        self._modules: set[int] | None = None

    def __call__(self, module: nn.Module) -> bool:
        """Tell it of one leaf.

        Raises:
            TraceError: ST026, it stays one node, since it was declared one or has hooks that run backwards.
        """
        if self._reaches_root(module):
            return True
        kept = _storing_hooks(module)
        if not kept:
            return False
        inside = frozenset(type(inner) for inner in module.modules())
        if inside not in self._names:
            self._names[inside] = program_names(self._root, self._function, inside)
        shared = kept & self._names[inside]
        stays = not type(module).__module__.startswith("torch.") or module._backward_hooks
        if shared and (stays or getattr(module, "_backward_pre_hooks", None)):
            what = f"reads `{min(shared)}`, which a {type(module).__name__} that is one node may write"
            raise trace_error("ST026", what=what)
        return bool(shared)

    def _reaches_root(self, module: nn.Module) -> bool:
        """Tell whether hooks of a leaf find modules of the root by globals: as one node, they would find the original.

        Raises:
            TraceError: ST026, it stays one node.
        """
        runs_backwards = bool(module._backward_hooks or getattr(module, "_backward_pre_hooks", None))
        for inner in module.modules() if module._modules else (module,):
            for name in _TABLES_OF_HOOKS:
                for hook in (getattr(inner, name, None) or {}).values():
                    found = self._named_module(hook)
                    if found is None:
                        continue
                    if runs_backwards or not type(module).__module__.startswith("torch."):
                        what = (
                            f"has a hook on a {type(module).__name__} that reaches a module through `{found}`"
                        )
                        raise trace_error("ST026", what=what)
                    return True
        return False

    def _named_module(self, hook: Any) -> str | None:
        """Return the global by which a function finds a module of the root."""
        for table, name, _ in names_used(hook, set()):
            if name and type(table) is dict and name in table and self._holds(table[name]):
                return name
        return None

    def _holds(self, value: Any, depth: int = 2) -> bool:
        if isinstance(value, nn.Module):
            if self._modules is None:
                self._modules = {id(module) for module in self._root.modules()}
            return id(value) in self._modules
        if depth == 0 or isinstance(value, type | types.ModuleType | types.FunctionType):
            return False
        if isinstance(value, list | tuple | set | dict):
            items = value.values() if isinstance(value, dict) else value
            return len(value) <= _MOST_ITEMS and any(self._holds(item, depth - 1) for item in items)
        state = getattr(value, "__dict__", None)
        return is_users(type(value).__module__) and type(state) is dict and self._holds(state, depth)


def program_names(root: nn.Module, function: Any, inside: frozenset[type]) -> set[str]:
    """Return the names that functions of a program use, but not those of modules, nor in methods of some classes."""
    found: set[str] = set()
    seen: set[int] = set()
    modules = list(root.modules())
    for place, start in [
        (None, function),
        *((inner, type(inner).forward) for inner in modules if type(inner) not in inside),
    ]:
        for _, name, code in names_used(start, seen, place):
            if not name:
                found.update(_names(code))
    return found.difference(*(inner._modules for inner in modules))
