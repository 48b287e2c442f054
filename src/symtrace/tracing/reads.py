"""What a function reads by name from outside of itself: told by its code, without running it."""

from __future__ import annotations

import dis
from dataclasses import dataclass
from types import CodeType
from typing import Any

from .code_cache import cached_by_code

__all__ = ["Read", "names_in", "reads_of", "stores_of"]


@dataclass(frozen=True)
class Read:
    """One thing that a function reads.

    Attributes:
        root: Where the name of the first is looked up: `self` for the first parameter of the function, `global`, `free`
            for a variable of an enclosing function, `import` for a module, `unknown` for what the code does not tell.
        names: The first name, if there is one, and the attributes after it.
        line: Where.
    """

    root: str
    names: tuple[str, ...]
    line: int


_SKIPPED = frozenset(
    {"CACHE", "EXTENDED_ARG", "KW_NAMES", "NOP", "NOT_TAKEN", "PRECALL", "PUSH_NULL", "RESUME"}
)
_ASKING = frozenset({"getattr", "hasattr", "setattr"})


@cached_by_code
def names_in(code: CodeType) -> frozenset[str]:
    """Return the names that a function, or one that is defined in it, may read attributes and globals by."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if type(constant) is str:
            found.add(constant)
        elif type(constant) is CodeType:
            found |= names_in(constant)
    return frozenset(found)


@cached_by_code
def reads_of(code: CodeType) -> tuple[Read, ...]:
    """Return what a function, and those that are defined in it, read by name from outside; each once.

    What a variable was assigned from is followed where that is one name with attributes, as in `config = self.config`.
    """
    first = code.co_varnames[0] if code.co_argcount else None
    found: dict[tuple[str, tuple[str, ...]], int] = {}
    for chain in _chains(code, first, frozenset()):
        key = chain.root, tuple(chain.names)
        if len(key[1]) > (chain.root == "self"):
            found.setdefault(key, chain.line)
    return tuple(Read(root, names, line) for (root, names), line in found.items())


_STORE = dis.opmap["STORE_ATTR"]


@cached_by_code
def stores_of(code: CodeType) -> tuple[Read, ...]:
    """Return the attributes of what is named outside that a function, and those defined in it, assign."""
    found: tuple[Read, ...] = ()
    if _STORE in code.co_code[::2] or "setattr" in code.co_names:
        first = code.co_varnames[0] if code.co_argcount else None
        stored = _Reader(code, first, frozenset()).stored
        found = tuple(Read(chain.root, tuple(chain.names), chain.line) for chain in stored)
    for constant in code.co_consts:
        if type(constant) is CodeType:
            found += stores_of(constant)
    return found


@dataclass
class _Chain:
    root: str
    names: list[str]
    line: int


class _Reader:
    """Goes through the instructions of one code, with what of the stack is known.

    Args:
        code: The code.
        first: Name of the first parameter of the outermost function.
        around: Variables of the functions around it that are part of the same text.
    """

    def __init__(self, code: CodeType, first: str | None, around: frozenset[str]) -> None:
        self.found: list[_Chain] = []
        self.stored: list[_Chain] = []
        self._augmented: _Chain | None = None
        self._first = first
        self._outer = frozenset(code.co_freevars) - around
        self._stack: list[_Chain | str | tuple[Any, ...] | None] = []
        self._aliases: dict[str, _Chain] = {}
        self._line = code.co_firstlineno
        for item in dis.get_instructions(code):
            if item.starts_line is not None:
                self._line = _line_of(item, self._line)
            if item.opname not in _SKIPPED:
                self._take(item.opname, item)

    def _push(self, root: str, names: list[str]) -> None:
        chain = _Chain(root, names, self._line)
        self.found.append(chain)
        self._stack.append(chain)

    def _load(self, name: str) -> None:
        if name == self._first:
            self._push("self", [name])
        elif name in self._aliases:
            self._push(self._aliases[name].root, list(self._aliases[name].names))
        elif name in self._outer:
            self._push("free", [name])
        else:
            self._push("unknown", [])

    def _take(self, name: str, item: dis.Instruction) -> None:
        stack = self._stack
        if name.startswith("LOAD_FAST") or name == "LOAD_DEREF":
            for variable in item.argval if type(item.argval) is tuple else (item.argval,):
                self._load(variable)
        elif name == "LOAD_GLOBAL":
            self._push("global", [item.argval])
        elif name == "LOAD_CONST":
            stack.append(item.argval if type(item.argval) in (str, tuple) else None)
        elif name in ("LOAD_ATTR", "LOAD_METHOD"):
            self._attribute(item.argval)
        elif name == "STORE_ATTR":
            held = stack[-1] if stack and type(stack[-1]) is _Chain else self._augmented
            root, names = (held.root, held.names) if type(held) is _Chain else ("unknown", [])
            self.stored.append(_Chain(root, [*names, item.argval], self._line))
            stack.clear()
        elif name in ("COPY", "DUP_TOP") and stack and type(stack[-1]) is _Chain:
            self._augmented = _Chain(stack[-1].root, list(stack[-1].names), self._line)
            self._push(self._augmented.root, list(self._augmented.names))
        elif name in ("STORE_FAST", "STORE_DEREF"):
            top = stack.pop() if stack else None
            if type(top) is _Chain and top.root != "unknown" and item.argval != self._first:
                self._aliases.setdefault(item.argval, top)
        elif name.startswith("CALL"):
            self._call(item.arg or 0)
        elif name == "IMPORT_NAME":
            dotted = str(item.argval)
            names_some = bool(stack) and type(stack[-1]) is tuple
            stack.clear()
            self._push("import", [dotted if names_some else dotted.partition(".")[0]])
        elif name == "IMPORT_FROM":
            module = next((chain for chain in reversed(stack) if type(chain) is _Chain), None)
            if module is not None:
                self._push("import", [module.names[0], item.argval])
        else:
            stack.clear()

    def _attribute(self, name: str) -> None:
        top = self._stack[-1] if self._stack else None
        if type(top) is _Chain:
            top.names.append(name)
            return
        if self._stack:
            self._stack.pop()
        self._push("unknown", [name])

    def _call(self, count: int) -> None:
        """A call of `getattr` or `hasattr` with a name reads an attribute."""
        asked = self._stack[-count - 1 :] if 2 <= count < len(self._stack) else []
        self._stack.clear()
        called = asked[0] if asked else None
        if type(called) is _Chain and called.root == "global" and called.names[0] in _ASKING:
            holder, attribute = asked[1], asked[2]
            if type(holder) is _Chain and type(attribute) is str:
                if called.names[0] == "setattr":
                    self.stored.append(_Chain(holder.root, [*holder.names, attribute], self._line))
                else:
                    self._push(holder.root, [*holder.names, attribute])


def _chains(code: CodeType, first: str | None, around: frozenset[str]) -> list[_Chain]:
    """Return the chains of attributes in code, those in functions that it defines too; see `_Reader`."""
    found = _Reader(code, first, around).found
    inner_around = around | set(code.co_varnames) | set(code.co_cellvars)
    for constant in code.co_consts:
        if type(constant) is CodeType:
            shadowed = first in constant.co_varnames[: constant.co_argcount]
            found += _chains(constant, None if shadowed else first, inner_around)
    return found


def _line_of(item: dis.Instruction, line: int) -> int:
    """Return the line of an instruction that starts one: in `starts_line` up to 3.12, in `line_number` since."""
    number = getattr(item, "line_number", None)
    if number is None and type(item.starts_line) is int:
        number = item.starts_line
    return number or line
