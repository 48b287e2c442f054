"""Plain values from outside that a program reads by name: fixed at capture, and listed in its report.

They are found in the code of the functions that the program may call, not in the run: what Python does with a plain
number, nobody sees. The code is read when the report is; at capture only the values are kept that it may name.
"""

from __future__ import annotations

import enum
import re
import reprlib
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType, FrameType, FunctionType
from typing import Any

import torch
from torch import nn

from ..diagnostics import Location
from .frames import is_programs_code
from .reads import Read, names_in, reads_of
from .report import Decision
from .scanning import content_of, is_users, plain_function
from .snapshot import Snapshot
from .state import Need

__all__ = ["Constants"]

_PLAIN = (
    bool, int, float, complex, str, bytes, type(None), torch.dtype, torch.device, torch.memory_format, torch.layout,
    torch.Size, range, slice, enum.Enum,
)  # fmt: skip
_CONTAINERS = (tuple, list, dict, set, frozenset)
_OWN = frozenset(vars(nn.Module()))
_COMMON = frozenset(
    name
    for cls in (torch.Tensor, nn.Module, str, list, dict, set, tuple, types.FunctionType)
    for name in dir(cls)
)
_MISSING = object()
_MOST_LOOKED_AT = 16
_MOST_VALUES = 3
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def _is_plain(value: Any, depth: int = 3) -> bool:
    """Tell whether a value is data, which may be another in the next call, rather than part of the program."""
    if issubclass(type(value), _PLAIN):
        return True
    if issubclass(type(value), _CONTAINERS):
        items = [*value.items()] if issubclass(type(value), dict) else [*value][:_MOST_LOOKED_AT]
        return depth > 0 and all(_is_plain(item, depth - 1) for item in items[:_MOST_LOOKED_AT])
    return type(value).__module__ == "numpy"


def _is_kept(value: Any) -> bool:
    cls = type(value)
    if issubclass(cls, nn.Module | torch.Tensor | type | types.ModuleType) or cls is FunctionType:
        return False
    return _is_plain(value) or is_users(cls.__module__) or hasattr(value, "__dict__")


@dataclass(frozen=True)
class _Held:
    """A module or an object of the program's, and those of its attributes that the program may read."""

    path: str | None
    cls: type
    values: dict[str, Any]


class Constants:
    """Collects, for one trace, what the report lists of plain values.

    Args:
        outside: The frame that runs the trace, which is no part of the program, nor is what called it.

    Attributes:
        functions: What the program may call.
        opaque: Functions that are called at run time, and classes of modules that are.
    """

    def __init__(self, outside: FrameType | None) -> None:
        self.functions: list[FunctionType] = []
        self.opaque: set[Any] = set()
        self._ran: dict[int, tuple[CodeType, dict[str, Any]]] = {}
        self._callers: set[tuple[str, int, str]] = set()
        while outside is not None:
            self._callers.add(_place(outside.f_code))
            outside = outside.f_back

    def note(self, frame: FrameType) -> None:
        """Note that something is recorded on behalf of a frame."""
        code = frame.f_code
        if id(code) not in self._ran:
            self._ran[id(code)] = code, frame.f_globals

    def reader(
        self, snapshot: Snapshot, interned: dict[str, Any], needs: frozenset[Need]
    ) -> Callable[[], list[Decision]]:
        """Keep what the program may have read, and return what makes the entries of the report from it.

        Args:
            snapshot: What there was before the program ran.
            interned: What the graph has from outside.
            needs: Attributes that are read at each call.
        """
        functions = [
            function
            for function in self.functions
            if function not in self.opaque and is_programs_code(function.__code__)
        ]
        known = {_place(function.__code__) for function in self.functions} | self._callers
        others = [pair for pair in self._ran.values() if _place(pair[0]) not in known]
        names = frozenset[str]().union(
            *(names_in(function.__code__) for function in functions), *(names_in(code) for code, _ in others)
        )
        names -= _OWN
        held = [
            _Held(path, cls, _named(state, names))
            for path, cls, state in snapshot.modules
            if not names.isdisjoint(state) or is_users(cls.__module__)
        ]
        held += [
            _Held(f"{head}.{path}" if path else head, type(module), _named(vars(module), names))
            for head, value in interned.items()
            if issubclass(type(value), nn.Module)
            for path, module in value.named_modules()
        ]
        objects = {
            id(value): _Held(None, type(value), _named(state, names)) for value, state in snapshot.objects
        }
        paths = {path: cls for path, cls, _ in snapshot.modules}
        values = _Values(held, objects, paths, snapshot, needs, self.opaque)
        return lambda: list(_decisions(functions, others, values))


def _place(code: CodeType) -> tuple[str, int, str]:
    return code.co_filename, code.co_firstlineno, code.co_name


def _named(state: dict[str, Any], names: frozenset[str]) -> dict[str, Any]:
    return {name: value for name, value in state.items() if name in names and _is_kept(value)}


def _defines(cls: type, name: str) -> bool:
    return any(name in vars(base) for base in cls.__mro__ if is_users(base.__module__))


class _Values:
    """What names stood for at capture."""

    def __init__(
        self,
        held: list[_Held],
        objects: dict[int, _Held],
        paths: dict[str, type],
        snapshot: Snapshot,
        needs: frozenset[Need],
        opaque: set[Any],
    ) -> None:
        self.opaque = opaque
        self._held = held
        self._objects = objects
        self._paths = paths
        self._children = {path.rpartition(".")[2] for path in paths}
        self._by_path = {one.path: one for one in held}
        self._slots = snapshot.slots  # with their holders, which keep their identity
        self._kept = [value for value, _ in snapshot.objects]
        self._live = {(need.identity, need.name) for need in needs}
        self._fixed: dict[tuple[int, str], Any] = {}
        self._everything: list[_Held] = []
        self._all: set[type] = set()
        self._classes: dict[tuple[str, str], type] = {}
        self._methods: dict[int, type] = {}

    def prepare(self) -> None:
        """Make the tables of plain globals, variables and attributes of classes, of classes and of methods."""
        self._fixed = {(id(slot.holder), slot.key): slot.before for slot in self._slots}
        self._everything = [*self._held, *self._objects.values()]
        self._all = {*self._paths.values(), *(one.cls for one in self._everything)}
        for base in {base: None for cls in self._all for base in cls.__mro__}:
            if is_users(base.__module__):
                self._classes[base.__module__, base.__qualname__] = base
                for value in vars(base).values():
                    self._methods[id(plain_function(value))] = base

    def owners(self, function: FunctionType) -> tuple[type | None, list[_Held]]:
        """Return the class that a function is a method of, and the modules and objects of that class."""
        base = self._methods.get(id(function))
        if base is None:
            prefix = function.__qualname__.rpartition(".")[0]
            base = self._classes.get((function.__module__, prefix))
        return base, [] if base is None else [one for one in self._everything if issubclass(one.cls, base)]

    def is_opaque(self, base: type) -> bool:
        """Tell whether all modules of a class are called at run time."""
        classes = {cls for cls in self._all if issubclass(cls, base)}
        return bool(classes) and classes <= self.opaque

    def of_any(self, name: str) -> list[_Held]:
        """Return what has an attribute of that name, where the code does not tell of what it is read."""
        if name in _COMMON:
            return []
        return [one for one in self._everything if name in one.values or _defines(one.cls, name)]

    def of_global(self, table: dict[str, Any], name: str) -> Any:
        """Return what a global was."""
        return self._fixed.get((id(table), name), table.get(name, _MISSING))

    def of_cell(self, cell: Any) -> Any:
        """Return what a variable of an enclosing function was."""
        return self._fixed.get((id(cell), "cell_contents"), content_of(cell))

    def step(self, value: Any, name: str) -> Any:
        """Return what an attribute was; missing where it is no plain value and nothing that has any."""
        if type(value) is _Held:
            if name in value.values and not self._is_live(value.cls, name):
                found = value.values[name]
                # That a module is missing which others of the class have is the program's structure.
                return _MISSING if found is None and name in self._children else found
            if value.path is not None:
                path = f"{value.path}.{name}" if value.path else name
                if path in self._paths:
                    return self._by_path.get(path, _Held(path, self._paths[path], {}))
            return self._of_class(value.cls, name)
        if id(value) in self._objects:
            return self.step(self._objects[id(value)], name)
        if issubclass(type(value), type):
            return self._of_class(value, name)
        if type(value) is types.ModuleType:
            table = vars(value)
            if is_users(value.__name__):
                return self._fixed.get((id(table), name), table.get(name, _MISSING))
            is_setting = value.__name__.startswith("torch.backends") or name in ("argv", "backends")
            return table.get(name, _MISSING) if is_setting else _MISSING
        if type(value).__module__.startswith("torch.backends"):
            return getattr(value, name, _MISSING)
        member = getattr(type(value), name, None)
        return getattr(value, name, _MISSING) if type(member) is types.MemberDescriptorType else _MISSING

    def _is_live(self, cls: type, name: str) -> bool:
        return name == "training" or any((id(base), name) in self._live for base in cls.__mro__)

    def _of_class(self, cls: type, name: str) -> Any:
        if self._is_live(cls, name):
            return _MISSING
        for base in cls.__mro__:
            if name in vars(base):
                return (
                    self._fixed.get((id(base), name), vars(base)[name])
                    if is_users(base.__module__)
                    else _MISSING
                )
        return _MISSING

    def follow(self, value: Any, names: tuple[str, ...]) -> tuple[str, Any] | None:
        """Return the attributes up to the first plain value, and that value, if there is one."""
        for index, name in enumerate(names):
            value = self.step(value, name)
            if value is _MISSING:
                return None
            if type(value) is not _Held and _is_plain(value):
                return ".".join(names[: index + 1]), value
        return None


def _decisions(
    functions: list[FunctionType], others: list[tuple[CodeType, dict[str, Any]]], values: _Values
) -> Iterator[Decision]:
    values.prepare()
    seen: set[tuple[str, int, str]] = set()
    for function in functions:
        base, owners = values.owners(function)
        if _place(function.__code__) in seen or (base and values.is_opaque(base)):
            continue
        seen.add(_place(function.__code__))
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=False))
        where = f"{base.__qualname__}.{function.__name__}" if base else function.__name__
        for read in reads_of(function.__code__):
            yield from _of_read(read, function.__code__, where, function.__globals__, cells, owners, values)
    for code, table in others:
        for read in reads_of(code):
            if read.root in ("global", "import") and is_users(table.get("__name__")):
                yield from _of_read(read, code, code.co_name, table, {}, [], values)


def _of_read(
    read: Read,
    code: CodeType,
    where: str,
    table: dict[str, Any],
    cells: dict[str, Any],
    owners: list[_Held],
    values: _Values,
) -> Iterator[Decision]:
    found: dict[str, dict[str, None]] = {}

    def note(name: str, value: Any) -> None:
        found.setdefault(name, {})[_text(value)] = None

    first, rest = read.names[0], read.names[1:]
    if read.root in ("global", "free", "import"):
        if read.root == "import":
            value = sys.modules.get(first, _MISSING)
        else:
            value = (
                values.of_global(table, first) if read.root == "global" else values.of_cell(cells.get(first))
            )
        if value is not _MISSING and _is_plain(value):
            if not first.startswith("__"):
                note(first, value)
        elif value is not _MISSING and rest:
            followed = values.follow(value, rest)
            if followed is not None:
                note(f"{first}.{followed[0]}", followed[1])
    elif read.root == "self" and owners:
        for owner in owners:
            followed = values.follow(owner, rest)
            if followed is not None:
                note(f"{first}.{followed[0]}", followed[1])
    else:
        names = rest if read.root == "self" else read.names
        for owner in values.of_any(names[0]):
            followed = values.follow(owner, names)
            if followed is not None:
                note(f"{owner.cls.__name__}.{followed[0]}", followed[1])
    location = Location(code.co_filename, read.line, function=where)
    for name, texts in found.items():
        shown = [*texts][:_MOST_VALUES]
        more = f" or {len(texts) - len(shown)} others" if len(texts) > len(shown) else ""
        yield Decision("constant", f"`{name}` is {' or '.join(shown)}{more}", location)


def _text(value: Any) -> str:
    if type(value).__module__ == "numpy" and hasattr(value, "shape") and value.shape:
        return f"an array of shape {value.shape}"
    short = reprlib.Repr()
    short.maxstring = short.maxother = 40
    return _ADDRESS.sub("", short.repr(value))
