"""Rewrites a function so that its decisions go through `flow`; file and line numbers stay those of the user's text."""

from __future__ import annotations

import ast
import copy
import functools
from types import CodeType
from typing import Any

from .scopes import always_leaves, bound_names, contains, walk_scope
from .source import definition_of

__all__ = ["FLOW", "lifted_code"]

FLOW = "__symtrace_flow__"
"""Name under which lifted functions find `flow` among their globals."""

_UNLIFTABLE = (
    ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.Delete, ast.AsyncFor, ast.AsyncWith,
)  # fmt: skip


def lifted_code(code: CodeType) -> CodeType | None:
    """Return code that does what `code` does and lets `flow` see its decisions, or None if there is no way.

    Args:
        code: Code of a function whose text can be found.

    Cost: one parse of the file, once; then linear in the function.
    """
    return _lift(_Key(code))


class _Key:
    """Identifies a code object, which compares by content and so would be taken for one of the same text elsewhere."""

    __slots__ = ("code",)

    def __init__(self, code: CodeType) -> None:
        self.code = code

    def __hash__(self) -> int:
        return id(self.code)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and other.code is self.code


@functools.lru_cache(maxsize=1024)
def _lift(key: _Key) -> CodeType | None:
    code = key.code
    definition = definition_of(code)
    if definition is None:
        return None
    definition = copy.deepcopy(definition)
    if isinstance(definition, ast.Lambda):
        body: list[Any] = [ast.copy_location(ast.Return(definition.body), definition.body)]
    else:
        body = definition.body
    if contains(body, _UNLIFTABLE):
        return None
    parameters = _bare(definition.args)
    lifter = _Lifter(code, parameters)
    function = _define("lifted", parameters, lifter.function(body))
    factory = _define("factory", _arguments(list(code.co_freevars)), [function])
    ast.copy_location(function, definition)
    ast.copy_location(factory, definition)
    module = ast.Module(body=[factory], type_ignores=[])
    ast.fix_missing_locations(module)
    compiled = compile(module, code.co_filename, "exec", dont_inherit=True)
    outer = next(const for const in compiled.co_consts if isinstance(const, CodeType))
    inner = next(const for const in outer.co_consts if isinstance(const, CodeType))
    if inner.co_freevars != code.co_freevars:
        return None
    changes: dict[str, Any] = {"co_name": code.co_name, "co_firstlineno": code.co_firstlineno}
    if hasattr(code, "co_qualname"):
        changes["co_qualname"] = code.co_qualname
    return inner.replace(**changes)


def _bare(args: ast.arguments) -> ast.arguments:
    """Return parameters without defaults and annotations, which belong to the function object."""
    for item in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
        if item is not None:
            item.annotation = None
    return ast.arguments(args.posonlyargs, args.args, args.vararg, args.kwonlyargs,
                         [None] * len(args.kwonlyargs), args.kwarg, [])  # fmt: skip


def _define(name: str, args: ast.arguments, body: list[Any]) -> ast.FunctionDef:
    """Return a function definition, with the fields that this version of Python wants."""
    function: Any = ast.parse("def function(): pass").body[0]
    function.name, function.args, function.body = name, args, body
    del function.lineno, function.col_offset, function.end_lineno, function.end_col_offset
    return function  # type: ignore[no-any-return]


def _arguments(names: list[str]) -> ast.arguments:
    return ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _tuple(names: list[str], context: Any = None) -> ast.Tuple:
    kind = context or ast.Load
    return ast.Tuple([ast.Name(name, kind()) for name in names], kind())


def _flow(method: str, *args: Any) -> ast.Call:
    return ast.Call(ast.Attribute(_load(FLOW), method, ast.Load()), list(args), [])


def _thunk(expression: Any) -> ast.Lambda:
    return ast.Lambda(_arguments([]), expression)


class _Lifter:
    """Rewrites the body of one function.

    Args:
        code: Its code.
        parameters: Its parameters.
    """

    def __init__(self, code: CodeType, parameters: ast.arguments) -> None:
        self._code = code
        named = [*parameters.posonlyargs, *parameters.args]
        self._first = named[0].arg if named else None
        items = (*named, *parameters.kwonlyargs, parameters.vararg, parameters.kwarg)
        self._parameters = {item.arg for item in items if item is not None}
        self._carried: set[str] = set()
        self._count = 0

    def function(self, body: list[Any]) -> list[Any]:
        """Return the body of the lifted function."""
        expressions = _Expressions(self._code, self._first)
        body = [expressions.visit(statement) for statement in body]
        lifted = self._block(body, is_function=True)
        undefined = sorted(self._carried - self._parameters - set(self._code.co_freevars))
        start: list[Any] = [
            ast.Assign([ast.Name(name, ast.Store())], ast.Attribute(_load(FLOW), "UNDEFINED", ast.Load()))
            for name in undefined
        ]
        free = list(self._code.co_freevars)
        if free:  # never runs; it keeps the variables of enclosing functions what they are
            start.append(ast.If(ast.Constant(False), [ast.Expr(_tuple(free))], []))
        for statement in start:
            ast.copy_location(statement, body[0])
        return [*start, *lifted]

    def _block(self, statements: list[Any], *, is_function: bool) -> list[Any]:
        """Return statements with their decisions lifted.

        Args:
            statements: Of one block.
            is_function: Whether the end of the block is the end of a function.
        """
        result: list[Any] = []
        for index, statement in enumerate(statements):
            if isinstance(statement, ast.Assert):
                statement = _as_if(statement)
            if isinstance(statement, ast.If) and _may_be_traced(statement.test):
                rest = statements[index + 1 :]
                if not contains([statement], ast.Return):
                    if contains([statement], ast.Break | ast.Continue):
                        result.append(self._inner(statement))
                    else:
                        result.extend(self._branch(statement))
                    continue
                if is_function and not contains(statement.body + statement.orelse, ast.Break | ast.Continue):
                    result.extend(self._returning(statement, rest))
                    return result
            result.append(self._inner(statement))
        return result

    def _inner(self, statement: Any) -> Any:
        """Lift what is inside a statement that stays; not inside `try`, whose handlers would miss what is recorded."""
        if isinstance(statement, ast.Try):
            return statement
        for field in ("body", "orelse", "finalbody"):
            block = getattr(statement, field, None)
            if isinstance(block, list) and not isinstance(statement, ast.FunctionDef | ast.ClassDef):
                setattr(statement, field, self._block(block, is_function=False))
        for handler in getattr(statement, "handlers", ()):
            handler.body = self._block(handler.body, is_function=False)
        return statement

    def _names(self, nodes: list[Any]) -> list[str]:
        own = set(self._code.co_varnames) | set(self._code.co_cellvars)
        names = [name for name in bound_names(nodes) if name in own]
        self._carried.update(names)
        return names

    def _held(self, *nodes: Any) -> ast.Lambda:
        """Return a function that gives the variables that statements read, and so may change what is in them."""
        own = set(self._code.co_varnames) | set(self._code.co_cellvars) | set(self._code.co_freevars)
        found = {node.id for node in walk_scope(nodes) if isinstance(node, ast.Name) and node.id in own}
        return _thunk(_tuple(sorted(found - {"__class__"})))

    def _function(self, kind: str, names: list[str], body: list[Any], at: Any) -> ast.FunctionDef:
        function = _define(f"__symtrace_{kind}_{self._count}", _arguments(names), body or [ast.Pass()])
        return _at(function, at)  # type: ignore[no-any-return]

    def _branch(self, statement: ast.If) -> list[Any]:
        self._count += 1
        names = self._names(statement.body + statement.orelse)
        kinds = []
        for kind, block in (("then", statement.body), ("else", statement.orelse)):
            body = self._block(_with_raises(block), is_function=False)
            kinds.append(
                self._function(kind, names, [*body, _at(ast.Return(_tuple(names)), statement)], statement)
            )
        functions = (_load(kinds[0].name), _load(kinds[1].name))
        call = _flow("branch", statement.test, *functions, _tuple(names), self._held(statement))
        end = ast.Assign([_tuple(names, ast.Store)], call) if names else ast.Expr(call)
        return [*kinds, _at(end, statement)]

    def _returning(self, statement: ast.If, rest: list[Any]) -> list[Any]:
        """Lift an `if` with a `return` in it: what follows it becomes part of its branches."""
        self._count += 1
        blocks = []
        for block in (statement.body, statement.orelse):
            whole = list(block) if always_leaves(block) else [*block, *copy.deepcopy(rest)]
            blocks.append(whole)
        names = self._names([item for block in blocks for item in block])
        kinds = []
        number = self._count
        for kind, block in zip(("then", "else"), blocks, strict=True):
            body = self._block(_with_raises(block), is_function=True)
            self._count, count = number, self._count
            kinds.append(self._function(kind, names, body, statement))
            self._count = count
        functions = (_load(kinds[0].name), _load(kinds[1].name))
        held = self._held(*[item for block in blocks for item in block])
        call = _flow("branch", statement.test, *functions, _tuple(names), held)
        return [*kinds, _at(ast.Return(call), statement)]


def _at(node: Any, place: Any) -> Any:
    """Return a new node with the line numbers of an old one, down to the nodes that have none of their own."""
    ast.copy_location(node, place)
    for child in ast.walk(node):
        if "lineno" in child._attributes and not hasattr(child, "lineno"):
            child.lineno, child.end_lineno = place.lineno, place.lineno  # type: ignore[attr-defined]
            child.col_offset, child.end_col_offset = place.col_offset, place.col_offset  # type: ignore[attr-defined]
    return node


def _as_if(statement: ast.Assert) -> ast.If:
    args = [] if statement.msg is None else [statement.msg]
    error = ast.Raise(ast.Call(_load("AssertionError"), args, []), None)
    test: Any = ast.UnaryOp(ast.Not(), statement.test)
    if _may_be_traced(statement.test):
        test = _flow("not_", statement.test)
    return _at(ast.If(test, [error], []), statement)  # type: ignore[no-any-return]


def _with_raises(block: list[Any]) -> list[Any]:
    """Have a `raise` at the end of a branch recorded."""
    if block and isinstance(block[-1], ast.Raise) and block[-1].exc is not None and block[-1].cause is None:
        statement = block[-1]
        return [*block[:-1], _at(ast.Expr(_flow("raise_", statement.exc)), statement)]
    return list(block)


def _may_be_traced(test: Any) -> bool:
    """Tell whether a test can give anything but a plain bool of Python's own."""
    if isinstance(test, ast.Constant):
        return False
    if isinstance(test, ast.Compare):
        return not all(isinstance(operator, ast.Is | ast.IsNot) for operator in test.ops)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _may_be_traced(test.operand)
    if isinstance(test, ast.BoolOp):
        return any(_may_be_traced(value) for value in test.values)
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Name):
        return test.func.id not in ("isinstance", "hasattr", "callable", "issubclass")
    return True


class _Expressions(ast.NodeTransformer):
    """Lifts what decides inside expressions: `and`, `or`, `not`, chains of comparisons, conditional expressions."""

    def __init__(self, code: CodeType, first: str | None) -> None:
        self._code = code
        self._first = first

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return node  # a function of its own

    visit_Lambda = visit_ClassDef = visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]

    def _is_simple(self, *nodes: Any) -> bool:
        return not contains(nodes, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom))

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        self.generic_visit(node)
        if not _may_be_traced(node.test) or not self._is_simple(node.body, node.orelse):
            return node
        return _at(_flow("choose", node.test, _thunk(node.body), _thunk(node.orelse)), node)

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        self.generic_visit(node)
        if not any(map(_may_be_traced, node.values)) or not self._is_simple(*node.values[1:]):
            return node
        method = "and_" if isinstance(node.op, ast.And) else "or_"
        return _at(_flow(method, node.values[0], *map(_thunk, node.values[1:])), node)

    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        if len(node.ops) == 1 or not self._is_simple(*node.comparators):
            return node
        pairs: list[Any] = []
        for operator, value in zip(node.ops, node.comparators, strict=True):
            pairs.extend((ast.Constant(type(operator).__name__), _thunk(value)))
        return _at(_flow("compare", node.left, *pairs), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Not) or not _may_be_traced(node.operand):
            return node
        return _at(_flow("not_", node.operand), node)

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        is_super = isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args
        if is_super and self._first is not None and "__class__" in self._code.co_freevars:
            node.args = [_load("__class__"), _load(self._first)]
        return _at(node, node)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        self.generic_visit(node)
        if node.attr.startswith("__") and not node.attr.endswith("__"):
            names = [
                name for name in self._code.co_names if name.startswith("_") and name.endswith(node.attr)
            ]
            node.attr = names[0] if names else node.attr
        return node
