"""What a program could change while it runs at capture: everything is put back, and what changed is named."""

from __future__ import annotations

import array
import builtins
import collections
import contextvars
import ctypes
import enum
import functools
import operator
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import nn

from ..ir import Node
from .positions import advanced, moves_on, position, same_position
from .proxy import Proxy, collect_proxies
from .scanning import is_users

__all__ = ["Change", "Slot", "Snapshot", "nodes_of_proxies"]

_OWN = frozenset(vars(nn.Module()))
_TABLES = ("_parameters", "_buffers", "_modules", "_forward_hooks", "_forward_pre_hooks")
_CONTAINERS = (list, dict, set, collections.deque)
_BYTES = frozenset({array.array, bytearray})
_PLAIN = (
    int,
    float,
    complex,
    str,
    bytes,
    type(None),
    torch.Tensor,
    nn.Module,
    type,
    enum.Enum,
    types.ModuleType,
)
_DATA = frozenset({
    int, float, complex, str, bool, bytes, type(None), tuple, torch.Tensor, torch.dtype, torch.device, torch.Size,
})  # fmt: skip
_HOLDERS = frozenset({"_thread", "argparse", "collections", "queue", "types", "weakref"})
"""Modules of Python's own with classes whose objects hold what the program puts there."""

_MOST_ITEMS = 10_000
_MISSING = object()
_OF_EXEC = vars(builtins)


@dataclass(frozen=True)
class Change:
    """Something that the program changed.

    Attributes:
        what: How the user would write it.
        verb: What was done to it, or None for a container whose items changed.
        node: The node of a traced value that was stored there, if there is one.
        container: The container whose items changed, if it is one.
    """

    what: str
    verb: str | None
    node: Node | None
    container: Any = None


def nodes_of_proxies(value: Any) -> list[Node]:
    """Return the nodes of the proxies in tuples, lists, dicts and slices."""
    found: list[Proxy] = []
    collect_proxies(value, found)
    return [proxy.node for proxy in found]


class Items(list[Any]):
    """What was in a list or set; its class tells it from what the program holds."""


class Entries(dict[Any, Any]):
    """What was in a dict; see `Items`."""


class _Container(NamedTuple):
    name: str
    value: Any
    before: Any
    verb: str | None = None
    grows: bool = False  # new entries are taken out again without a word, as those of a cached property


@dataclass(frozen=True)
class Slot:
    """A global or a variable of an enclosing function."""

    name: str
    holder: Any
    key: str
    before: Any

    def read(self) -> Any:
        """Return what is there now."""
        if type(self.holder) is dict:
            return self.holder.get(self.key, _MISSING)
        if isinstance(self.holder, type):
            return vars(self.holder).get(self.key, _MISSING)
        return getattr(self.holder, self.key, _MISSING)

    def put_back(self) -> None:
        """Put back what was there before."""
        if type(self.holder) is dict and self.before is _MISSING:
            self.holder.pop(self.key, None)
        elif type(self.holder) is dict:
            self.holder[self.key] = self.before
        elif isinstance(self.holder, type):
            setattr(self.holder, self.key, self.before)
        elif self.before is _MISSING:
            object.__delattr__(self.holder, self.key)
        else:
            object.__setattr__(self.holder, self.key, self.before)


class Snapshot:
    """The state of a module and of what a program can reach from it, before the program runs.

    Args:
        root: The module that is traced.
        function: What was given to be traced.

    Attributes:
        iterators: Names of iterators that outlive the call, by identity.
        reads_files: Whether the program may read what it writes to files.
        modules: Path, class and attributes of each module.
        objects: Objects of the program's own, with their attributes.
        slots: Globals, variables of enclosing functions and attributes of classes that are plain values.

    Cost: the attributes of all modules, and the items of the containers in them.
    """

    def __init__(self, root: nn.Module, function: Any) -> None:
        self._containers: list[_Container] = []
        self._empty: list[tuple[str, dict[str, Any]]] = []
        self.slots: list[Slot] = []
        self.modules: list[tuple[str, type, dict[str, Any]]] = []
        self.objects: list[tuple[Any, dict[str, Any]]] = []
        self._classes: list[tuple[type, frozenset[str]]] = []
        self._seen: set[int] = set()
        self._positions: list[tuple[str, Any, Any]] = []
        self._context = contextvars.copy_context()  # of what is found later, while it has another value
        self.iterators: dict[int, str] = {}
        self._watches_tensors = self.reads_files = False
        for path, module in root.named_modules():
            self._add_module(path, module)
        if function is not root:
            self._add_function(function)

    def _watch_iterator(self, name: str, value: Any) -> None:
        """Add what moves on when it is asked, inside C code."""
        self.iterators[id(value)] = name
        self._positions.append((name, value, position(value, self._context)))

    def _add_module(self, path: str, module: nn.Module) -> None:
        if isinstance(module, torch.jit.ScriptModule):  # its state lives in C++, out of the program's reach
            return
        prefix = f"self.{path}." if path else "self."
        state = module.__dict__
        if id(type(module)) not in self._seen:
            self._add_class(type(module))
        before = dict(state)
        self.modules.append((path, type(module), before))
        self._containers.append(_Container(prefix, state, before, "writes past nn.Module to", True))
        for name in _TABLES:
            table = state[name]
            if not table:  # as most are
                self._empty.append((prefix, table))
                continue
            self._containers.append(_Container(prefix, table, dict(table), "registers or replaces"))
            if name.endswith("hooks"):
                for hook in table.values():
                    self._add_function(hook)
        if len(state) > len(_OWN):
            for name, value in state.items():
                if name not in _OWN:
                    self._walk(prefix + name, value)

    def _add_function(self, function: Any) -> None:
        """Add what a callable holds: variables of enclosing functions, the object of a method, bound arguments."""
        if isinstance(function, functools.partial):
            self._walk("partial.args", function.args)
            self._walk("partial.keywords", function.keywords)
            function = function.func
        if isinstance(function, types.MethodType):
            self._walk("self", function.__self__)
            function = function.__func__
        if not isinstance(function, types.FunctionType):
            self._walk("self", function)
            return
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
            self._watch_slot(name, cell, "cell_contents")

    def watch_function(self, function: types.FunctionType) -> None:
        """Add what a function of the program's holds itself: variables around it, defaults, attributes."""
        if id(function) in self._seen:
            return
        self._seen.add(id(function))
        name = function.__name__
        self._add_function(function)
        for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self._walk(f"a default of {name}", default)
        if type(function.__dict__) is dict:
            state = function.__dict__
            self._containers.append(_Container(f"{name}.", state, dict(state), "writes to"))
            self._walk_all(f"{name}.", list(state.items()), len(state))

    def watch_global(self, table: dict[str, Any], name: str) -> None:
        """Add a global that a function of the program names."""
        if name in table:
            self._watch_slot(name, table, name)

    def _watch_slot(self, name: str, holder: Any, key: str) -> None:
        value = holder.get(key) if type(holder) is dict else getattr(holder, key, _MISSING)
        if type(value) in _DATA:
            self.slots.append(Slot(name, holder, key, value))
        elif isinstance(value, type):
            self._add_class(value)
        else:
            if issubclass(type(value), _CONTAINERS) or _is_own_object(value):
                self.slots.append(Slot(name, holder, key, value))
            self._walk(name, value)

    def _add_class(self, cls: type) -> None:
        """Add the attributes of a class of the user's, and of those that it derives from."""
        for base in cls.__mro__:
            if id(base) in self._seen or not is_users(base.__module__):
                continue
            self._seen.add(id(base))
            self._classes.append((base, frozenset(vars(base))))
            for name, value in list(vars(base).items()):
                if name.startswith("__") or isinstance(value, type | types.FunctionType):
                    continue
                if type(value) in _DATA:
                    self.slots.append(Slot(f"{base.__name__}.{name}", base, name, value))
                else:
                    self._walk(f"{base.__name__}.{name}", value)

    def watch_attribute(self, name: str, holder: Any, key: str) -> None:
        """Add an attribute of a module of Python's, or of another package, that a program assigns."""
        if not any(slot.holder is vars(holder) and slot.key == key for slot in self.slots):
            self.slots.append(Slot(f"{name}.{key}", vars(holder), key, vars(holder).get(key, _MISSING)))

    def watch_tensors(self, root: nn.Module) -> None:
        """Add what the program has attached to tensors of the module."""
        if self._watches_tensors:
            return
        self._watches_tensors = True
        for path, module in root.named_modules():
            for table in (module._parameters, module._buffers):
                for name, value in table.items():
                    if type(getattr(value, "__dict__", None)) is dict and id(value) not in self._seen:
                        self._seen.add(id(value))
                        held = f"self.{path}.{name}." if path else f"self.{name}."
                        state = vars(value)
                        self._containers.append(_Container(held, state, dict(state), "writes to"))

    def watch(self, name: str, value: Any) -> None:
        """Add a value, with the containers and objects of the program's own in it.

        Args:
            name: How the user would write it.
            value: The value.
        """
        self._walk(name, value)

    def watches(self, value: Any) -> bool:
        """Tell whether a container is among those that are put back."""
        return id(value) in self._seen

    def _walk(self, name: str, value: Any) -> None:
        """Add a value's containers, those in them, and the attributes of plain objects of the user's."""
        cls = type(value)
        if issubclass(cls, _PLAIN) or cls is types.FunctionType or id(value) in self._seen:
            return
        if value is _OF_EXEC:  # what `exec` puts into the globals that it is given; hooks stand in it now
            return
        self._seen.add(id(value))
        if issubclass(cls, tuple):
            self._walk_all(name, enumerate(value), len(value))
        elif issubclass(cls, dict):
            before: Any = Entries(dict.items(value))  # past a `__getitem__` of its class's own
            self._containers.append(_Container(name, value, before))
            self._walk_all(name, list(before.items()), len(before))
        elif issubclass(cls, _CONTAINERS):
            before = set(value) if issubclass(cls, set) else Items(value)
            self._containers.append(_Container(name, value, before))
            self._walk_all(name, enumerate(before), len(before))
        elif moves_on(cls):
            self._watch_iterator(name, value)
        elif cls.__module__ == "numpy" and cls.__name__ == "ndarray":
            self._containers.append(_Container(name, value, value.copy()))
        elif cls in _BYTES or issubclass(cls, ctypes._SimpleCData | ctypes.Structure | ctypes.Array):
            self._containers.append(_Container(name, value, bytes(value)))
        elif cls is functools.partial:
            self._add_function(value)
        elif cls.__module__ in _HOLDERS or is_users(cls.__module__):
            self._add_object(name, value)

    def _add_object(self, name: str, value: Any) -> None:
        """Add the attributes of an object, in its `__dict__` and in slots."""
        cls = type(value)
        for base in cls.__mro__:
            for key, member in vars(base).items() if is_users(base.__module__) else ():
                if type(member) is types.MemberDescriptorType:
                    held = getattr(value, key, _MISSING)
                    self.slots.append(Slot(f"{name}.{key}", value, key, held))
                    self._walk(f"{name}.{key}", held)
        if type(getattr(value, "__dict__", 0)) is dict:
            state = value.__dict__
            before = Entries(state)
            self.objects.append((value, before))
            self._containers.append(_Container(f"{name}.", state, before, "writes to", True))
            self._walk_all(f"{name}.", list(state.items()), len(state))

    def _walk_all(self, name: str, items: Iterable[tuple[Any, Any]], count: int) -> None:
        if count <= _MOST_ITEMS:
            for key, item in items:
                self._walk(f"{name}{key}" if name.endswith(".") else f"{name}[{key!r}]", item)

    def restore(
        self,
        nodes_in: Callable[[Any], list[Node]] = nodes_of_proxies,
        is_constant: Callable[[list[Node]], bool] = lambda nodes: not nodes,
    ) -> Change | None:
        """Put everything back, and return the first thing that had changed.

        Args:
            nodes_in: Gives the nodes of the traced values in a value.
            is_constant: Tells whether nodes compute the same at each call, so that to keep it changes nothing.
        """
        change: Change | None = None
        for moved in advanced(self._positions, self.reads_files):
            change = change or Change(moved, "advances", None)
        filled = [
            _Container(prefix, table, {}, "registers or replaces") for prefix, table in self._empty if table
        ]
        for saved in [*self._containers, *filled]:
            value, before = saved.value, saved.before
            if _same(value, before):
                continue
            keys = _changed_keys(value, before)
            items = [value[key] for key in keys if key in value] if keys is not None else value
            found = nodes_in([] if type(before) is bytes else list(items))
            name = f"{saved.name}{keys[0]}" if keys and saved.name.endswith(".") else saved.name
            if not saved.grows or any(key in before for key in keys or ()) or not is_constant(found):
                change = change or Change(name, saved.verb, found[0] if found else None, value)
            _put_back(value, before)
        for cls, names in self._classes:
            for name in vars(cls).keys() - names:
                if name.startswith("__"):
                    continue
                found = nodes_in(vars(cls)[name])
                type.__delattr__(cls, name)
                change = change or Change(f"{cls.__name__}.{name}", "assigns", found[0] if found else None)
        for slot in self.slots:
            now = slot.read()
            if now is slot.before:
                continue
            found = nodes_in(now)
            slot.put_back()
            if found or slot.before is not None or not _made_once(now) or not is_constant(found):
                change = change or Change(slot.name, "assigns", found[0] if found else None)
        return change

    def is_changed(self) -> bool:
        """Tell whether the program has changed anything so far that is not an attribute of a module."""
        return (
            any(slot.read() is not slot.before for slot in self.slots)
            or any(vars(cls).keys() - names for cls, names in self._classes)
            or any(
                before is not None and not same_position(position(value), before)
                for _, value, before in self._positions
            )
            or any(
                not _same(saved.value, saved.before)
                for saved in self._containers
                if not (saved.name.startswith("self.") and saved.name.endswith("."))
            )
        )

    def changed_items(self) -> list[tuple[Any, Any, Any]] | None:
        """Return the items and attributes that are others: what holds each, its key, and the object whose it is.

        A list of another length is itself the item of what holds it. None if something else has changed as well.
        """
        if any(
            before is not None and not same_position(position(value), before)
            for _, value, before in self._positions
        ):
            return None
        if any(slot.read() is not slot.before for slot in self.slots):
            return None
        owners = {id(value.__dict__): value for value, _ in self.objects}
        found: list[tuple[Any, Any, Any]] = []
        for saved in self._containers:
            value, before = saved.value, saved.before
            if _same(value, before):
                continue
            if issubclass(type(value), dict) and all(key in value for key in before):
                keys = _changed_keys(value, before) or []
                found += [(value, key, owners.get(id(value))) for key in keys]
            elif type(value) is list and len(value) == len(before):
                found += [(value, key, None) for key in range(len(value)) if value[key] is not before[key]]
            elif type(value) is list:
                found.append((None, value, None))
            else:
                return None
        return found

    def holders_of(self, value: Any) -> list[tuple[Any, Any, Any]]:
        """Return where a value was: what held it, its key, and the object whose attributes those are."""
        owners = {id(one.__dict__): one for one, _ in self.objects}
        found: list[tuple[Any, Any, Any]] = []
        for saved in self._containers:
            if type(saved.before) is Entries:
                keys = [key for key, item in saved.before.items() if item is value]
            elif type(saved.before) is Items:
                keys = [index for index, item in enumerate(saved.before) if item is value]
            else:
                keys = (
                    [None] if type(saved.before) is set and any(one is value for one in saved.before) else []
                )
            found += [(saved.value, key, owners.get(id(saved.value))) for key in keys]
        return found

    def has_changed(self, what: str) -> bool:
        """Tell whether something has changed.

        Args:
            what: Its name, as `Change.what` gives it.
        """
        for saved in self._containers:
            if saved.name.endswith("."):
                key = what[len(saved.name) :]
                changed = what.startswith(saved.name) and saved.value.get(key) is not saved.before.get(key)
            else:
                changed = what == saved.name and not _same(saved.value, saved.before)
            if changed:
                return True
        if any(what.startswith(prefix) and table for prefix, table in self._empty):
            return True
        if any(slot.name == what and slot.read() is not slot.before for slot in self.slots):
            return True
        if any(
            f"{cls.__name__}.{name}" == what
            for cls, names in self._classes
            for name in vars(cls).keys() - names
        ):
            return True
        return any(
            name == what and before is not None and not same_position(position(value), before)
            for name, value, before in self._positions
        )


def _is_own_object(value: Any) -> bool:
    """Tell whether a value is an object of the program's, or holds what it puts there, and no function."""
    module = type(value).__module__
    return not callable(value) and value is not _MISSING and (module in _HOLDERS or is_users(module))


def _made_once(value: Any) -> bool:
    """Tell whether what stands in the place of None is made at its first use and stays as it is."""
    cls = type(value)
    return not issubclass(cls, _CONTAINERS) and (callable(value) or not is_users(cls.__module__))


def _same(value: Any, before: Any) -> bool:
    if type(before) is bytes:
        return bytes(value) == before
    if len(value) != len(before):
        return False
    if isinstance(value, dict):
        # Past methods of its class's own; an ordered one keeps its order apart.
        kind = collections.OrderedDict if isinstance(value, collections.OrderedDict) else dict
        return all(map(operator.is_, kind.values(value), before.values())) and list(kind.keys(value)) == list(
            before
        )
    if isinstance(value, set):
        return set(map(id, value)) == set(map(id, before))
    if isinstance(value, list | collections.deque):
        return all(map(operator.is_, value, before))
    return bool(value.tobytes() == before.tobytes())  # an array


def _changed_keys(value: Any, before: Any) -> list[Any] | None:
    if not isinstance(value, dict):
        return None
    keys = [key for key, item in dict.items(value) if before.get(key, _MISSING) is not item]
    return keys + [key for key in before if key not in value]


def _put_back(value: Any, before: Any) -> None:
    if type(value) is array.array:
        del value[:]
        value.frombytes(before)
    elif type(value) is bytearray:
        value[:] = before
    elif type(before) is bytes:
        memoryview(value).cast("B")[:] = before
    elif isinstance(value, dict | set):
        value.clear()
        value.update(before)
    elif isinstance(value, list | collections.deque):
        value.clear()
        value.extend(before)
    else:
        value[...] = before
