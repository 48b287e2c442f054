"""The syntax tree of a function that is running."""

from __future__ import annotations

import ast
import inspect
import linecache
from types import CodeType
from typing import Any

from ..code_cache import cached_by_code
from .syntax import walk

__all__ = ["definition_of"]

_Definition = ast.FunctionDef | ast.Lambda


@cached_by_code
def definition_of(code: CodeType) -> _Definition | None:
    """Return the definition that a code object was compiled from, or None if its text can't be found.

    Args:
        code: Code of a function or lambda.
    """
    lines = linecache.getlines(code.co_filename)
    if not lines or code.co_firstlineno > len(lines):
        return None
    tree = _parsed(lines, 1) if code.co_name == "<lambda>" else _block(lines, code)
    if tree is None:
        return None
    count = code.co_argcount + code.co_kwonlyargcount
    names = code.co_varnames[:count]
    matching = [
        node
        for node in walk(tree)
        if isinstance(node, ast.FunctionDef | ast.Lambda)
        and _first_line(node) == code.co_firstlineno
        and _name(node) == code.co_name
        and _parameters(node) == names
    ]
    if len(matching) > 1:
        positions = code.co_positions() if hasattr(code, "co_positions") else ()
        starts = {(line, column) for line, _, column, _ in positions}
        matching = [node for node in matching if _lies_in(node, starts)]
    return matching[0] if len(matching) == 1 else None


def _block(lines: list[str], code: CodeType) -> ast.Module | None:
    """Return the tree of a function: the whole file takes many times as long."""
    first = code.co_firstlineno
    block = _indented(lines, code)
    tree = None if block is None else _parsed_at(block, first)
    if tree is not None:
        return tree
    try:
        block = inspect.getblock(lines[first - 1 :])
    except (IndentationError, SyntaxError):
        return _parsed(lines, 1)
    return _parsed_at(block, first) or _parsed(lines, 1)


def _indented(lines: list[str], code: CodeType) -> list[str] | None:
    """Return the lines of a function up to the first that is indented less, if that is told by looking at lines.

    `inspect.getblock` splits them into tokens, which takes as long as the rest.
    """
    last = _last_line(code)
    if last <= code.co_firstlineno:
        return None
    depth = _depth(lines[code.co_firstlineno - 1])
    for number in range(last, len(lines)):
        line = lines[number].strip()
        if line and not line.startswith("#") and _depth(lines[number]) <= depth:
            return lines[code.co_firstlineno - 1 : number]
    return lines[code.co_firstlineno - 1 :]


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _last_line(code: CodeType) -> int:
    """Return the last line that code has an instruction of, that of functions inside included."""
    lines = [line for _, _, line in code.co_lines() if line is not None]
    inside = [_last_line(const) for const in code.co_consts if type(const) is CodeType]
    return max([code.co_firstlineno, *lines, *inside])


def _parsed_at(block: list[str], first: int) -> ast.Module | None:
    """Return the tree of the lines of a function that starts at line `first`."""
    if block[0][:1].isspace():
        return _parsed(["if True:\n", *block], first - 1)
    return _parsed(block, first)


def _parsed(lines: list[str], first: int) -> ast.Module | None:
    """Return the tree of some lines of a file, the first of which has the number `first`."""
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError):
        return None
    ast.increment_lineno(tree, first - 1)
    return tree


def _first_line(node: _Definition) -> int:
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _name(node: _Definition) -> str:
    return node.name if isinstance(node, ast.FunctionDef) else "<lambda>"


def _parameters(node: _Definition) -> tuple[str, ...]:
    args = node.args
    return tuple(item.arg for item in (*args.posonlyargs, *args.args, *args.kwonlyargs))


def _lies_in(node: Any, starts: Any) -> bool:
    """Tell whether an instruction of a code object starts where the body of a lambda does."""
    return (node.body.lineno, node.body.col_offset) in starts
