"""A random program: statements that refer to earlier values by number, and the source text they make."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from . import prelude
from .forms import BLOCKS, FORMS, OUTPUTS, SIGNATURES

__all__ = ["Block", "Program", "Statement"]

_numbers = itertools.count()


@dataclass(frozen=True)
class Statement:
    """One use of a form.

    Attributes:
        form: Name of the form.
        operands: Which earlier values it takes, by number, wrapping around.
        number: A small number for forms that want one.
    """

    form: str
    operands: tuple[int, int]
    number: int = 0


@dataclass(frozen=True)
class Block:
    """Statements under a `with`, `if` or `for`.

    Attributes:
        form: Name of the block's form.
        body: What is in it.
    """

    form: str
    body: tuple[Statement | Block, ...]


@dataclass(frozen=True)
class Program:
    """A module with modules inside it, as source text.

    Attributes:
        body: Statements of the root's forward.
        inner: Bodies of the classes of the modules inside.
        signature: Name of the form of the inputs.
        output: Name of the form of the result.
        results: Which values are returned, by number.
        setup: Further lines of the root's `__init__`.
        seed: Seed of the parameters.
    """

    body: tuple[Statement | Block, ...]
    inner: tuple[tuple[Statement | Block, ...], ...] = ()
    signature: str = "two"
    output: str = "one"
    results: tuple[int, ...] = (-1,)
    setup: tuple[str, ...] = ()
    seed: int = 0

    def source(self) -> str:
        """Return the source text of the classes; the root is `Program`."""
        parts = [
            _class(f"Inner{i}", _Text(i), body, "inner", "one", (-1, 0), ())
            for i, body in enumerate(self.inner)
        ]
        text = _Text(len(self.inner), self.output)
        parts.append(
            _class("Program", text, self.body, self.signature, self.output, self.results, self.setup)
        )
        return "\n\n".join(parts) + "\n"

    def load(self) -> Loaded:
        """Compile the source."""
        return Loaded(self)

    @property
    def size(self) -> int:
        """Number of statements."""
        return sum(1 for body in (self.body, *self.inner) for _ in _walk(body)) + len(self.setup)


class Loaded:
    """A program whose source is compiled, in a namespace of its own.

    Attributes:
        program: The program.
        namespace: Its globals.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self._file = f"<program {next(_numbers)}>"
        source = program.source()
        self.namespace: dict[str, Any] = {**vars(prelude), "torch": torch, "__name__": "random_program"}
        self.namespace["TABLE"] = prelude.TABLE.clone()
        self.namespace["LOG"] = []
        linecache.cache[self._file] = (len(source), None, source.splitlines(True), self._file)
        exec(compile(source, self._file, "exec"), self.namespace)

    def make(self) -> nn.Module:
        """Return a new module of the program; all are alike."""
        torch.manual_seed(self.program.seed)
        return self.namespace["Program"]()  # type: ignore[no-any-return]

    def inputs(self, rows: int, seed: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return arguments for one call."""
        generator = torch.Generator().manual_seed(seed)
        x, y = (torch.randn(rows, 4, generator=generator) for _ in range(2))
        return SIGNATURES[self.program.signature].make(x, y)

    def close(self) -> None:
        """Forget the source."""
        linecache.cache.pop(self._file, None)


@dataclass
class _Text:
    """Lines of one class while they are made."""

    inner: int
    output: str = "one"
    setup: dict[str, None] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    names: Iterator[int] = field(default_factory=itertools.count)

    def body(self, statements: tuple[Statement | Block, ...], indent: int) -> None:
        for item in statements:
            if isinstance(item, Block):
                self._block(item, indent)
            else:
                self._statement(item, indent)

    def _block(self, block: Block, indent: int) -> None:
        form = BLOCKS[block.form]
        self.setup.update(dict.fromkeys(form.setup))
        pad = "    " * indent
        known = len(self.values)
        target = f"v{next(self.names)}"
        fields = {"a": self.values[-1], "r": target}
        if form.before:
            self._add(form.before, fields, indent)
            self.values.append(target)
        self._add(form.header, fields, indent)
        start = len(self.lines)
        self._add(form.first, self._with_result(fields), indent + 1)
        self.body(block.body, indent + 1)
        made = self.values[known:]
        if len(self.lines) == start:
            self.lines.append(f"{pad}    pass")
        self._add(form.last, self._with_result({**fields, "a": self.values[-1]}), indent + 1)
        self._add(form.behind, self._with_result(fields), indent)
        if form.scoped:
            del self.values[known:]
            if form.before:
                self.values.append(target)
        elif form.after:
            self.lines.extend(pad + form.after.format_map({"a": name}) for name in made)

    def _add(self, text: str, fields: dict[str, str], indent: int) -> None:
        pad = "    " * indent
        self.lines.extend(pad + line.format_map(fields) for line in text.split("; ") if line)

    def _with_result(self, fields: dict[str, str]) -> dict[str, str]:
        result = OUTPUTS[self.output].format_map({"a": fields["a"], "b": "y"})
        return {**fields, "result": result}

    def _statement(self, statement: Statement, indent: int) -> None:
        form = FORMS[statement.form]
        if form.inner and not self.inner:
            return
        self.setup.update(dict.fromkeys(form.setup))
        first, second = (self.values[number % len(self.values)] for number in statement.operands)
        result = f"v{next(self.names)}"
        child = f"inner{statement.number % self.inner}" if self.inner else ""
        fields = {"a": first, "b": second, "r": result, "k": statement.number, "child": child}
        pad = "    " * indent
        self.lines.extend(pad + line.format_map(fields) for line in form.lines)
        if form.result:
            self.values.append(result)


def _class(
    name: str,
    text: _Text,
    body: tuple[Statement | Block, ...],
    signature: str,
    output: str,
    results: tuple[int, ...],
    setup: tuple[str, ...],
) -> str:
    form = SIGNATURES[signature]
    text.values.extend(["x", "y"])
    text.body(body, 2)
    returned = [text.values[number % len(text.values)] for number in results]
    result = OUTPUTS[output].format_map({"a": returned[0], "b": returned[-1]})
    children = [f"self.inner{i} = Inner{i}()" for i in range(text.inner)]
    return "\n".join(
        [
            f"class {name}(nn.Module):",
            "    def __init__(self):",
            "        super().__init__()",
            *(f"        {line}" for line in [*children, *text.setup, *setup]),
            "",
            f"    def forward({', '.join(['self', *form.parameters])}):",
            *(["        global TOTAL"] if any("TOTAL" in line for line in text.lines) else []),
            *(f"        {line}" for line in form.lines),
            *text.lines,
            f"        return {result}",
        ]
    )


def _walk(body: tuple[Statement | Block, ...]) -> Iterator[Statement | Block]:
    for item in body:
        yield item
        if isinstance(item, Block):
            yield from _walk(item.body)
