"""What is measured: one row per operation, written once for both libraries.

A row prepares fresh state (not timed) and returns the work to time. Nodes compute on Python numbers, so
that the libraries are measured and not the tensor arithmetic.
"""

from __future__ import annotations

import operator
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

Work = Callable[[], object]


@dataclass(frozen=True)
class Row:
    """One operation: `prepare(fx, n)` returns the work on about `n` nodes."""

    name: str
    prepare: Callable[[Any, int], Work]
    size: int = 2000


def chain(fx: Any, n: int, op: Any = operator.neg) -> Any:
    """Return a graph of `n` nodes in a row."""
    graph = fx.Graph()
    value = graph.placeholder("x")
    for _ in range(n):
        value = graph.call_function(op, (value,))
    graph.output(value)
    return graph


def chain_module(fx: Any, n: int) -> Any:
    return fx.GraphModule(nn.Module(), chain(fx, n))


class ManyModules(nn.Module):
    """Blocks of two leaf layers."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([nn.Sequential(nn.ReLU(), nn.Identity()) for _ in range(n // 2)])

    def forward(self, x: Any) -> Any:
        for block in self.blocks:
            x = block(x)
        return x


class ManyParameters(nn.Module):
    """Each parameter is read once and added."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.weights = nn.ParameterList([nn.Parameter(torch.zeros(1)) for _ in range(n // 2)])

    def forward(self, x: Any) -> Any:
        for weight in self.weights:
            x = x + weight
        return x


def build(fx: Any, n: int) -> Work:
    def work() -> Any:
        graph = fx.Graph()
        value = graph.placeholder("x")
        for _ in range(n // 2):
            value = graph.call_function(operator.add, (value, 1))
            value = graph.call_method("relu", (value,))
        return graph.output(value)

    return work


def trace_ops(fx: Any, n: int) -> Work:
    def program(x: Any) -> Any:
        for _ in range(n // 4):
            x = torch.relu(x + 1).neg() * 2
        return x

    return lambda: fx.symbolic_trace(program)


def trace_modules(fx: Any, n: int) -> Work:
    model = ManyModules(n)
    return lambda: fx.Tracer().trace(model)


def trace_parameters(fx: Any, n: int) -> Work:
    model = ManyParameters(n)
    return lambda: fx.Tracer().trace(model)


def codegen(fx: Any, n: int) -> Work:
    graph = chain(fx, n)
    return lambda: graph.python_code("self")


def recompile(fx: Any, n: int) -> Work:
    gm = chain_module(fx, n)
    first = next(node for node in gm.graph.nodes if node.op == "call_function")

    def work() -> object:
        first.target = operator.pos
        gm.recompile()
        return gm.code, gm(1)

    return work


def copy_graph(fx: Any, n: int) -> Work:
    graph = chain(fx, n)
    return lambda: fx.Graph().graph_copy(graph, {})


def lint(fx: Any, n: int) -> Work:
    model = ManyModules(n // 2)

    def program(x: Any) -> Any:
        for block in model.blocks:
            x = block[1](-block[0](x)) * 2
        return x

    model.forward = program  # type: ignore[method-assign]
    return fx.symbolic_trace(model).graph.lint  # type: ignore[no-any-return]


def dead_code(fx: Any, n: int) -> Work:
    graph = chain(fx, n // 2)
    first = next(iter(graph.nodes))
    with graph.inserting_after(first):
        for _ in range(n // 2):
            graph.call_function(operator.neg, (first,))
    return graph.eliminate_dead_code


def edit(fx: Any, n: int) -> Work:
    graph = chain(fx, n)

    def work() -> None:
        for node in list(graph.nodes):
            if node.op == "call_function":
                with graph.inserting_before(node):
                    new = graph.call_function(operator.pos, node.args)
                node.replace_all_uses_with(new)
                graph.erase_node(node)

    return work


def interpret(fx: Any, n: int) -> Work:
    gm = chain_module(fx, n)
    return lambda: fx.Interpreter(gm).run(1)


def transform(fx: Any, n: int) -> Work:
    gm = chain_module(fx, n)
    return lambda: fx.Transformer(gm).transform()


def pickling(fx: Any, n: int) -> Work:
    gm = chain_module(fx, n)
    return lambda: pickle.loads(pickle.dumps(gm))


ROWS = (
    Row("build nodes", build),
    Row("trace: many ops", trace_ops),
    Row("trace: many modules", trace_modules, 1000),
    Row("trace: many parameters", trace_parameters, 1000),
    Row("codegen", codegen),
    Row("recompile + code + call", recompile),
    Row("graph copy", copy_graph),
    Row("lint", lint),
    Row("dead code elimination", dead_code),
    Row("insert + replace + erase", edit),
    Row("Interpreter", interpret),
    Row("Transformer", transform),
    Row("pickle", pickling),
)
