"""What it costs to capture control flow, and to run it: against the same program in eager.

Run with `python benchmarks/control_flow.py`.
"""

from __future__ import annotations

import linecache
import time
from collections.abc import Callable
from functools import partial
from typing import Any
from unittest import mock

import torch

import symtrace as fx
from symtrace import Tracer


def straight(x: Any) -> Any:
    """No decision."""
    for _ in range(20):
        x = torch.tanh(x * 1.01)
    return x


def branches(x: Any) -> Any:
    """Ten decisions."""
    for _ in range(10):
        if x.sum() > 0:
            x = torch.tanh(x * 1.01)
        else:
            x = torch.tanh(x) + 1
    return x


def halving(x: Any) -> Any:
    """Some forty rounds, each of which the data decides."""
    x = x * 1e12
    while x.sum() > 1:
        x = x / 2
    return x


def exit_early(x: Any) -> Any:
    """Ten layers, each of which may be the last."""
    for _ in range(10):
        x = torch.tanh(x @ x * 0.01)
        if x.abs().max() > 100:
            return x
    return x


def deciding(count: int, functions: int = 1) -> Any:
    """Return a program of some functions with as many decisions each."""
    lines = []
    for number in range(functions):
        body = "".join(f"    if x.sum() > {index}:\n        x = x + {index}\n" for index in range(count))
        lines.append(f"def part{number}(x):\n{body}    return x\n")
    calls = "".join(f"    x = part{number}(x)\n" for number in range(functions))
    source = "\n".join([*lines, f"def program(x):\n{calls}    return x\n"])
    file = f"<{count} decisions in {functions}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    namespace: dict[str, Any] = {}
    exec(compile(source, file, "exec"), namespace)
    return namespace["program"]


def traces(program: Any, *examples: Any) -> int:
    """Return how often a capture runs the program."""
    count = 0
    original = Tracer._trace_once

    def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal count
        count += 1
        return original(self, *args, **kwargs)

    with mock.patch.object(Tracer, "_trace_once", counted):
        fx.capture(program, *examples)
    return count


def best(function: Callable[[], Any], times: int) -> float:
    """Return the least of several times, of the processor."""
    found = []
    for _ in range(times):
        start = time.process_time()
        function()
        found.append(time.process_time() - start)
    return min(found)


def best_of_two(one: Callable[[], Any], two: Callable[[], Any], times: int) -> tuple[float, float]:
    """Return the least times of two functions that take turns, so that both see the same machine."""
    found = [(best(one, 1), best(two, 1)) for _ in range(times)]
    return min(pair[0] for pair in found), min(pair[1] for pair in found)


def main() -> None:
    """Print the tables."""
    torch.set_num_threads(1)
    x = torch.ones(64, 64)
    print(f"{'program':11} {'capture':>9} {'examples':>9} {'eager':>9} {'captured':>9} {'ratio':>6}")
    for program in (straight, branches, halving, exit_early):
        plain = best(partial(fx.capture, program), 3)
        examples = best(partial(fx.capture, program, (x,)), 3)
        module = fx.capture(program)
        eager, run = best_of_two(partial(program, x), partial(module, x), 300)
        print(f"{program.__name__:11} {plain * 1e3:7.1f}ms {examples * 1e3:7.1f}ms "
              f"{eager * 1e6:7.0f}us {run * 1e6:7.0f}us {run / eager:6.2f}")  # fmt: skip
    print("\na program that decides nothing, captured with control flow kept, and refused")
    for name, given in (("without examples", ()), ("with examples", ((x,),))):
        refusing = partial(fx.capture, straight, *given, control_flow="refuse")
        kept, refused = best_of_two(partial(fx.capture, straight, *given), refusing, 15)
        print(f"{name:17} {kept * 1e3:7.1f}ms {refused * 1e3:7.1f}ms {kept / refused:6.2f}")
    print("\ntraces of a capture, without and with examples")
    for count, functions in ((0, 1), (1, 1), (4, 1), (16, 1), (4, 2), (4, 4), (1, 8)):
        program = deciding(count, functions)
        print(f"{count:3} decisions in each of {functions} functions: "
              f"{traces(program)} {traces(deciding(count, functions), (x,))}")  # fmt: skip


if __name__ == "__main__":
    main()
