"""Rewriting, passes and partitions against torch.fx in one run, and how they grow.

python benchmarks/passes.py [--repeat 3] [--growth] [--only NAME]

Each row is run by both libraries in turn on the same program; the least time counts. With `--growth`, the time
of symtrace for each node at n, 2n, 4n, 8n.
"""

from __future__ import annotations

import argparse
import gc
import math
import sys
import time
import warnings
from typing import Any

import torch
import torch.fx
from measure import fastest, seconds
from rows import Row, Work
from torch import nn

import symtrace

UNARY = ("sin", "cos", "neg", "abs", "exp", "sigmoid", "tanh", "floor", "ceil", "sqrt")


def _part(fx: Any, path: str) -> Any:
    """Return a name of one of the libraries: `passes.split_module.split_module`."""
    import importlib

    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(f"{'torch.fx' if fx is torch.fx else 'symtrace'}.{module}"), name)


def module_of(fx: Any, n: int, ops: tuple[str, ...] = UNARY, repeat: int = 1) -> Any:
    """A chain of calls of torch functions."""
    graph = fx.Graph()
    value = graph.placeholder("x")
    for index in range(n):
        value = graph.call_function(getattr(torch, ops[index // repeat % len(ops)]), (value,))
    graph.output(value)
    return fx.GraphModule(nn.Module(), graph)


def one_rule(fx: Any, n: int) -> Work:
    gm = module_of(fx, n)
    replace = _part(fx, "subgraph_rewriter.replace_pattern")
    return lambda: replace(gm, lambda x: torch.cos(torch.sin(x)), lambda x: torch.tanh(x))


def many_rules(fx: Any, n: int) -> Work:
    pairs = [(a, b) for a in UNARY for b in UNARY]
    gm = module_of(fx, n)
    replace = _part(fx, "subgraph_rewriter.replace_pattern")

    def graph_of(*ops: str) -> Any:
        graph = fx.Graph()
        value = graph.placeholder("x")
        for op in ops:
            value = graph.call_function(getattr(torch, op), (value,))
        graph.output(value)
        return graph

    rules = [(graph_of(a, b), graph_of("relu", "relu")) for a, b in pairs]

    def work() -> None:
        for pattern, replacement in rules:
            replace(gm, pattern, replacement)

    return work


def long_pattern(fx: Any, n: int) -> Work:
    gm = module_of(fx, n)
    replace = _part(fx, "subgraph_rewriter.replace_pattern")
    pattern = fx.Graph()
    value = pattern.placeholder("x")
    for index in range(100):
        value = pattern.call_function(getattr(torch, UNARY[index % len(UNARY)]), (value,))
    pattern.output(value)
    replacement = fx.Graph()
    replacement.output(replacement.call_function(torch.relu, (replacement.placeholder("x"),)))
    return lambda: replace(gm, pattern, replacement)


def partition(fx: Any, n: int) -> Work:
    gm = module_of(fx, n, ("sin", "cos"), 2)
    make = _part(fx, "passes.infra.partitioner.CapabilityBasedPartitioner")
    support = _part(fx, "passes.operator_support.create_op_support")(lambda _, node: node.target is torch.sin)
    return lambda: make(gm, support, allows_single_node_partition=True).propose_partitions()


def partition_and_fuse(fx: Any, n: int) -> Work:
    gm = module_of(fx, n, ("sin", "cos"), 2)
    make = _part(fx, "passes.infra.partitioner.CapabilityBasedPartitioner")
    support = _part(fx, "passes.operator_support.create_op_support")(lambda _, node: node.target is torch.sin)
    return lambda: make(gm, support, allows_single_node_partition=True).partition_and_fuse()


def cse(fx: Any, n: int) -> Work:
    graph = fx.Graph()
    x = graph.placeholder("x")
    values = [x]
    for index in range(n // 2):
        values.append(graph.call_function(torch.add, (values[index // 2], index % 3)))
    for index in range(n // 2):
        values.append(graph.call_function(torch.add, (values[index // 2], index % 3)))
    graph.output(values[-8:])
    gm = fx.GraphModule(nn.Module(), graph)
    run = _part(fx, "passes.dialect.common.cse_pass.CSEPass")()
    return lambda: run(gm)


def dce(fx: Any, n: int) -> Work:
    graph = fx.Graph()
    x = value = graph.placeholder("x")
    for _ in range(n // 2):
        value = graph.call_function(torch.sin, (value,))
        graph.call_function(torch.cos, (x,))
    graph.output(value)
    return lambda: graph.eliminate_dead_code()


def split(fx: Any, n: int) -> Work:
    gm = module_of(fx, n)
    run = _part(fx, "passes.split_module.split_module")
    place = {node: index for index, node in enumerate(gm.graph.nodes)}
    return lambda: run(gm, None, lambda node: place[node] * 20 // n)


def split_by_tags(fx: Any, n: int) -> Work:
    gm = module_of(fx, n)
    run = _part(fx, "passes.split_utils.split_by_tags")
    for index, node in enumerate(gm.graph.nodes):
        node.tag = f"part_{min(index * 20 // n, 19)}"
    tags = [f"part_{number}" for number in range(20)]
    return lambda: run(gm, tags)


ROWS = (
    Row("replace_pattern: one rule", one_rule, 4000),
    Row("replace_pattern: 100 rules", many_rules, 1000),
    Row("replace_pattern: 100 nodes", long_pattern, 4000),
    Row("partitioner: propose", partition, 500),
    Row("partitioner: fuse", partition_and_fuse, 300),
    Row("CSE", cse, 4000),
    Row("DCE", dce, 4000),
    Row("split_module", split, 2000),
    Row("split_by_tags", split_by_tags, 2000),
)
FLOORS = {"replace_pattern": 5.0, "partitioner": 5.0}
"""How many times faster than torch.fx a row must be; 2 where nothing is said."""


def compare(rows: tuple[Row, ...], repeat: int, wanted: int) -> list[str]:
    """Print a line for each row; return those that are too slow."""
    broken, ratios = [], []
    print(f"{'':<30}{'nodes':>8}{'symtrace ms':>13}{'torch.fx ms':>13}{'ratio':>9}")
    for row in rows:
        size = wanted or row.size
        ours, theirs = fastest(row, (symtrace, torch.fx), size, repeat)
        ratios.append(theirs / ours)
        print(
            f"{row.name:<30}{size:>8}{ours * 1e3:>13.2f}{theirs * 1e3:>13.2f}{theirs / ours:>8.1f}x",
            flush=True,
        )
        floor = next((value for name, value in FLOORS.items() if row.name.startswith(name)), 2.0)
        if theirs / ours < floor:
            broken.append(f"{row.name}: {theirs / ours:.2f}x is under {floor}x")
    print(f"{'geometric mean':<64}{math.exp(sum(map(math.log, ratios)) / len(ratios)):>8.1f}x")
    return broken


def growth(rows: tuple[Row, ...], repeat: int, start: int) -> None:
    """Print microseconds for each node as programs grow."""
    sizes = [start, start * 2, start * 4, start * 8]
    print(f"{'us for each node at':<30}" + "".join(f"{size:>10}" for size in sizes))
    for row in rows:
        times = [min(seconds(row, symtrace, size) for _ in range(repeat)) / size * 1e6 for size in sizes]
        print(f"{row.name:<30}" + "".join(f"{value:>10.2f}" for value in times), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument(
        "--growth", action="store_true", help="time for each node at n, 2n, 4n, 8n instead of ratios"
    )
    parser.add_argument("--start", type=int, default=25_000, help="the smallest size of --growth")
    parser.add_argument(
        "--size", type=int, default=0, help="nodes of every program; by default each row's own"
    )
    parser.add_argument("--check", action="store_true", help="exit with 1 where a row is too slow")
    parser.add_argument("--only", default="", help="rows whose name contains this")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = tuple(row for row in ROWS if options.only in row.name)
    gc.freeze()
    start = time.perf_counter()
    if options.growth:
        growth(rows, options.repeat, options.start)
        broken: list[str] = []
    else:
        broken = compare(rows, options.repeat, options.size)
    print(f"{time.perf_counter() - start:.0f} s")
    for line in broken:
        print(line, file=sys.stderr)
    return 1 if options.check and broken else 0


if __name__ == "__main__":
    sys.exit(main())
