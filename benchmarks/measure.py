"""Timing and memory: interleaved repetitions, collector off while the clock runs."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Sequence
from typing import Any

from rows import Row, chain


def seconds(row: Row, library: Any, n: int) -> float:
    """Prepare and time one repetition, in processor time: other work on the machine does not count."""
    work = row.prepare(library, n)
    gc.collect()
    gc.disable()
    try:
        start = time.process_time()
        work()
        return time.process_time() - start
    finally:
        gc.enable()


def fastest(row: Row, libraries: Sequence[Any], n: int, repeat: int) -> list[float]:
    """Time the libraries in turn, `repeat` times, and return the fastest time of each."""
    times: list[list[float]] = [[] for _ in libraries]
    for _ in range(repeat + 1):
        for index, library in enumerate(libraries):
            times[index].append(seconds(row, library, n))
    return [min(runs[1:]) for runs in times]  # the first one warms up


def bytes_per_node(library: Any, n: int = 10_000) -> float:
    """Return the memory that a chained node takes."""
    chain(library, 100)
    gc.collect()
    tracemalloc.start()
    try:
        graph = chain(library, n)
        gc.collect()
        return tracemalloc.get_traced_memory()[0] / n if graph is not None else 0.0
    finally:
        tracemalloc.stop()
