"""Which names statements bind, and what they contain, nested functions left aside."""

# ruff: noqa: D102 - visitors are named by the nodes that they take

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from .syntax import Transformer, children, walk
from .trees import is_load, is_thunk

__all__ = [
    "COMPREHENSIONS",
    "Captures",
    "Own",
    "always_leaves",
    "asked_names",
    "bound_names",
    "changed_names",
    "contains",
    "note_live",
    "own_names",
    "used_names",
    "walk_scope",
]  # fmt: skip

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Own(Transformer):
    """Leaves functions inside of a function alone."""

    def visit_FunctionDef(self, node: Any) -> Any:
        return node

    visit_ClassDef = visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: Any) -> Any:
        return self.generic_visit(node) if is_thunk(node) else node


def walk_scope(nodes: Iterable[Any]) -> Iterator[Any]:
    """Yield all nodes of the syntax tree that belong to the scope of the statements themselves."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        yield node
        if type(node) not in _SCOPES or is_thunk(node):
            stack.extend(children(node))


def contains(nodes: Iterable[Any], kinds: Any) -> bool:
    """Tell whether there is a node of some kind in statements or expressions."""
    return any(isinstance(node, kinds) for node in walk_scope(nodes))


def own_names(node: Any) -> frozenset[str] | None:
    """Return the variables of a function that stands for a comprehension and is called where it is made; else None."""
    return getattr(node, "_own", None)


def used_names(nodes: Iterable[Any]) -> set[str]:
    """Return the names that occur in the scope of statements, comprehensions included."""
    found: set[str] = set()
    for node in walk_scope(nodes):
        if type(node) is ast.Name:
            found.add(node.id)
        else:
            own = own_names(node)
            if own is not None:
                found |= used_names(node.body) - own
    return found


def asked_names(statement: Any) -> set[str]:
    """Return the names whose values a statement uses itself, other than by handing them on."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Try):
        return set()
    if isinstance(statement, ast.If | ast.While):
        return used_names([statement.test])
    if isinstance(statement, ast.For):
        return used_names([statement.iter])
    if isinstance(statement, ast.With):
        return used_names([item.context_expr for item in statement.items])
    if isinstance(statement, ast.Assign | ast.AnnAssign) and all(map(_is_plain, _targets(statement))):
        return _used_in(statement.value)
    if isinstance(statement, ast.Return):
        return _used_in(statement.value)
    return used_names([statement])


def _targets(statement: Any) -> list[Any]:
    return statement.targets if isinstance(statement, ast.Assign) else [statement.target]


def _is_plain(target: Any) -> bool:
    return isinstance(target, ast.Name)


def _used_in(value: Any) -> set[str]:
    """Return the names that an expression uses, those left aside that are what it gives, or an item of it."""
    if value is None or isinstance(value, ast.Name | ast.Constant):
        return set()
    if isinstance(value, ast.Tuple | ast.List):
        return set().union(*map(_used_in, value.elts))
    if isinstance(value, ast.Dict):
        return used_names([key for key in value.keys if key is not None]).union(*map(_used_in, value.values))
    if is_load(value):
        return set()
    return used_names([value])


def bound_names(nodes: Iterable[Any]) -> list[str]:
    """Return the names that statements bind, in alphabetical order."""
    found: set[str] = set()
    stack = list(nodes)
    while stack:
        node = stack.pop()
        cls = type(node)
        if cls is ast.Name:
            if type(node.ctx) is not ast.Load:
                found.add(node.id)
        elif cls in _BINDING:
            if cls is not ast.Lambda:
                found.update(_bound(node))
            if cls in COMPREHENSIONS:  # whose targets are their own
                stack.extend(generator.iter for generator in node.generators)
            elif cls not in _SCOPES:
                stack.extend(children(node))
        else:
            stack.extend(children(node))
    return sorted(found)


_BINDING = frozenset({
    *_SCOPES, *COMPREHENSIONS, ast.ExceptHandler, ast.Import, ast.ImportFrom, ast.MatchAs, ast.MatchStar,
    ast.MatchMapping,
})  # fmt: skip


def _bound(node: Any) -> list[str]:
    """Return the names that a node other than a variable binds itself."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [(alias.asname or alias.name).partition(".")[0] for alias in node.names]
    name = node.rest if isinstance(node, ast.MatchMapping) else getattr(node, "name", None)
    return [name] if name else []


def changed_names(nodes: Iterable[Any]) -> set[str]:
    """Return the names of variables whose methods statements call or whose items they assign."""
    return {
        node.value.id
        for node in walk_scope(nodes)
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.value, ast.Name)
    }


def always_leaves(statements: list[Any]) -> bool:
    """Tell whether control never falls off the end of statements."""
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, ast.Return | ast.Raise | ast.Break | ast.Continue):
        return True
    if isinstance(last, ast.If):
        return always_leaves(last.body) and always_leaves(last.orelse)
    if isinstance(last, ast.With):
        return always_leaves(last.body)
    return False


_Place = tuple[int, int]

_AT_ONCE = frozenset({"sorted", "min", "max"})
"""Builtins that are done with a function when they return."""


class Captures:
    """Which variables the functions inside of a function see, so that blocks become functions only where that stays so.

    Args:
        body: Statements of the function.
    """

    def __init__(self, body: list[Any]) -> None:
        self._functions: list[tuple[_Place, _Place, set[str]]] = []
        self._bindings: dict[str, list[_Place]] = {}
        self._loops: list[tuple[_Place, _Place]] = []
        at_once = {
            id(node)
            for root in body
            for call in walk(root)
            if type(call) is ast.Call
            for node in _used_at_once(call)
        }
        for node in walk_scope(body):
            cls = type(node)
            is_scope = cls in _SCOPES
            is_later = (is_scope or cls is ast.GeneratorExp) and not (
                is_thunk(node) or own_names(node) is not None
            )
            if is_later and id(node) not in at_once:
                self._functions.append((*_extent([node]), _free_reads(node)))
            if cls is ast.For or cls is ast.While:
                self._loops.append(_extent([node]))
            if cls is ast.Name:
                names = [] if type(node.ctx) is ast.Load else [node.id]
            elif is_scope:
                names = bound_names([node])
            elif cls is ast.NamedExpr or isinstance(node, ast.stmt):
                is_compound = any(hasattr(node, part) for part in ("body", "handlers", "cases"))
                names = [] if is_compound else bound_names([node])
            else:
                continue
            for name in names:
                self._bindings.setdefault(name, []).append((node.lineno, node.col_offset))

    def allow(self, statements: list[Any]) -> bool:
        """Tell whether statements can become a function whose parameters are the variables that they touch."""
        start, end = _extent(statements)
        bound = set(bound_names(statements))
        around = [loop for loop in self._loops if loop[0] < start and end <= loop[1]]
        for first, last, reads in self._functions:
            if start <= first and last <= end:
                places = [place for name in reads for place in self._bindings.get(name, ())]
                outside = [place for place in places if not start <= place <= end]
                if any(place > end or _in(around, place) for place in outside):
                    return False
            elif reads & bound and (first < start or _in(around, first)):
                return False
        return True


def _used_at_once(call: Any) -> list[Any]:
    """Return functions that a call is given and is done with when it returns."""
    given = [*call.args, *[keyword.value for keyword in call.keywords]]
    found = [one for one in given if isinstance(one, ast.GeneratorExp)]
    if isinstance(call.func, ast.Name) and call.func.id in _AT_ONCE:
        found += [one for one in given if isinstance(one, ast.Lambda)]  # type: ignore[misc]
    return found


def _in(loops: list[tuple[_Place, _Place]], place: _Place) -> bool:
    return any(start <= place <= end for start, end in loops)


def _extent(nodes: list[Any]) -> tuple[_Place, _Place]:
    first, last = nodes[0], nodes[-1]
    return (first.lineno, first.col_offset), (last.end_lineno, last.end_col_offset)


def _free_reads(function: Any) -> set[str]:
    """Return the names that a function inside reads, its own parameters left aside."""
    found = {node.id for node in walk(function) if isinstance(node, ast.Name)}
    args = getattr(function, "args", None)
    own = () if args is None else (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg)
    return found - {item.arg for item in own if item is not None}


def note_live(body: list[Any]) -> None:
    """Note at each `if` and loop, as `_live`, which names are read elsewhere, or in a loop around it."""
    total = _reads(body)
    stack: list[tuple[Any, bool]] = [(statement, False) for statement in body]
    while stack:
        node, in_loop = stack.pop()
        is_loop = isinstance(node, ast.For | ast.While)
        if is_loop or isinstance(node, ast.If):
            own = [node] if not is_loop else [getattr(node, "test", None) or node.iter, *node.body]
            inside = {} if in_loop else _reads(own)  # `else` of a loop runs after it
            node._live = {name for name, count in total.items() if count > inside.get(name, 0)}
        stack.extend((child, in_loop or is_loop) for child in children(node))


def _reads(nodes: list[Any]) -> dict[str, int]:
    """Return how often names are read, functions inside included."""
    found: dict[str, int] = {}
    for root in nodes:
        for node in walk(root):
            if type(node) is ast.AugAssign:
                node = node.target
            elif type(node) is ast.Name and type(node.ctx) is not ast.Load:
                continue
            if type(node) is ast.Name:
                found[node.id] = found.get(node.id, 0) + 1
    return found
