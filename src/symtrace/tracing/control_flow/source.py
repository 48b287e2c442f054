"""The syntax tree of a function that is running."""

from __future__ import annotations

import ast
import functools
import linecache
from types import CodeType
from typing import Any

__all__ = ["definition_of"]

_Definition = ast.FunctionDef | ast.Lambda


@functools.lru_cache(maxsize=64)
def _definitions(file: str, version: int) -> dict[int, list[_Definition]]:
    """Return the functions in a file by the line at which their code starts."""
    found: dict[int, list[_Definition]] = {}
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return found
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            line = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            found.setdefault(line, []).append(node)
        elif isinstance(node, ast.Lambda):
            found.setdefault(node.lineno, []).append(node)
    return found


def definition_of(code: CodeType) -> _Definition | None:
    """Return the definition that a code object was compiled from, or None if its text can't be found.

    Args:
        code: Code of a function or lambda.
    """
    lines = linecache.getlines(code.co_filename)
    if not lines:
        return None
    candidates = _definitions(code.co_filename, hash(tuple(lines))).get(code.co_firstlineno, [])
    count = code.co_argcount + code.co_kwonlyargcount
    names = code.co_varnames[:count]
    matching = [node for node in candidates if _name(node) == code.co_name and _parameters(node) == names]
    if len(matching) > 1:
        positions = code.co_positions() if hasattr(code, "co_positions") else ()
        starts = {(line, column) for line, _, column, _ in positions}
        matching = [node for node in matching if _lies_in(node, starts)]
    return matching[0] if len(matching) == 1 else None


def _name(node: _Definition) -> str:
    return node.name if isinstance(node, ast.FunctionDef) else "<lambda>"


def _parameters(node: _Definition) -> tuple[str, ...]:
    args = node.args
    return tuple(item.arg for item in (*args.posonlyargs, *args.args, *args.kwonlyargs))


def _lies_in(node: Any, starts: Any) -> bool:
    """Tell whether an instruction of a code object starts where the body of a lambda does."""
    return (node.body.lineno, node.body.col_offset) in starts
