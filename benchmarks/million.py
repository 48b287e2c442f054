"""One million chained nodes: build, copy, print, lint, clean, pickle and run, with time and peak memory.

python benchmarks/million.py [--nodes 1000000]
"""

from __future__ import annotations

import argparse
import gc
import operator
import pickle
import resource
import tempfile
import time
from collections.abc import Callable
from typing import Any

from rows import chain
from torch import nn

import symtrace


def step(name: str, work: Callable[[], Any]) -> Any:
    """Run one step and print what it took."""
    gc.collect()
    start = time.perf_counter()
    result = work()
    elapsed = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    print(f"{name:<24}{elapsed:>9.2f} s   peak {peak:>6.2f} GiB", flush=True)
    return result


def print_to_file(graph: Any) -> int:
    """Print the graph to a file and return the number of lines."""
    with tempfile.TemporaryFile("w+") as file:
        print(graph, file=file)
        file.seek(0)
        return sum(1 for _ in file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=1_000_000)
    n = parser.parse_args().nodes
    graph = step("build", lambda: chain(symtrace, n))
    copied = step("copy", lambda: symtrace.Graph().graph_copy(graph, {}))
    assert copied is not None
    del copied
    assert step("print to a file", lambda: print_to_file(graph)) == n + 3
    step("lint", graph.lint)
    with graph.inserting_before(graph.output_node()):
        first = next(iter(graph.nodes))
        for _ in range(1000):
            first = graph.call_function(operator.neg, (first,))
    assert step("dead code elimination", graph.eliminate_dead_code)
    gm = step("graph module", lambda: symtrace.GraphModule(nn.Module(), graph))
    assert step("Interpreter", lambda: symtrace.Interpreter(gm).run(1)) == (1 if n % 2 == 0 else -1)
    data = step("pickle", lambda: pickle.dumps(gm))
    back = step("unpickle", lambda: pickle.loads(data))
    assert len(back.graph.nodes) == n + 2


if __name__ == "__main__":
    main()
