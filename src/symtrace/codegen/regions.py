"""Regions as blocks of real Python: `if`, `while`, `for`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from ..ir import Graph, Node, Region
from ..ops.control_flow import cond, for_each, torch_cond, torch_while, while_loop
from .globals import Globals
from .literals import value_text

__all__ = ["Owner", "Path", "RegionWriter"]

Path = tuple[tuple[int, str], ...]
"""Where a node is in the regions of another one: for each, which argument it is, and the name of a node in it."""

Owner = tuple[str, Path]
"""Name of a node, and where in its regions; an empty name for none."""

_Body = Callable[[Graph, str], Iterator[tuple[str, Owner]]]
_Lines = Iterator[tuple[str, Path]]


@dataclass(frozen=True)
class _Bound:
    """A copy of a region as it is written.

    Attributes:
        graph: The copy.
        place: Which argument of its node it is.
        names: Names of the nodes of the region by those of the copy.
    """

    graph: Graph
    place: int
    names: dict[str, str]

    @property
    def results(self) -> Any:
        """What it gives."""
        return self.graph.output_node().args[0]


class RegionWriter:
    """Writes nodes with regions; each name in a region is one that the function has nowhere else.

    Args:
        names: Globals of the function.
        body: Yields the statements of a graph, given the indentation.
    """

    def __init__(self, names: Globals, body: _Body) -> None:
        self._names = names
        self._body = body

    def write(self, node: Node, indent: str) -> _Lines:
        """Yield the lines for a node with regions, each with the node in them that it is of."""
        writer = {
            cond: self._cond,
            torch_cond: self._torch_cond,
            while_loop: self._while,
            torch_while: self._torch_while,
            for_each: self._for,
        }[node._target]
        yield from writer(node, indent)

    def _cond(self, node: Node, indent: str) -> _Lines:
        predicate, then, orelse, operands, else_operands = node._args
        yield f"{indent}if {self._text(predicate)}:", ()
        yield from self._branch(node, then, operands, indent)
        yield f"{indent}else:", ()
        yield from self._branch(node, orelse, else_operands, indent)

    def _branch(self, node: Node, region: Region, operands: Any, indent: str) -> _Lines:
        bound = self._bound(node, region, [self._text(value) for value in operands])
        yield from self._inner(bound, indent)
        yield f"{indent}    {node._name} = {self._text(bound.results)}", ()

    def _torch_cond(self, node: Node, indent: str) -> _Lines:
        """Write each way as a function, which sees what it uses of the function around it."""
        predicate, then, orelse, operands, else_operands = node._args
        functions = []
        for region, values, way in ((then, operands, "then"), (orelse, else_operands, "orelse")):
            functions.append(self._names.claim_local(f"{node._name}_{way}"))
            yield f"{indent}def {functions[-1]}():", ()
            bound = self._bound(node, region, [self._text(value) for value in values])
            yield from self._inner(bound, indent)
            yield f"{indent}    return {self._text(bound.results)}", ()
        called = f"{self._names.qualified(torch.cond)}({self._text(predicate)}, {', '.join(functions)})"
        yield f"{indent}{node._name} = {called}", ()

    def _while(self, node: Node, indent: str) -> _Lines:
        predicate, body, carried, operands = node._args
        variables = self._variables(node, carried)
        test = self._names.claim_local(f"{node._name}_test")
        yield from self._assign(
            [test, *variables], [self._text(value) for value in (predicate, *carried)], indent
        )
        yield f"{indent}while {test}:", ()
        bound = self._bound(node, body, [*variables, *map(self._text, operands)])
        yield from self._inner(bound, indent)
        results = list(map(self._text, bound.results))
        yield from self._assign([test, *variables], results, f"{indent}    ")
        yield f"{indent}{node._name} = {_tuple_text(variables)}", ()

    def _torch_while(self, node: Node, indent: str) -> _Lines:
        """Write test and body as functions, which see what they use of the function around them.

        A loop of no rounds is a way of its own: `torch.while_loop` gives it half the gradient (torch 2.14).
        """
        predicate, body, carried, operands = node._args
        variables = self._variables(node, carried)
        kinds = ("test", "goes", "round", "loop", "none")
        names = [self._names.claim_local(f"{node._name}_{kind}") for kind in kinds]
        parameters = ", ".join([names[0], *variables])
        tensor = self._names.qualified(torch.as_tensor)
        yield f"{indent}def {names[1]}({parameters}):", ()
        yield f"{indent}    return {names[0]}.clone()", ()
        yield f"{indent}def {names[2]}({parameters}):", ()
        bound = self._bound(node, body, [*variables, *map(self._text, operands)])
        yield from self._inner(bound, indent)
        test, *results = map(self._text, bound.results)
        yield f"{indent}    return {_tuple_text([f'{tensor}({test}).reshape(())', *results])}", ()
        texts = list(map(self._text, carried))
        predicate = f"{tensor}({self._text(predicate)}).reshape(())"
        loop = self._names.qualified(torch.while_loop)
        yield f"{indent}def {names[3]}():", ()
        yield f"{indent}    return {loop}({names[1]}, {names[2]}, {_tuple_text([predicate, *texts])})[1:]", ()
        yield f"{indent}def {names[4]}():", ()
        yield f"{indent}    return {_tuple_text([f'{text}.clone()' for text in texts])}", ()
        called = f"{self._names.qualified(torch.cond)}({predicate}, {names[3]}, {names[4]})"
        yield f"{indent}{node._name} = {called}", ()

    def _for(self, node: Node, indent: str) -> _Lines:
        items, body, carried, operands, *rest = node._args
        stops = bool(rest and rest[0])
        variables = self._variables(node, carried)
        item = self._names.claim_local(f"{node._name}_item")
        yield from self._assign(variables, [self._text(value) for value in carried], indent)
        yield f"{indent}for {item} in {self._text(items)}:", ()
        bound = self._bound(node, body, [item, *variables, *map(self._text, operands)])
        results = list(map(self._text, bound.results))
        test = results.pop(0) if stops else ""
        lines = [*self._inner(bound, indent), *self._assign(variables, results, f"{indent}    ")]
        if stops:
            lines += [(f"{indent}    if not {test}:", ()), (f"{indent}        break", ())]
        yield from lines or [(f"{indent}    pass", ())]
        yield f"{indent}{node._name} = {_tuple_text(variables)}", ()

    def _variables(self, node: Node, carried: Any) -> list[str]:
        return [self._names.claim_local(f"{node._name}_{index}") for index in range(len(carried))]

    def _inner(self, bound: _Bound, indent: str) -> _Lines:
        for text, (name, path) in self._body(bound.graph, f"{indent}    "):
            yield text, ((bound.place, bound.names[name]), *path) if name else ()

    def _assign(self, variables: list[str], values: list[str], indent: str) -> _Lines:
        if variables and variables != values:
            yield f"{indent}{', '.join(variables)} = {', '.join(values)}", ()

    def _bound(self, node: Node, region: Region, operands: list[str]) -> _Bound:
        """Return a copy of a region whose placeholders have the names of what stands for them."""
        graph = region.copy().graph
        given = iter(operands)
        names = {}
        for inner in graph.nodes:
            if inner._op == "placeholder":
                inner._name = next(given)
            elif inner._op != "output":
                name = inner._name
                inner._name = self._names.claim_local(name)
                names[inner._name] = name
        place = next(index for index, arg in enumerate(node._args) if arg is region)
        return _Bound(graph, place, names)

    def _text(self, value: Any) -> str:
        return value_text(value, self._names)


def _tuple_text(names: list[str]) -> str:
    return f"({', '.join(names)}{',' if len(names) == 1 else ''})"
