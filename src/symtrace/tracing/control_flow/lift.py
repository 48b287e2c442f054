"""Rewrites a function so that its decisions go through `flow`; file and line numbers stay those of the user's text."""

from __future__ import annotations
import __future__

import ast
import itertools
from types import CodeType
from typing import Any

from ..code_cache import cached_by_code
from .asking import Identity, NoneQuestions
from .comprehensions import Comprehensions
from .exits import Exits
from .expressions import Expressions, may_be_traced
from .patterns import Matches
from .rewrites import Deleted, Leaving, Loads, Tests, as_if, can_be_function, leave, leaves_loop, with_raises
from .scopes import (
    Captures,
    always_leaves,
    asked_names,
    bound_names,
    changed_names,
    contains,
    note_live,
    own_names,
    used_names,
    walk_scope,
)
from .shared import Shared
from .source import definition_of
from .syntax import copied, with_locations
from .texts import Written
from .trees import (
    BLOCK,
    FLOW,
    arguments,
    at,
    bare,
    define,
    flow_call,
    is_block,
    listed,
    load,
    named_alike,
    names_tuple,
    thunk,
)
from .walruses import Walruses

__all__ = ["FLOW", "asking_code", "lifted_code"]

_UNLIFTABLE = (
    ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith,
)  # fmt: skip


def lifted_code(code: CodeType, shown: int = 0) -> CodeType | None:
    """Return code that does what `code` does and lets `flow` see its decisions, or None if there is no way.

    Args:
        code: Code of a function whose text can be found.
        shown: What `flow` sees, too: 1 where it asks whether something is None, 2 each use of a variable.

    Cost: linear in the text of the function; of the file for a lambda.
    """
    return _lift(code, shown)


@cached_by_code
def asking_code(code: CodeType, shown: int = 0) -> CodeType | None:
    """Return code that does what `code` does and lets `flow` see its questions that ask nothing of values, or None.

    Args:
        code: Code of a function whose text can be found.
        shown: What `flow` sees, too: 1 where it asks whether something is None, 2 each use of a variable.

    Cost: linear in the text of the function.
    """
    definition = copied(definition_of(code))
    if definition is None:
        return None
    parameters = bare(definition.args)
    body = _statements(definition)
    if contains(body, ast.MatchClass):
        names = itertools.count()
        matches = Matches(lambda stem: f"_{stem}_{next(names)}_of_pattern")
        body = [found for statement in body for found in listed(matches.visit(statement))]
    if shown:
        body = [NoneQuestions().visit(statement) for statement in body]
    body = [Identity(code).visit(statement) for statement in body]
    return _compiled(code, definition, parameters, body)


def _statements(definition: Any) -> list[Any]:
    """Return the body of a function; that of a lambda is a `return`."""
    if isinstance(definition, ast.Lambda):
        return [ast.copy_location(ast.Return(definition.body), definition.body)]
    return list(definition.body)


@cached_by_code
def _lift(code: CodeType, shown: int) -> CodeType | None:
    definition = None if is_block(code) else copied(definition_of(code))
    if definition is None:
        return None
    body = _statements(definition)
    if contains(body, _UNLIFTABLE):
        return None
    parameters = bare(definition.args)
    lifter = _Lifter(code, parameters, body, shown)
    body = [Identity(code).visit(statement) for statement in lifter.function(body)]
    return _compiled(code, definition, parameters, body)


def _compiled(code: CodeType, definition: Any, parameters: ast.arguments, body: list[Any]) -> CodeType | None:
    """Return the code of a function with another body, or None if its free variables became others."""
    function = define("lifted", parameters, body)
    factory = define("factory", arguments(list(code.co_freevars)), [function])
    ast.copy_location(function, definition)
    ast.copy_location(factory, definition)
    module = ast.Module(body=[factory], type_ignores=[])
    with_locations(module, definition)
    flags = code.co_flags & __future__.annotations.compiler_flag
    compiled = compile(module, code.co_filename, "exec", flags, dont_inherit=True)
    outer = next(const for const in compiled.co_consts if isinstance(const, CodeType))
    inner = next(const for const in outer.co_consts if isinstance(const, CodeType))
    if inner.co_freevars != code.co_freevars:
        return None
    changes: dict[str, Any] = {"co_name": code.co_name, "co_firstlineno": code.co_firstlineno}
    if hasattr(code, "co_qualname"):
        changes["co_qualname"] = code.co_qualname
    return named_alike(inner, code).replace(**changes)


class _Lifter:
    """Rewrites the body of one function.

    Args:
        code: Its code.
        parameters: Its parameters.
        body: Its statements.
        shown: See `lifted_code`.
    """

    def __init__(self, code: CodeType, parameters: ast.arguments, body: list[Any], shown: int) -> None:
        self._code = code
        self._shown = shown
        named = [*parameters.posonlyargs, *parameters.args]
        self._first = named[0].arg if named else None
        items = (*named, *parameters.kwonlyargs, parameters.vararg, parameters.kwarg)
        self._parameters = {item.arg for item in items if item is not None}
        self._carried: set[str] = set()
        self._temporary: set[str] = set()
        self._free = frozenset(code.co_freevars) - {"__class__"}
        self._shared = Shared(body)
        self._own = (frozenset(code.co_varnames) | frozenset(code.co_cellvars)) - self._shared.names
        self._captures = Captures(body)
        self._count = 0
        self._handlers = 0  # how many statements are around that may handle exceptions

    def function(self, body: list[Any]) -> list[Any]:
        """Return the body of the lifted function."""
        body = self._shared.without(body)
        deleted = Deleted()
        questions = (NoneQuestions(),) if self._shown else ()
        for rewriting in (deleted, Matches(self._fresh), Tests(), Written(), *questions):
            body = [item for statement in body for item in listed(rewriting.visit(statement))]
        body = Exits(self._fresh).block(Walruses(self._fresh).block(body))
        body = Comprehensions(self._fresh, self._own | self._free, self._shared).block(body)
        note_live(body)
        self._captures = Captures(body)
        own = self._own - self._parameters
        blocks = _blocks_in(body)
        changing = own & (set(bound_names(blocks)) | changed_names(blocks))
        loaded = Loads(changing | deleted.names | self._free | self._shared.names)
        body = [item for statement in body for item in listed(loaded.visit(statement))]
        self._own |= self._temporary
        expressions = Expressions(self._code, self._first, self._own | self._free)
        body = [expressions.visit(statement) for statement in body]
        lifted = self._block(with_raises(body), is_function=True)
        start = self._shared.declarations(is_block=False)
        start += self._undefined(self._carried - self._parameters - set(self._code.co_freevars), body[0])
        free = list(self._code.co_freevars)
        if free:  # never runs; it keeps the variables of enclosing functions what they are
            start.append(ast.If(ast.Constant(False), [ast.Expr(names_tuple(free))], []))
        for statement in start:
            ast.copy_location(statement, body[0])
        return [*start, *lifted]

    def _fresh(self, kind: str) -> str:
        """Return the name of a new variable."""
        self._temporary.add(name := f"__symtrace_{kind}_{self._next()}")
        return name

    # ------------------------------------------------------------------ blocks

    def _block(self, statements: list[Any], *, is_function: bool) -> list[Any]:
        """Return statements with their decisions lifted.

        Args:
            statements: Of one block.
            is_function: Whether the end of the block is the end of a function.
        """
        result: list[Any] = []
        for index, statement in enumerate(statements):
            if isinstance(statement, ast.Assert):
                statement = as_if(statement)
            rest = statements[index + 1 :]
            split = self._split(statement, rest, is_function=is_function)
            if split:
                result.extend(split)
                if isinstance(split[-1], ast.Return):
                    return result
                continue
            if isinstance(statement, ast.If) and may_be_traced(statement.test):
                leaves = contains([statement], ast.Return)
                if leaves_loop([statement]) or (leaves and not is_function):
                    result.append(self._inner(statement))
                elif leaves and self._captures.allow([statement, *rest]):
                    result.extend(self._returning(statement, rest))
                    return result
                elif not leaves and self._captures.allow([statement]):
                    result.extend(self._branch(statement))
                else:
                    result.append(self._inner(statement))
                continue
            if isinstance(statement, ast.While | ast.For) and self._is_loop(
                statement, is_function=is_function
            ):
                lifted, after = self._loop(statement)
                result.extend(lifted)
                if after:
                    result.extend(self._block([*after, *rest], is_function=is_function))
                    return result
                continue
            result.append(self._inner(statement))
        return result

    def _split(self, statement: Any, rest: list[Any], *, is_function: bool) -> list[Any]:
        """Return a statement that is run for each value that a variable may be of, if it uses any; else nothing."""
        if self._shown < 2 or getattr(statement, "_is_split", False):
            return []
        asked = sorted(asked_names(statement) & (self._own | self._free) - self._shared.names - {"__class__"})
        leaves = contains([statement], ast.Return)
        if not asked or leaves_loop([statement]) or (leaves and not is_function):
            return []
        block = [statement, *rest] if leaves else [statement]
        if not self._captures.allow(block):
            return []
        statement._is_split = True
        number, own = self._next(), self._names(block)
        names = [*own, *(name for name in asked if name not in own)]
        positions = ast.Tuple([ast.Constant(names.index(name)) for name in asked], ast.Load())
        held = self._held(*block)
        dead: Any = ast.Constant(None) if leaves else self._dead(statement, own)
        self._own, before = self._own | set(asked), self._own
        body = self._block(block, is_function=leaves)
        self._own = before
        if not leaves:
            body.append(at(ast.Return(names_tuple(names)), statement))
        function = self._function("split", number, names, body, statement)
        call = flow_call("split", load(function.name), names_tuple(names), held, dead, positions)
        if leaves:
            return [function, at(ast.Return(call), statement)]
        targets: Any = [ast.Name(one if one in own else f"{BLOCK}unused", ast.Store()) for one in names]
        return [function, at(ast.Assign([ast.Tuple(targets, ast.Store())], call), statement)]

    def _is_loop(self, statement: Any, *, is_function: bool) -> bool:
        """Tell whether a loop is lifted."""
        if not is_function and contains([statement], ast.Return):
            return False
        return can_be_function(statement) and self._captures.allow([statement])

    def _inner(self, statement: Any) -> Any:
        """Lift what is inside a statement that stays."""
        own = own_names(statement)
        if own is not None:
            statement.body = self._within(own, statement.body)
            return statement
        may_handle = isinstance(statement, ast.Try)
        self._handlers += may_handle
        for field in ("body", "orelse", "finalbody"):
            block = getattr(statement, field, None)
            if isinstance(block, list) and not isinstance(statement, ast.FunctionDef | ast.ClassDef):
                given = block if self._handlers else with_raises(block)
                setattr(statement, field, self._block(given, is_function=False))
        self._handlers -= may_handle
        for handler in getattr(statement, "handlers", ()):
            handler.body = self._block(handler.body, is_function=False)
        return statement

    def _within(self, own: frozenset[str], body: list[Any]) -> list[Any]:
        """Lift a comprehension, which has variables of its own and sees those around it."""
        before = self._own, self._free, self._carried
        self._own, self._free, self._carried = own, (self._free | self._own) - own, set()
        try:
            lifted = self._block(body, is_function=True)
            return [*self._undefined(self._carried, body[0]), *lifted]
        finally:
            self._own, self._free, self._carried = before

    @staticmethod
    def _undefined(names: set[str], place: Any) -> list[Any]:
        """Return statements that leave variables without a value."""
        return [
            at(
                ast.Assign([ast.Name(name, ast.Store())], ast.Attribute(load(FLOW), "UNDEFINED", ast.Load())),
                place,
            )
            for name in sorted(names)
        ]

    # ------------------------------------------------------------------ variables

    def _names(self, nodes: list[Any]) -> list[str]:
        """Return the variables of the function that statements bind or read."""
        read = used_names(nodes)
        names = [name for name in sorted(read | set(bound_names(nodes))) if name in self._own]
        self._carried.update(names)
        return names

    def _held(self, *nodes: Any) -> ast.Lambda:
        """Return a function that gives variables of enclosing functions, in which a container may be changed.

        Those that this function, or one inside of it, may assign come in any case.
        """
        found = used_names(nodes) & self._free - self._shared.names
        shared = [flow_call("peek", thunk(load(name))) for name in sorted(self._shared.names)]
        return thunk(ast.Tuple([*names_tuple(sorted(found)).elts, *shared], ast.Load()))

    @staticmethod
    def _dead(statement: Any, names: list[str]) -> ast.Tuple:
        """Return the positions of variables that are bound in a statement and not read after it."""
        bound = set(bound_names([statement]))
        live = getattr(statement, "_live", bound)
        found = [index for index, name in enumerate(names) if name in bound and name not in live]
        return ast.Tuple([ast.Constant(index) for index in found], ast.Load())

    # ------------------------------------------------------------------ decisions

    def _function(self, kind: str, number: int, names: list[str], body: list[Any], place: Any) -> Any:
        body = [*self._shared.declarations(is_block=True), *(body or [ast.Pass()])]
        function = define(f"__symtrace_{kind}_{number}", arguments(names), body)
        return at(function, place)

    def _next(self) -> int:
        self._count += 1
        return self._count

    def _branch(self, statement: ast.If) -> list[Any]:
        number = self._next()
        names = self._names(statement.body + statement.orelse)
        dead, held = self._dead(statement, names), self._held(statement)
        kinds = []
        for kind, block in (("then", statement.body), ("else", statement.orelse)):
            body = self._block(with_raises(block), is_function=False)
            end = at(ast.Return(names_tuple(names)), statement)
            kinds.append(self._function(kind, number, names, [*body, end], statement))
        functions = (load(kinds[0].name), load(kinds[1].name))
        call = flow_call("branch", statement.test, *functions, names_tuple(names), held, dead)
        assign = ast.Assign([names_tuple(names, ast.Store)], call) if names else ast.Expr(call)
        return [*kinds, at(assign, statement)]

    def _returning(self, statement: ast.If, rest: list[Any]) -> list[Any]:
        """Lift an `if` with a `return` in it: what follows it becomes part of its branches."""
        number = self._next()
        blocks = []
        for block in (statement.body, statement.orelse):
            whole = list(block) if always_leaves(block) else [*block, *map(copied, rest)]
            blocks.append(whole)
        inside = [item for block in blocks for item in block]
        names, held = self._names(inside), self._held(*inside)
        kinds = []
        for kind, block in zip(("then", "else"), blocks, strict=True):
            body = self._block(with_raises(block), is_function=True)
            kinds.append(self._function(kind, number, names, body, statement))
        functions = (load(kinds[0].name), load(kinds[1].name))
        call = flow_call("branch_return", statement.test, *functions, names_tuple(names), held)
        return [*kinds, at(ast.Return(call), statement)]

    def _loop(self, statement: ast.While | ast.For) -> tuple[list[Any], list[Any]]:
        """Return a lifted loop, and statements that have to follow it."""
        number = self._next()
        returns = contains(statement.body, ast.Return)
        head = [statement.target] if isinstance(statement, ast.For) else [statement.test]
        names = self._names([*statement.body, *head])
        dead, held = self._dead(statement, names), self._held(*statement.body, *head)
        go_on, returned, value = (f"__symtrace_{kind}_{number}" for kind in ("goes", "returned", "value"))
        item = f"__symtrace_item_{number}"
        body = [*(Leaving(names).visit(one) for one in statement.body), leave(names, True, statement)]
        body = self._block(with_raises(body), is_function=True)
        if isinstance(statement, ast.For):
            start = at(ast.Assign([statement.target], load(item)), statement)
            functions = [self._function("body", number, [item, *names], [start, *body], statement)]
            given: Any = statement.iter
        else:
            test = self._function("test", number, names, [ast.Return(statement.test)], statement)
            functions = [self._function("body", number, names, body, statement), test]
            given = load(test.name)
        method = "for_" if isinstance(statement, ast.For) else "while_"
        call = flow_call(method, given, load(functions[0].name), names_tuple(names), held, dead)
        store = ast.Store()
        targets = [ast.Name(one, store) for one in (go_on, returned, value)]
        end = at(ast.Assign([ast.Tuple([*targets, names_tuple(names, ast.Store)], store)], call), statement)
        after: list[Any] = []
        if returns:
            after.append(at(ast.If(load(returned), [ast.Return(load(value))], []), statement))
        if statement.orelse:
            after.append(at(ast.If(load(go_on), statement.orelse, []), statement))
        return [*functions, end], after


def _blocks_in(body: list[Any]) -> list[Any]:
    """Return the statements that need not run each time, or may run several times."""
    return [node for node in walk_scope(body) if isinstance(node, ast.If | ast.For | ast.While)]
