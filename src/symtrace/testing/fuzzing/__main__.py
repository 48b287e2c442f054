"""`python -m symtrace.testing.fuzzing COUNT [--seed S] [--door NAME]`: capture random programs and compare them."""

from __future__ import annotations

import argparse
import collections
import random
import sys
import time

import torch

from .compare import DOORS, Verdict, compare
from .generate import random_source
from .program import Program
from .shrink import shrink


def program_of(seed: int, *, has_flow: bool = False) -> Program:
    """Return the program of one number."""
    choices = random.Random(seed)
    return random_source(choices, choices.randint(1, 8 if has_flow else 10), has_flow=has_flow)


def _door_of(seed: int, wanted: str) -> str:
    return tuple(DOORS)[seed % len(DOORS)] if wanted == "all" else wanted


def _report(seed: int, program: Program, door: str, verdict: Verdict) -> None:
    first = verdict.detail.partition(":")[0]

    def fails(candidate: Program) -> bool:
        try:
            found = compare(candidate, door)
        except SyntaxError:
            return False
        return found.kind == "differs" and first[:4] in found.detail

    smallest = shrink(program, fails, 400)
    print(f"\nprogram {seed} ({door}): {verdict.detail}\n{compare(smallest, door).detail}")
    print(smallest.source(), flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 1 if a program differs."""
    parser = argparse.ArgumentParser(prog="python -m symtrace.testing.fuzzing", description=__doc__)
    parser.add_argument("count", type=int, help="how many programs")
    parser.add_argument("--seed", type=int, default=0, help="number of the first program")
    parser.add_argument("--door", choices=[*DOORS, "all"], default="symbolic_trace", help="how to capture")
    parser.add_argument(
        "--shrink", type=int, default=10, help="how many failing programs to shrink and print"
    )
    parser.add_argument("--control-flow", action="store_true", help="let data decide which way programs go")
    parser.add_argument("--refusals", action="store_true", help="print one message for each code")
    options = parser.parse_args(arguments)
    kinds: collections.Counter[str] = collections.Counter()
    details: collections.Counter[str] = collections.Counter()
    messages: dict[str, str] = {}
    failing: list[int] = []
    unstable: list[int] = []
    torch.set_num_threads(1)  # on matrices of four columns threads only wait for each other
    start = time.perf_counter()
    for number, seed in enumerate(range(options.seed, options.seed + options.count), 1):
        program = program_of(seed, has_flow=options.control_flow)
        door = _door_of(seed, options.door)
        verdict = compare(program, door)
        kinds[verdict.kind] += 1
        if verdict.kind == "refused":
            details[verdict.detail] += 1
            reason = verdict.message.splitlines()[0] + "".join(
                line.partition("-->")[2] for line in verdict.message.splitlines()[1:2]
            )
            messages.setdefault(verdict.detail, f"{reason} (program {seed})")
        elif verdict.kind == "unstable":
            unstable.append(seed)
        elif verdict.kind == "differs":
            failing.append(seed)
            if len(failing) <= options.shrink:
                _report(seed, program, door, verdict)
        if number % 1000 == 0:
            spent = time.perf_counter() - start
            print(f"{number}: {dict(kinds)} in {spent:.0f} s", file=sys.stderr, flush=True)
    total = max(1, sum(kinds.values()))
    for kind in ("equal", "raises", "guarded", "refused", "unstable", "differs"):
        print(f"{kind:>8} {kinds[kind]:>8}  {100 * kinds[kind] / total:5.1f} %")
    for code, count in details.most_common():
        print(f"{code:>16} {count:>8}  {messages[code] if options.refusals else ''}")
    if unstable:
        print("unstable programs:", *unstable[:50])
    if failing:
        print("failing programs:", *failing[:50])
    return 1 if failing else 0


if __name__ == "__main__":
    sys.exit(main())
