"""Captures GPT-2 with 12, 24 and 48 layers: what a capture costs for each layer, and against torch.export.

    python benchmarks/depth.py [--rounds N]

Each time is the smallest of some rounds, each in a forked copy of this process with the heap kept out of garbage
collection; the first capture in a copy, and the second.
"""

from __future__ import annotations

import argparse
import gc

import torch
from transformers import GPT2Config, GPT2LMHeadModel

import symtrace
from zoo import seconds_apart

DEPTHS = (12, 24, 48)


def measured(depth: int, rounds: int) -> tuple[list[float], list[float]]:
    """Return the times of two captures and two exports of a model with so many layers."""
    config = GPT2Config(n_layer=depth, n_embd=64, n_head=4, vocab_size=100, use_cache=False)
    model = GPT2LMHeadModel(config).eval()
    tokens = torch.zeros(2, 16, dtype=torch.int64)
    gc.collect()
    gc.freeze()
    works = (
        lambda: symtrace.capture(model, (tokens,)),
        lambda: torch.export.export(model, (tokens,), strict=False),
    )
    best: list[list[float]] = [[], []]
    for _ in range(rounds):
        for index, work in enumerate(works):
            times = seconds_apart(work)
            assert times is not None, "a capture or an export failed"
            best[index] = [min(pair) for pair in zip(times, best[index] or times, strict=True)]
    gc.unfreeze()
    return best[0], best[1]


def main() -> None:
    """Print one line for each depth."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(1)
    small, example = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()), (torch.ones(3, 2),)
    symtrace.capture(small, example)
    torch.export.export(small, example, strict=False)
    for depth in DEPTHS:
        capture, export = measured(depth, options.rounds)
        for which, mine, theirs in zip(("first", "second"), capture, export, strict=True):
            print(
                f"{depth} layers, {which}: capture {mine:.2f} s, {mine / depth * 1000:.1f} ms a layer; "
                f"torch.export {theirs:.2f} s; ratio {theirs / mine:.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
