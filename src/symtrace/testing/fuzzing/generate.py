"""Random programs from a stream of random choices."""

from __future__ import annotations

import random

from .forms import BLOCKS, GROUPS, OUTPUTS, SETUPS, SIGNATURES
from .program import Block, Program, Statement

__all__ = ["random_source"]

_WEIGHTS = {
    "function": 8, "write": 4, "draw": 3, "state": 5, "call": 5,
    "container": 3, "question": 2, "mode": 1, "refused": 0.2,
}  # fmt: skip
_KINDS = tuple(_WEIGHTS)
_SHARES = tuple(_WEIGHTS.values())
_INPUTS = tuple(name for name in SIGNATURES if name != "inner")


def _body(choices: random.Random, length: int, depth: int) -> tuple[Statement | Block, ...]:
    found: list[Statement | Block] = []
    for _ in range(length):
        if depth and choices.random() < 0.12:
            inner = _body(choices, choices.randint(1, 3), depth - 1)
            found.append(Block(choices.choice(tuple(BLOCKS)), inner))
        else:
            kind = choices.choices(_KINDS, _SHARES)[0]
            operands = (choices.randrange(16), choices.randrange(16))
            # The latest value more often than not, so that programs are deep.
            if choices.random() < 0.5:
                operands = (-1, operands[1])
            found.append(Statement(choices.choice(GROUPS[kind]), operands, choices.randrange(4)))
    return tuple(found)


def random_source(choices: random.Random, length: int) -> Program:
    """Return a random program.

    Args:
        choices: Where decisions come from; Hypothesis's `randoms()` shrinks well.
        length: Number of statements of the root.

    >>> program = random_source(random.Random(0), 3)
    >>> "class Program(nn.Module):" in program.source()
    True
    """
    inner = tuple(_body(choices, choices.randint(1, 4), 1) for _ in range(choices.choice((0, 0, 1, 2))))
    plain = choices.random() < 0.5
    return Program(
        body=_body(choices, length, 2),
        inner=inner,
        signature="two" if plain else choices.choice(_INPUTS),
        output=choices.choice(("one", "tuple")) if plain else choices.choice(tuple(OUTPUTS)),
        results=(choices.choice((-1, choices.randrange(16))), choices.randrange(16)),
        setup=(choices.choice(SETUPS),) if choices.random() < 0.15 else (),
        seed=choices.randrange(1000),
    )
