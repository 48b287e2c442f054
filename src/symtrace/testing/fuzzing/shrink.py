"""The smallest program that still fails."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

from .program import Block, Program, Statement

__all__ = ["shrink"]

_Body = tuple[Statement | Block, ...]


def _smaller_bodies(body: _Body) -> Iterator[_Body]:
    for index, item in enumerate(body):
        yield body[:index] + body[index + 1 :]
        if isinstance(item, Block):
            yield body[:index] + item.body + body[index + 1 :]
            for inner in _smaller_bodies(item.body):
                yield (*body[:index], Block(item.form, inner), *body[index + 1 :])
    for index, item in enumerate(body):
        if isinstance(item, Statement) and item.operands != (0, 1):
            yield (*body[:index], dataclasses.replace(item, operands=(0, 1)), *body[index + 1 :])


def _smaller(program: Program) -> Iterator[Program]:
    if program.inner:
        yield dataclasses.replace(program, inner=program.inner[:-1])
    if program.setup:
        yield dataclasses.replace(program, setup=())
    for body in _smaller_bodies(program.body):
        yield dataclasses.replace(program, body=body)
    for index, inner in enumerate(program.inner):
        for body in _smaller_bodies(inner):
            bodies = (*program.inner[:index], body, *program.inner[index + 1 :])
            yield dataclasses.replace(program, inner=bodies)
    if program.signature != "two":
        yield dataclasses.replace(program, signature="two")
    if program.output != "one":
        yield dataclasses.replace(program, output="one")
    if program.results[0] != -1:
        yield dataclasses.replace(program, results=(-1,))


def shrink(program: Program, fails: Callable[[Program], bool], most: int = 2000) -> Program:
    """Return a program that fails and of which no part can be left out.

    Args:
        program: A program that fails.
        fails: Tells whether a program fails.
        most: How many programs to try.
    """
    tried = 0
    while True:
        for candidate in _smaller(program):
            tried += 1
            if fails(candidate):
                program = candidate
                break
            if tried >= most:
                return program
        else:
            return program
