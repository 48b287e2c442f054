"""Rewrites statements into others that are easier to lift."""

# ruff: noqa: D102 - visitors are named by the nodes that they take

from __future__ import annotations

import ast
from typing import Any

from .expressions import may_be_traced
from .scopes import COMPREHENSIONS, Own, bound_names, contains, own_names
from .syntax import children, copied
from .texts import Texts
from .trees import FLOW, at, flow_call, is_flow_call, is_thunk, listed, load, names_tuple

__all__ = [
    "Deleted", "Leaving", "Loads", "Tests", "as_if", "can_be_function", "leave", "leaves_loop", "with_raises",
]  # fmt: skip


class Leaving(Own):
    """Has the body of a loop, as a function, return where it goes on, ends or returns from the function around.

    Args:
        names: Variables of the loop.
    """

    def __init__(self, names: list[str], *, is_inner: bool = False) -> None:
        self._names = names
        self._is_inner = is_inner

    def visit_Break(self, node: ast.Break) -> Any:
        return node if self._is_inner else leave(self._names, False, node)

    def visit_Continue(self, node: ast.Continue) -> Any:
        return node if self._is_inner else leave(self._names, True, node)

    def visit_Return(self, node: ast.Return) -> Any:
        return leave(self._names, False, node, node.value or ast.Constant(None))

    def visit_For(self, node: Any) -> Any:
        inner = Leaving(self._names, is_inner=True)
        node.body = [inner.visit(one) for one in node.body]
        node.orelse = [self.visit(one) for one in node.orelse]
        return node

    visit_While = visit_For


def leave(names: list[str], goes_on: bool, place: Any, value: Any = None) -> Any:
    """Return what ends a round of a loop: whether it goes on, whether the function returns, what, and the variables."""
    hole = ast.Attribute(load(FLOW), "HOLE", ast.Load())
    items = [ast.Constant(goes_on), ast.Constant(value is not None), value or hole, names_tuple(names)]
    return at(ast.Return(ast.Tuple(items, ast.Load())), place)


def leaves_loop(statements: list[Any]) -> bool:
    """Tell whether there is a `break` or `continue` of a loop around statements."""
    stack = list(statements)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Break | ast.Continue):
            return True
        if isinstance(node, ast.For | ast.While):
            stack.extend(node.orelse)
        elif not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            stack.extend(children(node))
    return False


def can_be_function(statement: Any) -> bool:
    """Tell whether the body of a loop can become a function: all it leaves by is in `if` statements of its own."""
    stack = list(statement.body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.With | ast.Try) and (contains([node], ast.Return) or leaves_loop([node])):
            return False
        if isinstance(node, ast.If | ast.For | ast.While | ast.With | ast.Try):
            stack.extend([*node.body, *getattr(node, "orelse", ())])
    test = getattr(statement, "test", None)
    return test is None or not contains([test], ast.NamedExpr)


class Deleted(Own):
    """Has `del` of a variable leave it without a value.

    Attributes:
        names: The variables.
    """

    def __init__(self) -> None:
        self.names: set[str] = set()

    def visit_Delete(self, node: ast.Delete) -> Any:
        result: list[Any] = []
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.names.add(target.id)
                unbound = ast.Attribute(load(FLOW), "UNDEFINED", ast.Load())
                checked = flow_call("load", load(target.id), ast.Constant(target.id))
                result.append(at(ast.Expr(checked), node))
                result.append(at(ast.Assign([ast.Name(target.id, ast.Store())], unbound), node))
            else:
                result.append(at(ast.Delete([target]), node))
        return result


class Tests(Own):
    """Has a `while` whose test binds variables, or goes through something, test in its body."""

    def visit_While(self, node: ast.While) -> Any:
        self.generic_visit(node)
        if node.orelse or not contains([node.test], (ast.NamedExpr, *COMPREHENSIONS)):
            return node
        leave = at(ast.If(ast.UnaryOp(ast.Not(), node.test), [ast.Break()], []), node.test)
        node.body = [leave, *node.body]
        node.test = at(ast.Constant(True), node.test)
        return node


class Loads(Own):
    """Has variables that not every path assigns checked where they are read.

    Args:
        names: The variables.
    """

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    def visit_FunctionDef(self, node: Any) -> Any:
        """A comprehension, or a function, sees the variables around it, its own left aside."""
        own = own_names(node)
        if own is not None:
            before, self._names = self._names, self._names - own
            self.generic_visit(node)
            self._names = before
            return node
        node.decorator_list = [self.visit(one) for one in node.decorator_list]
        return self._inside(node, bound_names(node.body))

    def visit_Lambda(self, node: Any) -> Any:
        return self.generic_visit(node) if is_thunk(node) else self._inside(node, [])

    def _inside(self, node: Any, bound: list[str]) -> Any:
        """A function inside sees the variables, but for its own."""
        args = node.args
        given = (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg)
        args.defaults = [self.visit(one) for one in args.defaults]
        args.kw_defaults = [one and self.visit(one) for one in args.kw_defaults]
        before = self._names
        self._names = before - {one.arg for one in given if one is not None} - set(bound)
        body = node.body if isinstance(node.body, list) else [node.body]
        body = [item for statement in body for item in listed(self.visit(statement))]
        node.body = body if isinstance(node.body, list) else body[0]
        self._names = before
        return node

    def _checked(self, node: ast.Name) -> Any:
        return at(flow_call("load", load(node.id), ast.Constant(node.id)), node)

    def visit_Name(self, node: ast.Name) -> Any:
        if node.id in self._names and isinstance(node.ctx, ast.Load):
            return self._checked(node)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        node.value = self.visit(node.value)
        if isinstance(node.target, ast.Name) and node.target.id in self._names:
            checked = self._checked(node.target)
            return [at(ast.Assign([ast.Name(node.target.id, ast.Store())], checked), node), node]
        node.target = self.visit(node.target)
        return node


def as_if(statement: ast.Assert) -> ast.If:
    """Return an `assert` as an `if` that raises."""
    args = [] if statement.msg is None else [statement.msg]
    error = ast.Raise(ast.Call(load("AssertionError"), args, []), None)
    test: Any = ast.UnaryOp(ast.Not(), statement.test)
    if may_be_traced(statement.test):
        test = flow_call("not_", statement.test)
    return at(ast.If(test, [error], []), statement)  # type: ignore[no-any-return]


def _has_no_cause(statement: ast.Raise) -> bool:
    cause = statement.cause
    return cause is None or (isinstance(cause, ast.Constant) and cause.value is None)


def with_raises(block: list[Any]) -> list[Any]:
    """Have a `raise` at the end of a branch recorded."""
    statement = block[-1] if block else None
    if isinstance(statement, ast.Raise) and statement.exc is not None and _has_no_cause(statement):
        error = Texts().visit(copied(statement.exc))
        if isinstance(error, ast.Call) and not is_flow_call(error):
            call = flow_call("raise_new", error.func, *error.args)
            call.keywords = error.keywords
        else:
            call = flow_call("raise_", error)
        return [*block[:-1], at(ast.Expr(call), statement)]
    return list(block)
