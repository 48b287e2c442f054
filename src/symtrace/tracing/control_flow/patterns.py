"""Turns `match` into `if`, so that it is lifted as one."""

# ruff: noqa: D102 - visitors are named by the nodes that they take

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from typing import Any

from .scopes import Own, contains
from .syntax import walk
from .trees import at, flow_call, load

__all__ = ["Matches"]

_ITSELF = frozenset(
    {"bool", "bytearray", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple"}
)
"""Classes whose pattern takes one positional pattern, for the object itself."""


class _Unknown(Exception):
    """A pattern that stays a pattern."""


class Matches(Own):
    """Turns `match` with values, captures, alternatives, sequences and classes into `if`.

    Args:
        fresh: Gives a new variable of the function.
    """

    def __init__(self, fresh: Callable[[str], str]) -> None:
        self._fresh = fresh

    def visit_Match(self, node: Any) -> Any:
        self.generic_visit(node)
        subject = self._fresh("subject")
        try:
            cases = [_Case(case, subject) for case in node.cases]
        except _Unknown:
            return node
        result: list[Any] = []
        for case in reversed(cases):
            body = [*case.binds, *case.body]
            if case.guard is None and case.test is None:
                result = body
            elif case.guard is None or not case.binds:
                result = [at(ast.If(case.whole(), body, result), case.place)]
            else:  # names are bound before the guard, and the guard may fail
                bound = [*case.binds, at(ast.If(case.guard, case.body, copy.deepcopy(result)), case.place)]
                test = case.test
                result = bound if test is None else [at(ast.If(test, bound, result), case.place)]
        return [at(ast.Assign([ast.Name(subject, ast.Store())], node.subject), node), *result]


class _Case:
    """A case: what has to hold, what is bound, and what is run.

    Args:
        case: Its syntax tree.
        subject: Name of the variable that is matched.
    """

    def __init__(self, case: Any, subject: str) -> None:
        self.body: list[Any] = case.body
        self.guard = case.guard
        self.place = case.body[0] if case.guard is None else case.guard
        self.binds: list[Any] = []
        tests = self._tests(case.pattern, load(subject))
        self.test: Any = None
        if tests:
            self.test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
            self.test = at(self.test, case.pattern)

    def whole(self) -> Any:
        """Return the test and the guard as one."""
        if self.test is None or self.guard is None:
            return self.guard if self.test is None else self.test
        return at(ast.BoolOp(ast.And(), [self.test, self.guard]), self.place)

    def _bind(self, name: str, value: Any, place: Any) -> None:
        self.binds.append(at(ast.Assign([ast.Name(name, ast.Store())], copy.deepcopy(value)), place))

    def _tests(self, pattern: Any, value: Any) -> list[Any]:
        """Return what has to hold of a value."""
        if isinstance(pattern, ast.MatchValue):
            return [ast.Compare(value, [ast.Eq()], [pattern.value])]
        if isinstance(pattern, ast.MatchSingleton):
            return [ast.Compare(value, [ast.Is()], [ast.Constant(pattern.value)])]
        if isinstance(pattern, ast.MatchAs):
            tests = [] if pattern.pattern is None else self._tests(pattern.pattern, value)
            if pattern.name is not None:
                self._bind(pattern.name, value, pattern)
            return tests
        if isinstance(pattern, ast.MatchOr):
            return self._one_of(pattern, value)
        if isinstance(pattern, ast.MatchSequence):
            return self._items(pattern, value)
        if isinstance(pattern, ast.MatchClass):
            return self._class(pattern, value)
        if isinstance(pattern, ast.MatchMapping):
            return self._mapping(pattern, value)
        raise _Unknown

    def _one_of(self, pattern: Any, value: Any) -> list[Any]:
        if contains([pattern], ast.MatchAs | ast.MatchStar) and any(
            getattr(node, "name", None) is not None for node in walk(pattern)
        ):
            raise _Unknown
        tests = []
        for one in pattern.patterns:
            found = self._tests(one, copy.deepcopy(value))
            if not found:
                return []
            tests.append(found[0] if len(found) == 1 else ast.BoolOp(ast.And(), found))
        return [ast.BoolOp(ast.Or(), tests)]

    def _items(self, pattern: Any, value: Any) -> list[Any]:
        stars = [index for index, one in enumerate(pattern.patterns) if isinstance(one, ast.MatchStar)]
        count = len(pattern.patterns) - len(stars)
        tests: list[Any] = [
            flow_call("is_sequence", copy.deepcopy(value), ast.Constant(count), ast.Constant(bool(stars)))
        ]
        for index, one in enumerate(pattern.patterns):
            if isinstance(one, ast.MatchStar):
                if one.name is not None:
                    behind = index - len(pattern.patterns) + 1
                    upper = ast.Constant(behind) if behind else None
                    part = ast.Subscript(
                        copy.deepcopy(value), ast.Slice(ast.Constant(index), upper), ast.Load()
                    )
                    self._bind(one.name, ast.Call(load("list"), [part], []), one)
                continue
            position = index if not stars or index < stars[0] else index - len(pattern.patterns)
            item = ast.Subscript(copy.deepcopy(value), ast.Constant(position), ast.Load())
            tests += self._tests(one, item)
        return tests

    def _mapping(self, pattern: Any, value: Any) -> list[Any]:
        keys = ast.Tuple(pattern.keys, ast.Load())
        tests: list[Any] = [flow_call("is_mapping", copy.deepcopy(value), copy.deepcopy(keys))]
        for key, one in zip(pattern.keys, pattern.patterns, strict=True):
            tests += self._tests(one, ast.Subscript(copy.deepcopy(value), copy.deepcopy(key), ast.Load()))
        if pattern.rest is not None:
            self._bind(pattern.rest, flow_call("without", value, copy.deepcopy(keys)), pattern)
        return tests

    def _class(self, pattern: Any, value: Any) -> list[Any]:
        tests: list[Any] = [ast.Call(load("isinstance"), [copy.deepcopy(value), pattern.cls], [])]
        if pattern.patterns:
            is_itself = isinstance(pattern.cls, ast.Name) and pattern.cls.id in _ITSELF
            if is_itself and len(pattern.patterns) == 1:
                tests += self._tests(pattern.patterns[0], copy.deepcopy(value))
            else:
                for position, one in enumerate(pattern.patterns):
                    args = copy.deepcopy(value), copy.deepcopy(pattern.cls), ast.Constant(position)
                    tests.append(flow_call("has_positional", *copy.deepcopy(args)))
                    tests += self._tests(one, flow_call("positional", *args))
        for name, one in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
            tests.append(ast.Call(load("hasattr"), [copy.deepcopy(value), ast.Constant(name)], []))
            tests += self._tests(one, ast.Attribute(copy.deepcopy(value), name, ast.Load()))
        return tests
