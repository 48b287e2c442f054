"""Source text of a whole graph."""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from dataclasses import dataclass, field
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

import torch

from ..ir import Graph, Node, Region, last_uses
from ..ops.program import enter_mode
from .blocks import with_blocks
from .codegen import root_name
from .globals import Globals
from .literals import annotation_text, value_text
from .parents import bind_parents
from .regions import Owner, Path, RegionWriter
from .statements import statement, with_statement

if TYPE_CHECKING:
    from .codegen import CodeGen

__all__ = ["PythonCode", "generate"]

_NOBODY: Owner = ("", ())


@dataclass(frozen=True)
class PythonCode:
    """Generated source.

    Attributes:
        src: Text that defines `forward`.
        globals: Objects that the text names.
        line_map: Names of nodes by line of `src`, from 1.
        executed: What is compiled in place of `src`, line by line the same, if anything.
        inner_map: For lines of a node in a region, where it is in the node that `line_map` names.
    """

    src: str
    globals: dict[str, Any]
    line_map: dict[int, str] = field(default_factory=dict)
    executed: str = ""
    inner_map: dict[int, Path] = field(default_factory=dict)


def generate(
    graph: Graph, codegen: CodeGen, root_module: str = "self", *, verbose: bool = False
) -> PythonCode:
    """Return the source of `graph`.

    Args:
        graph: The graph.
        codegen: How arguments and results are passed.
        root_module: Name of the module in the text.
        verbose: Put the user's source line in front of the statements that it gave rise to.

    Cost: linear.
    """
    raw_names = [_raw_name(node) for node in graph.nodes if node._op == "placeholder"]
    names = Globals([*raw_names, *graph._names, root_module], torch)
    for name, value in codegen.additional_globals():
        names.add(name, value)
    parameters, aliases = _parameters(graph, names)
    root = root_name(parameters) if root_module == "self" else root_module
    codegen._names = names
    try:
        returns = ""
        lines: list[str] = []
        owners: list[Owner] = []
        for alias in aliases:
            lines.append(f"{alias}\n")
            owners.append(_NOBODY)
        for text, node in _Writer(codegen, root, names, verbose).function(graph):
            lines.append(f"{text}\n")
            owners.append(node)
        output = graph._root._prev
        if output._op == "output" and output._type is not None:
            returns = f" -> {annotation_text(output._type, names)}"
        if not lines:
            lines, owners = ["pass\n"], [_NOBODY]
        if codegen._body_transformer is not None:
            before, lines = lines, codegen._body_transformer(lines)
            owners = _follow(before, owners, lines)
        head = codegen.gen_fn_def(parameters, returns)
        if not head.startswith("\n"):
            head = "\n" + head
    finally:
        codegen._names = None
    source = _function_text(head, lines)
    executed = ""
    is_plain = type(codegen).gen_fn_def.__module__ == __package__ + ".codegen"
    if is_plain and codegen._body_transformer is None:
        others = bind_parents(graph, lines, [owner for owner, _ in owners], root, names, _is_block)
        executed = "" if others is lines else _function_text(head, others)
    start = head.count("\n") + 4
    line_map, inner_map = {}, {}
    line = start
    for text, (owner, path) in zip(lines, owners, strict=True):
        if owner:
            line_map[line + text.count("\n") - 1] = owner
        if path:
            inner_map[line + text.count("\n") - 1] = path
        line += text.count("\n")
    table = names.finish()
    if not is_plain:
        table.setdefault("torch", torch)  # a `def` line written by hand may name it
    return PythonCode(source, table, line_map, executed, inner_map)


def _function_text(head: str, lines: list[str]) -> str:
    body = "".join(lines)
    indented = "".join(f"    {line}\n" if line else "\n" for line in body.split("\n")[:-1])
    return f"\n\n{head}\n{indented}    "


def _follow(before: list[str], owners: list[Owner], lines: list[str]) -> list[Owner]:
    """Return the owners of lines after a change, which lines that are still there keep."""
    places: dict[str, list[int]] = {}
    for index in range(len(before) - 1, -1, -1):
        places.setdefault(before[index], []).append(index)
    return [owners[places[line].pop()] if places.get(line) else _NOBODY for line in lines]


def _raw_name(node: Node) -> str:
    name: str = node._target.lstrip("*")
    return name if name.isidentifier() and not iskeyword(name) else str(node._name)


def _parameters(graph: Graph, names: Globals) -> tuple[list[str], list[str]]:
    """Return the parameters of the generated function, and statements that give them the names of their nodes."""
    parameters: list[str] = []
    aliases: list[str] = []
    keywords_only = False
    for node in graph.nodes:
        if node._op != "placeholder":
            break
        raw = _raw_name(node)
        stars = node._target[: len(node._target) - len(node._target.lstrip("*"))]
        text = f"{stars}{raw}"
        if stars == "*":
            keywords_only = True
        elif node.kind == "keyword_only" and not keywords_only and not stars:
            parameters.append("*")
            keywords_only = True
        if node._type is not None:
            text += f" : {annotation_text(node._type, names)}"
        if node._args:
            text += f" = {value_text(node._args[0], names)}"
        parameters.append(text)
        if raw != node._name:
            aliases.append(f"{node._name} = {raw}")
        if node.kind == "positional_only":
            if "/" in parameters:
                parameters.remove("/")
            parameters.append("/")
    return parameters, aliases


class _Writer:
    """Writes the statements of a graph, and of the regions in it.

    Args:
        codegen: How results are passed.
        root: Name of the module in the text.
        names: Globals of the function.
        verbose: Put the user's source lines in between.
    """

    def __init__(self, codegen: CodeGen, root: str, names: Globals, verbose: bool) -> None:
        self._codegen = codegen
        self._root = root
        self._names = names
        self._verbose = verbose
        self._regions = RegionWriter(names, self._region)

    def function(self, graph: Graph) -> Iterator[tuple[str, Owner]]:
        """Yield pairs of a statement and the name of its node, the result of the graph last."""
        yield from self._statements(graph, "")
        output = graph._root._prev
        if output._op == "output":
            value = output._args[0] if output._args else None
            yield self._codegen.generate_output(value), (output._name, ())

    def _region(self, graph: Graph, indent: str) -> Iterator[tuple[str, Owner]]:
        yield from self._statements(graph, indent, frees_inputs=False)

    def _statements(
        self, graph: Graph, indent: str, *, frees_inputs: bool = True
    ) -> Iterator[tuple[str, Owner]]:
        """Yield statements, with values freed after their last use."""
        dying = last_uses(graph)
        blocks = with_blocks(graph)
        place: Any = None
        for node in graph.nodes:
            op = node._op
            if op == "placeholder":
                continue
            if op == "output":
                return
            if self._verbose:
                frame = node.origin.frames[-1] if node.origin is not None and node.origin.frames else None
                here = frame and (frame.file, frame.line)
                if here != place:
                    place = here
                    yield _source_comment(frame, indent), _NOBODY
            if node in blocks:
                if node._target is enter_mode:
                    yield f"{indent}{with_statement(node, self._names)}", (node._name, ())
                    indent += "    "
                    if node._next is blocks[node]:
                        yield f"{indent}pass", _NOBODY
                else:
                    indent = indent[4:]
                continue
            gone = dying.get(node, [])
            if not frees_inputs and gone:
                gone = [other for other in gone if other._op != "placeholder"]
            if _has_regions(node):
                for line, path in self._regions.write(node, indent):
                    yield line, (node._name, path)
                assigns, text = True, ""
            else:
                text, assigns = statement(node, self._root, self._names)
            if assigns and not node._users:
                gone = [*gone, node]
            if gone:
                text += f"{';  ' if text else ''}{' = '.join([other._name for other in gone])} = None"
            if text:
                yield f"{indent}{text}", (node._name, ())


def _has_regions(node: Node) -> bool:
    # Asked of each node, of which hardly one has so many arguments.
    args = node._args
    return len(args) > 3 and (type(args[0]) is Region or type(args[1]) is Region)


def _is_block(node: Node) -> bool:
    return node._target is enter_mode or _has_regions(node)


def _source_comment(frame: Any, indent: str) -> str:
    if frame is None:
        return f"\n{indent}# No source line known for the following"
    text = linecache.getline(frame.file, frame.line).strip()
    return f"\n{indent}# File: {frame.file}:{frame.line} in {frame.function}, code: {text}"
