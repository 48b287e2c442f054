"""What it costs to capture control flow, and to run it: against the same program in eager.

Run with `python benchmarks/control_flow.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

import symtrace as fx


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


def best(function: Callable[[], Any], times: int) -> float:
    """Return the least of several times."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        found.append(time.perf_counter() - start)
    return min(found)


def main() -> None:
    """Print the table."""
    x = torch.ones(64, 64)
    print(f"{'program':10} {'capture':>9} {'examples':>9} {'eager':>9} {'captured':>9} {'ratio':>6}")
    for program in (straight, branches, halving):
        plain = best(partial(fx.capture, program), 3)
        examples = best(partial(fx.capture, program, (x,)), 3)
        module = fx.capture(program)
        eager, run = best(partial(program, x), 200), best(partial(module, x), 200)
        print(f"{program.__name__:10} {plain * 1e3:7.1f}ms {examples * 1e3:7.1f}ms "
              f"{eager * 1e6:7.0f}us {run * 1e6:7.0f}us {run / eager:6.2f}")  # fmt: skip


if __name__ == "__main__":
    main()
