"""Taking over modules, parameters and other attributes from the module that a graph was captured from."""

from __future__ import annotations

import difflib
import functools
import operator
import types
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.utils.hooks import RemovableHandle

from ..errors import TargetError
from ..ir import Graph, all_graphs
from .own_tensors import OwnTensors, is_plain

__all__ = ["adopt_target", "assign_attribute", "own_modules", "shallow_module"]

_TABLES = ("_parameters", "_buffers", "_modules")
_HOOK_TABLES = (
    "_backward_hooks",
    "_backward_pre_hooks",
    "_forward_hooks",
    "_forward_hooks_always_called",
    "_forward_hooks_with_kwargs",
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
    "_load_state_dict_post_hooks",
    "_load_state_dict_pre_hooks",
    "_non_persistent_buffers_set",
    "_state_dict_hooks",
    "_state_dict_pre_hooks",
)
_OWN_TABLES = (*_TABLES, *_HOOK_TABLES)
_HOLDING = (types.FunctionType, types.MethodType, functools.partial)
_STANDARD = frozenset(vars(nn.Module()))
"""Attributes that every module has; a module without others needs no second look."""


def shallow_module(module: nn.Module) -> nn.Module:
    """Return a module of the same class and attributes, with tables of its own for what is registered in it."""
    copy = module.__class__.__new__(module.__class__)
    state = module.__dict__.copy()
    for table in _OWN_TABLES:
        content = state.get(table)
        if content is not None:
            # An empty table is made anew: copying an OrderedDict costs more than the rest of a module.
            state[table] = content.copy() if content else type(content)()
    object.__setattr__(copy, "__dict__", state)
    return copy


def own_modules(root: nn.Module, tensors: OwnTensors | None = None, graph: Graph | None = None) -> nn.Module:
    """Return a tree of modules of its own that shares only the parameters with `root`.

    Running or switching the copy leaves the original alone: buffers and flags are its own. Parameters are the same
    objects, so that an optimiser sees both. Tied parameters, buffers and modules stay tied, and modules that are
    kept in plain attributes, lists and dicts are replaced by their copies. So are tensors in lists, tuples and
    dicts, and dicts that are attributes.

    Args:
        root: The module.
        tensors: Makes and holds the copies of buffers and other tensors.
        graph: Functions among the arguments of its nodes, as of hooks that the program registers, get the copies.
    """
    copies: dict[int, Any] = {}
    dicts: dict[int, dict[Any, Any]] = {}
    modules: list[nn.Module] = []
    for module in root.modules():
        if not isinstance(module, torch.jit.ScriptModule):  # which lives in C++ and is shared
            own = shallow_module(module)
            modules.append(own)
            copies[id(module)] = own
            for table in _HOOK_TABLES:
                if module.__dict__.get(table):  # handles that remove a hook know its table
                    copies[id(module.__dict__[table])] = own.__dict__[table]
    tensors = OwnTensors(root) if tensors is None else tensors
    for copy in modules:
        for table in _HOOK_TABLES:
            hooks = copy.__dict__.get(table)
            if hooks and type(hooks) is not set:
                for key, hook in hooks.items():
                    hooks[key] = rebound(hook, copies, tensors)
        state = copy.__dict__
        for name, child in state["_modules"].items():
            if child is not None:
                state["_modules"][name] = copies.get(id(child), child)
        for name, buffer in state["_buffers"].items():
            if buffer is not None:
                state["_buffers"][name] = tensors.own(buffer)
        if len(state) > len(_STANDARD):
            for name in state.keys() - _STANDARD:
                value = state[name]
                own_value = tensors.own(value) if is_plain(value) else with_copies(value, copies, tensors)
                if type(value) is dict and own_value is value:  # which the program may fill
                    own_value = dicts.setdefault(id(value), dict(value))
                state[name] = own_value
    for node in (node for one in (() if graph is None else all_graphs(graph)) for node in one.nodes):
        if any(type(value) in _HOLDING for value in (*node.args, *node.kwargs.values())):
            node.args = tuple(rebound(value, copies, tensors) for value in node.args)
            node.kwargs = {key: rebound(value, copies, tensors) for key, value in node.kwargs.items()}
    found: nn.Module = copies.get(id(root), root)
    return found


def with_copies(value: Any, copies: dict[int, Any], tensors: OwnTensors, inside: bool = False) -> Any:
    """Return `value` with modules and tensors replaced by their copies; the same object where there are none."""
    if isinstance(value, nn.Module):
        return copies.get(id(value), value)
    if inside and is_plain(value):
        return tensors.own(value)
    if type(value) in (list, tuple):
        items = [with_copies(item, copies, tensors, True) for item in value]
        return value if all(a is b for a, b in zip(items, value, strict=True)) else type(value)(items)
    if type(value) is dict:
        pairs = {key: with_copies(item, copies, tensors, True) for key, item in value.items()}
        return value if all(pairs[key] is value[key] for key in value) else pairs
    if type(value) is RemovableHandle:
        table, number, *others = value.__getstate__()  # type: ignore[no-untyped-call]
        if id(table) not in copies:
            return value
        own = RemovableHandle.__new__(RemovableHandle)
        extra = tuple(copies.get(id(other), other) for other in (others[0] if others else ()))
        own.__setstate__((copies[id(table)], number, extra))
        return own
    return rebound(value, copies, tensors)


def rebound(function: Any, copies: dict[int, Any], tensors: OwnTensors) -> Any:
    """Return a function that holds modules of the original, as a hook may, with their copies in place of them."""
    if type(function) is types.MethodType:
        owner = copies.get(id(function.__self__))
        return function if owner is None else types.MethodType(function.__func__, owner)
    if type(function) is functools.partial:
        parts = (function.func, function.args, function.keywords)
        func, args, keywords = (with_copies(part, copies, tensors, True) for part in parts)
        same = func is function.func and args is function.args and keywords is function.keywords
        return function if same else functools.partial(func, *args, **keywords)
    if type(function) is not types.FunctionType or not (function.__closure__ or function.__defaults__):
        return function
    cells = tuple(_own_cell(cell, copies, tensors) for cell in function.__closure__ or ())
    defaults = with_copies(function.__defaults__ or (), copies, tensors)
    if defaults is (function.__defaults__ or ()) and all(
        map(operator.is_, cells, function.__closure__ or ())
    ):
        return function
    own = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, defaults or None, cells
    )
    own.__dict__.update(function.__dict__)
    own.__kwdefaults__, own.__qualname__ = function.__kwdefaults__, function.__qualname__
    return own


def _own_cell(cell: types.CellType, copies: dict[int, Any], tensors: OwnTensors) -> types.CellType:
    try:
        held = cell.cell_contents
    except ValueError:  # not assigned yet
        return cell
    if type(held) is types.FunctionType:
        if id(cell) in copies:
            return copies[id(cell)]  # type: ignore[no-any-return]
        copies[id(cell)] = cell  # it may hold itself
    own = with_copies(held, copies, tensors, True)
    if own is not held:
        copies[id(cell)] = types.CellType(own)
        return copies[id(cell)]  # type: ignore[no-any-return]
    return cell


def assign_attribute(
    root: nn.Module, target: str, value: Any, new_prefix: Callable[[str], nn.Module]
) -> None:
    """Set the attribute at a dotted path, making the modules on the way with `new_prefix(path)`."""
    *prefix, field = target.split(".")
    module: Any = root
    path: list[str] = []
    for atom in prefix:
        path.append(atom)
        child = getattr(module, atom, None)
        if child is None:
            child = new_prefix(".".join(path))
            module._modules[atom] = child
        module = child
    if isinstance(value, torch.Tensor) and not isinstance(value, nn.Parameter):
        if field in module.__dict__.get("_buffers", {}):
            module._buffers[field] = value
        elif not hasattr(module, field):
            module.register_buffer(field, value)
    elif isinstance(value, nn.Module):
        module._modules[field] = value
    else:
        setattr(module, field, value)


def adopt_target(owner: nn.Module, root: nn.Module, target: str) -> None:
    """Give `owner` what `root` has at a dotted path, under the same path and with containers of the same class.

    Raises:
        TargetError: ST115, nothing is there.
    """
    source: Any = root
    place: Any = owner
    atoms = target.split(".")
    for depth, atom in enumerate(atoms):
        found = getattr(source, atom, _MISSING)
        if found is _MISSING:
            near = difflib.get_close_matches(atom, [name for name in dir(source) if name[:1] != "_"], 3)
            raise TargetError("ST115", node=target, kind="", target=target, module=type(root).__name__,
                              nearest=", ".join(near) or "none")  # fmt: skip
        if depth == len(atoms) - 1:
            _take_over(place, source, atom, found)
            return
        child = place._modules.get(atom) if isinstance(place, nn.Module) else None
        if child is None:
            if not isinstance(found, nn.Module):
                _take_over(place, source, atom, found)
                return
            child = shallow_module(found)
            for table in _TABLES:
                child.__dict__[table].clear()
            place._modules[atom] = child
        elif child is found:
            return
        source, place = found, child


def _take_over(place: nn.Module, source: Any, field: str, value: Any) -> None:
    if isinstance(source, nn.Module):
        for table in _TABLES:
            if field in source.__dict__[table]:
                place.__dict__[table][field] = value
                if table == "_buffers" and field in source._non_persistent_buffers_set:
                    place._non_persistent_buffers_set.add(field)
                return
    if isinstance(value, torch.Tensor) and not isinstance(value, nn.Parameter):
        # A tensor in a plain attribute is no state of the original, and does not become any here.
        place.register_buffer(field, value, persistent=False)
    elif isinstance(value, nn.Module):
        place._modules[field] = value
    elif field not in place.__dict__:
        setattr(place, field, value)


_MISSING = object()
