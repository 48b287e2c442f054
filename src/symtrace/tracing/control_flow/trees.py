"""Pieces of syntax trees that lifted functions are made of."""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import CodeType
from typing import Any

from .syntax import walk

__all__ = [
    "BLOCK", "FLOW", "SCOPES", "THUNK", "arguments", "at", "bare", "define", "flow_call", "is_block", "is_flow_call",
    "is_load", "is_thunk", "listed", "load", "mangled", "named_alike", "names_tuple", "rewrite_blocks", "thunk",
]  # fmt: skip

FLOW = "__symtrace_flow__"
"""Name under which lifted functions find `flow` among their globals."""

THUNK = "__symtrace_thunk__"
"""Name of a parameter of functions that stand for expressions, which tells them from those of the program."""

BLOCK = "__symtrace_"
"""How the names of functions begin that blocks have become; a constant of their code, once they have other names."""

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
"""Nodes that have variables of their own."""


def at(node: Any, place: Any) -> Any:
    """Return a new node with the line numbers of an old one, down to the nodes that have none of their own."""
    ast.copy_location(node, place)
    for child in walk(node):
        if "lineno" in child._attributes and not hasattr(child, "lineno"):
            child.lineno, child.end_lineno = place.lineno, place.lineno  # type: ignore[attr-defined]
            child.col_offset, child.end_col_offset = place.col_offset, place.col_offset  # type: ignore[attr-defined]
    return node


def define(name: str, args: ast.arguments, body: list[Any]) -> Any:
    """Return a function definition, with the fields that this version of Python wants."""
    function: Any = ast.parse("def function(): pass").body[0]
    function.name, function.args, function.body = name, args, body
    del function.lineno, function.col_offset, function.end_lineno, function.end_col_offset
    return function


def arguments(names: list[str]) -> ast.arguments:
    """Return parameters without defaults."""
    return ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])


def bare(args: ast.arguments) -> ast.arguments:
    """Return parameters without defaults and annotations, which belong to the function object."""
    for item in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
        if item is not None:
            item.annotation = None
    return ast.arguments(args.posonlyargs, args.args, args.vararg, args.kwonlyargs,
                         [None] * len(args.kwonlyargs), args.kwarg, [])  # fmt: skip


def load(name: str) -> ast.Name:
    """Return the reading of a variable."""
    return ast.Name(name, ast.Load())


def mangled(name: str, code: CodeType) -> str:
    """Return the name that a private attribute has in the code of a class."""
    if not name.startswith("__") or name.endswith("__"):
        return name
    return next((one for one in code.co_names if one.startswith("_") and one.endswith(name)), name)


def names_tuple(names: list[str], context: Any = ast.Load) -> ast.Tuple:
    """Return a tuple of variables that are read or assigned."""
    return ast.Tuple([ast.Name(name, context()) for name in names], context())


def flow_call(method: str, *args: Any) -> ast.Call:
    """Return a call of a method of `flow`."""
    return ast.Call(ast.Attribute(load(FLOW), method, ast.Load()), list(args), [])


def is_flow_call(node: ast.Call) -> bool:
    """Tell whether a call is of a method of `flow`."""
    function = node.func
    return (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id == FLOW
    )


def is_load(node: Any) -> bool:
    """Tell whether an expression is a variable that is checked when it is read."""
    return isinstance(node, ast.Call) and is_flow_call(node) and node.func.attr == "load"  # type: ignore[attr-defined]


def thunk(expression: Any) -> ast.Lambda:
    """Return a function without parameters that gives an expression."""
    mark = ast.arguments([], [], None, [ast.arg(THUNK)], [ast.Constant(None)], None, [])
    return ast.Lambda(mark, expression)


def is_thunk(node: Any) -> bool:
    """Tell whether a node is a function that was made by `thunk`."""
    return isinstance(node, ast.Lambda) and any(arg.arg == THUNK for arg in node.args.kwonlyargs)


def named_alike(code: CodeType, original: CodeType) -> CodeType:
    """Return code with the functions in it that stand for blocks and expressions named like the function around them.

    Args:
        code: Code of a lifted function.
        original: Code of the function itself.
    """
    names: dict[str, Any] = {"co_name": original.co_name}
    if hasattr(original, "co_qualname"):
        names["co_qualname"] = original.co_qualname
    consts: list[Any] = []
    for const in code.co_consts:
        if isinstance(const, CodeType):
            const = named_alike(const, original)
            if const.co_name.startswith(BLOCK) or THUNK in const.co_varnames:
                const = const.replace(co_consts=(*const.co_consts, BLOCK), **names)
        consts.append(const)
    return code.replace(co_consts=tuple(consts))


def is_block(code: CodeType) -> bool:
    """Tell whether code is that of a function which a block or expression of a lifted function has become."""
    return BLOCK in code.co_consts


def listed(value: Any) -> list[Any]:
    """Return what a transformer made of a statement as statements."""
    return value if isinstance(value, list) else [value]


def rewrite_blocks(statement: Any, rewrite: Callable[[list[Any]], list[Any]]) -> None:
    """Put other statements in place of each block of a statement: of its parts, handlers and cases."""
    for part in [statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())]:
        for field in ("body", "orelse", "finalbody"):
            block = getattr(part, field, None)
            if isinstance(block, list) and block:
                setattr(part, field, rewrite(block))
