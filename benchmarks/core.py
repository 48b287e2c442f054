"""Core operations of symtrace against torch.fx, in turn, in one process.

python benchmarks/core.py              # the table of ratios
python benchmarks/core.py --check      # and fail where budgets.toml is broken
python benchmarks/core.py --growth     # cost per node at n, 2n, 4n
"""

from __future__ import annotations

import argparse
import gc
import math
import sys
from pathlib import Path
from typing import Any

import torch.fx
from measure import bytes_per_node, fastest
from rows import ROWS, Row

import symtrace

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # pytest brings it

BUDGETS = Path(__file__).with_name("budgets.toml")


def compare(rows: tuple[Row, ...], repeat: int) -> dict[str, float]:
    """Print the table and return the ratio of each row."""
    print(f"{'operation':<26}{'torch.fx':>12}{'symtrace':>12}{'ratio':>9}    (microseconds per node)")
    ratios = {}
    for row in rows:
        theirs, ours = fastest(row, (torch.fx, symtrace), row.size, repeat)
        ratios[row.name] = theirs / ours
        scale = 1e6 / row.size
        print(f"{row.name:<26}{theirs * scale:>12.2f}{ours * scale:>12.2f}{theirs / ours:>8.2f}x", flush=True)
    geomean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    print(f"{'geometric mean':<26}{'':>24}{geomean:>8.2f}x")
    theirs_memory, our_memory = bytes_per_node(torch.fx), bytes_per_node(symtrace)
    ratio = theirs_memory / our_memory
    print(f"{'memory, bytes per node':<26}{theirs_memory:>12.0f}{our_memory:>12.0f}{ratio:>8.2f}x")
    return {**ratios, "geometric mean": geomean, "memory per node": ratio}


def growth(rows: tuple[Row, ...], repeat: int) -> dict[str, float]:
    """Print the cost per node at n, 2n and 4n; return the largest over the smallest for each row."""
    print(f"{'microseconds per node':<26}{'n':>10}{'2n':>10}{'4n':>10}{'spread':>9}")
    spreads = {}
    for row in rows:
        costs = [fastest(row, (symtrace,), row.size * k, repeat)[0] / (row.size * k) * 1e6 for k in (1, 2, 4)]
        spreads[row.name] = max(costs[1:]) / costs[0]
        cells = "".join(f"{cost:>10.2f}" for cost in costs)
        print(f"{row.name:<26}{cells}{spreads[row.name]:>8.2f}x", flush=True)
    return spreads


def broken_budgets(results: dict[str, float], budgets: dict[str, Any]) -> list[str]:
    """Return one line for each ratio under its floor."""
    floors = budgets["floor"]
    return [
        f"{name}: {value:.2f}x is under the floor of {floors.get(name, floors['each'])}x"
        for name, value in results.items()
        if value < floors.get(name, floors["each"])
    ]


def broken_growth(spreads: dict[str, float], budgets: dict[str, Any]) -> list[str]:
    """Return one line for each row whose cost per node grows with the graph."""
    limit = budgets["growth"]["limit"]
    return [
        f"{name}: cost per node grows {spread:.2f}x" for name, spread in spreads.items() if spread > limit
    ]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--growth", action="store_true", help="cost per node at n, 2n, 4n instead of ratios")
    parser.add_argument("--check", action="store_true", help="exit with 1 where budgets.toml is broken")
    parser.add_argument("--repeat", type=int, default=7, help="timed repetitions of each")
    parser.add_argument("--only", default="", help="rows whose name contains this")
    options = parser.parse_args()
    rows = tuple(row for row in ROWS if options.only in row.name)
    budgets = tomllib.loads(BUDGETS.read_text())
    gc.freeze()
    if options.growth:
        broken = broken_growth(growth(rows, options.repeat), budgets)
    else:
        broken = broken_budgets(compare(rows, options.repeat), budgets)
    for line in broken:
        print(line, file=sys.stderr)
    return 1 if options.check and broken else 0


if __name__ == "__main__":
    sys.exit(main())
