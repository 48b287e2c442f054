"""Random programs through passes and random pipelines: values, gradients, state and draws stay what they are.

python -m tests.rewrite.campaign --programs 20000
"""

from __future__ import annotations

import argparse
import copy
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator

import torch

from symtrace import symbolic_trace
from symtrace.ir import region_uses
from symtrace.passes import Pipeline, split_module
from symtrace.testing import assert_equivalent, assert_same_value, random_program

from .in_regions import put_into_regions
from .networks import RandomNetwork

EXACT = (
    "cse",
    "dce",
    "remove-identity",
    "functionalize",
    "const-fold",
    "normalize",
    "inline",
    "outline{path=block}",
    "reinplace",
    "functionalize,reinplace",
)
ROUNDING = ("decompose", "merge-matmul")
EVALUATION = (
    "specialize-evaluation",
    "merge-linear",
    "remove-dropout",
    "fuse-conv-bn",
    "fuse-conv-scale",
    "fuse-conv-conv",
    "const-fold{parameters=true}",
)
"""Passes whose result is for evaluation: state and gradients of what they fold are others."""
ALL = (*EXACT, *ROUNDING, *EVALUATION)
CLOSE = {"rtol": 1e-6, "atol": 1e-8}


def pipelines(choices: random.Random) -> Iterator[str]:
    """Each pass alone, then a random pipeline."""
    yield choices.choice(ALL)
    yield ",".join(choices.choice(ALL) for _ in range(choices.randint(2, 6)))


def program_of(choices):
    """A random program in a random mode, and inputs."""
    if choices.random() < 0.5:
        program = random_program(choices, choices.randint(3, 14))
        shape: tuple[int, ...] = (3, 4)
    else:
        program = RandomNetwork(choices, choices.randint(2, 10))
        shape = (2, 3, 5, 5)
    inputs = tuple(torch.rand(shape, dtype=torch.float64) - 0.5 for _ in range(2))
    return program.double().train(choices.random() < 0.5), inputs


def split_at_random(gm, choices):
    """The program in stages, so that there is something to inline."""
    place = {node: index for index, node in enumerate(gm.graph.nodes)}
    width = choices.randint(2, 5)
    return split_module.split_module(gm, None, lambda node: place[node] // width)


def same_gradients_and_state(program, gm, inputs, modes):
    """Splitting and outlining register tensors a second time, under longer names."""
    for mode in modes:
        outcomes = []
        for module in (copy.deepcopy(program).train(mode), copy.deepcopy(gm).train(mode)):
            torch.manual_seed(0)
            own = [value.clone().requires_grad_() for value in inputs]
            results = module(*own)
            results = results if isinstance(results, tuple) else (results,)
            total = sum((value.sum() for value in results if value.requires_grad), torch.zeros(()))
            try:
                if total.requires_grad:
                    total.backward()
            except RuntimeError:  # the program writes to what its own backward pass wants
                if not outcomes:
                    return
                raise
            tensors = dict(module.named_parameters(remove_duplicate=False))
            tensors |= dict(module.named_buffers(remove_duplicate=False))
            outcomes.append((own, tensors))
        (left, tensors), (right, others) = outcomes
        assert_same_value(
            [value.grad for value in right], [value.grad for value in left], "gradients", **CLOSE
        )
        for name, tensor in tensors.items():
            names = [n for n in others if n == name or n.endswith(f".{name}")]
            for other in (others[n] for n in names):
                assert_same_value(other.detach(), tensor.detach(), f"state {name}", **CLOSE)
            grads = [others[n].grad for n in names if others[n].grad is not None]
            if tensor.grad is not None:
                assert grads, f"no gradient of {name}"
                assert_same_value(grads[0], tensor.grad, f"gradient of {name}", **CLOSE)


def check(seed: int) -> list[str]:
    """Run one random program through one pass and one pipeline; return which passes changed something.

    "regions" stands for a program that has some.
    """
    changed = []
    for text in pipelines(random.Random(seed)):
        choices = random.Random(seed)
        program, inputs = program_of(choices)
        try:
            copy.deepcopy(program)(*copy.deepcopy(inputs))
        except RuntimeError:  # a program that eager refuses
            continue
        gm = symbolic_trace(program)
        if choices.random() < 0.7:
            put_into_regions(gm, choices)
        if choices.random() < 0.3:
            gm = split_at_random(gm, choices)
        if any(region_uses(node) for node in gm.graph.nodes):
            changed.append("regions")
        pipeline = Pipeline(text)
        try:
            pipeline(gm)
            for_evaluation = any(name in text for name in EVALUATION)
            folds = any(word in text for word in ("parameters=true", "fuse", "merge-linear"))
            modes = [program.training] if for_evaluation else [True, False]
            original = symbolic_trace(program)
            assert_equivalent(
                program, gm, inputs, seeds=(0,), modes=modes, gradients=False, state=False, **CLOSE
            )
            if not folds:
                same_gradients_and_state(original, gm, inputs, modes)
        except Exception as error:
            raise AssertionError(f"seed {seed}, pipeline {text}\n{program}\n{gm.code}") from error
        changed += [step.name for step in pipeline.history if step.modified]
    return changed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    counts: Counter[str] = Counter()
    wrong = 0
    start = time.perf_counter()
    for seed in range(options.first, options.first + options.programs):
        try:
            counts.update(check(seed))
        except AssertionError as error:
            wrong += 1
            print(error, error.__cause__, sep="\n", flush=True)
        if (seed + 1) % 1000 == 0:
            print(
                f"{seed + 1 - options.first} programs, {wrong} wrong, {time.perf_counter() - start:.0f} s",
                flush=True,
            )
    print(f"{options.programs} programs, {wrong} wrong; passes that changed something:")
    for name, count in sorted(counts.items()):
        print(f"  {name:<32}{count}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
