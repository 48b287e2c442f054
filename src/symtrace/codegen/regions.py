"""Regions as blocks of real Python: `if`, `while`, `for`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from ..ir import Graph, Node, Region
from ..ops.control_flow import cond, for_each, torch_cond, torch_while, while_loop
from .globals import Globals
from .literals import value_text

__all__ = ["RegionWriter"]

_Body = Callable[[Graph, str], Iterator[tuple[str, str]]]


class RegionWriter:
    """Writes nodes with regions; each name in a region is one that the function has nowhere else.

    Args:
        names: Globals of the function.
        body: Yields the statements of a graph, given the indentation.
    """

    def __init__(self, names: Globals, body: _Body) -> None:
        self._names = names
        self._body = body

    def write(self, node: Node, indent: str) -> Iterator[str]:
        """Yield the lines for a node with regions."""
        writer = {
            cond: self._cond,
            torch_cond: self._torch_cond,
            while_loop: self._while,
            torch_while: self._torch_while,
            for_each: self._for,
        }[node._target]
        yield from writer(node, indent)

    def _cond(self, node: Node, indent: str) -> Iterator[str]:
        predicate, then, orelse, operands, else_operands = node._args
        yield f"{indent}if {self._text(predicate)}:"
        yield from self._branch(node, then, operands, indent)
        yield f"{indent}else:"
        yield from self._branch(node, orelse, else_operands, indent)

    def _branch(self, node: Node, region: Region, operands: Any, indent: str) -> Iterator[str]:
        graph = self._bound(region, [self._text(value) for value in operands])
        yield from self._inner(graph, indent)
        yield f"{indent}    {node._name} = {self._text(graph.output_node().args[0])}"

    def _torch_cond(self, node: Node, indent: str) -> Iterator[str]:
        """Write each way as a function, which sees what it uses of the function around it."""
        predicate, then, orelse, operands, else_operands = node._args
        functions = []
        for region, values, way in ((then, operands, "then"), (orelse, else_operands, "orelse")):
            functions.append(self._names.claim_local(f"{node._name}_{way}"))
            yield f"{indent}def {functions[-1]}():"
            graph = self._bound(region, [self._text(value) for value in values])
            yield from self._inner(graph, indent)
            yield f"{indent}    return {self._text(graph.output_node().args[0])}"
        called = f"{self._names.qualified(torch.cond)}({self._text(predicate)}, {', '.join(functions)})"
        yield f"{indent}{node._name} = {called}"

    def _while(self, node: Node, indent: str) -> Iterator[str]:
        predicate, body, carried, operands = node._args
        variables = self._variables(node, carried)
        test = self._names.claim_local(f"{node._name}_test")
        yield from self._assign(
            [test, *variables], [self._text(value) for value in (predicate, *carried)], indent
        )
        yield f"{indent}while {test}:"
        graph = self._bound(body, [*variables, *map(self._text, operands)])
        yield from self._inner(graph, indent)
        results = list(map(self._text, graph.output_node().args[0]))
        yield from self._assign([test, *variables], results, f"{indent}    ")
        yield f"{indent}{node._name} = {_tuple_text(variables)}"

    def _torch_while(self, node: Node, indent: str) -> Iterator[str]:
        """Write test and body as functions, which see what they use of the function around them.

        A loop of no rounds is a way of its own: `torch.while_loop` gives it half the gradient (torch 2.14).
        """
        predicate, body, carried, operands = node._args
        variables = self._variables(node, carried)
        kinds = ("test", "goes", "round", "loop", "none")
        names = [self._names.claim_local(f"{node._name}_{kind}") for kind in kinds]
        parameters = ", ".join([names[0], *variables])
        tensor = self._names.qualified(torch.as_tensor)
        yield f"{indent}def {names[1]}({parameters}):"
        yield f"{indent}    return {names[0]}.clone()"
        yield f"{indent}def {names[2]}({parameters}):"
        graph = self._bound(body, [*variables, *map(self._text, operands)])
        yield from self._inner(graph, indent)
        test, *results = map(self._text, graph.output_node().args[0])
        yield f"{indent}    return {_tuple_text([f'{tensor}({test}).reshape(())', *results])}"
        texts = list(map(self._text, carried))
        predicate = f"{tensor}({self._text(predicate)}).reshape(())"
        loop = self._names.qualified(torch.while_loop)
        yield f"{indent}def {names[3]}():"
        yield f"{indent}    return {loop}({names[1]}, {names[2]}, {_tuple_text([predicate, *texts])})[1:]"
        yield f"{indent}def {names[4]}():"
        yield f"{indent}    return {_tuple_text([f'{text}.clone()' for text in texts])}"
        called = f"{self._names.qualified(torch.cond)}({predicate}, {names[3]}, {names[4]})"
        yield f"{indent}{node._name} = {called}"

    def _for(self, node: Node, indent: str) -> Iterator[str]:
        items, body, carried, operands, *rest = node._args
        stops = bool(rest and rest[0])
        variables = self._variables(node, carried)
        item = self._names.claim_local(f"{node._name}_item")
        yield from self._assign(variables, [self._text(value) for value in carried], indent)
        yield f"{indent}for {item} in {self._text(items)}:"
        graph = self._bound(body, [item, *variables, *map(self._text, operands)])
        results = list(map(self._text, graph.output_node().args[0]))
        test = results.pop(0) if stops else ""
        lines = [*self._inner(graph, indent), *self._assign(variables, results, f"{indent}    ")]
        if stops:
            lines += [f"{indent}    if not {test}:", f"{indent}        break"]
        yield from lines or [f"{indent}    pass"]
        yield f"{indent}{node._name} = {_tuple_text(variables)}"

    def _variables(self, node: Node, carried: Any) -> list[str]:
        return [self._names.claim_local(f"{node._name}_{index}") for index in range(len(carried))]

    def _inner(self, graph: Graph, indent: str) -> Iterator[str]:
        for text, _ in self._body(graph, f"{indent}    "):
            yield text

    def _assign(self, variables: list[str], values: list[str], indent: str) -> Iterator[str]:
        if variables and variables != values:
            yield f"{indent}{', '.join(variables)} = {', '.join(values)}"

    def _bound(self, region: Region, operands: list[str]) -> Graph:
        """Return a copy of a region whose placeholders have the names of what stands for them."""
        graph = region.copy().graph
        given = iter(operands)
        for node in graph.nodes:
            if node._op == "placeholder":
                node._name = next(given)
            elif node._op != "output":
                node._name = self._names.claim_local(node._name)
        return graph

    def _text(self, value: Any) -> str:
        return value_text(value, self._names)


def _tuple_text(names: list[str]) -> str:
    return f"({', '.join(names)}{',' if len(names) == 1 else ''})"
