"""Random programs from a stream of random choices."""

from __future__ import annotations

import random

from .forms import BLOCKS, GROUPS, OUTPUTS, SETUPS, SIGNATURES
from .forms_flow import FLOW_BLOCKS
from .program import Block, Program, Statement

__all__ = ["random_source"]

_WEIGHTS = {
    "function": 8, "write": 4, "draw": 3, "state": 5, "call": 5,
    "container": 3, "question": 2, "mode": 1, "refused": 0.2,
}  # fmt: skip
_KINDS = tuple(_WEIGHTS)
_SHARES = tuple(_WEIGHTS.values())
_PLAIN_BLOCKS = tuple(name for name in BLOCKS if name not in FLOW_BLOCKS)
_WITH_FLOW = (*_KINDS, "flow"), (*_SHARES, 8)
_INPUTS = tuple(name for name in SIGNATURES if name != "inner")


def _body(
    choices: random.Random, length: int, depth: int, *, has_flow: bool
) -> tuple[Statement | Block, ...]:
    kinds, shares = _WITH_FLOW if has_flow else (_KINDS, _SHARES)
    blocks = (*BLOCKS, *FLOW_BLOCKS) if has_flow else _PLAIN_BLOCKS
    found: list[Statement | Block] = []
    for _ in range(length):
        if depth and choices.random() < (0.25 if has_flow else 0.12):
            inner = _body(choices, choices.randint(1, 3), depth - 1, has_flow=has_flow)
            found.append(Block(choices.choice(blocks), inner))
        else:
            kind = choices.choices(kinds, shares)[0]
            operands = (choices.randrange(16), choices.randrange(16))
            # The latest value more often than not, so that programs are deep.
            if choices.random() < 0.5:
                operands = (-1, operands[1])
            found.append(Statement(choices.choice(GROUPS[kind]), operands, choices.randrange(4)))
    return tuple(found)


def random_source(choices: random.Random, length: int, *, has_flow: bool = False) -> Program:
    """Return a random program.

    Args:
        choices: Where decisions come from; Hypothesis's `randoms()` shrinks well.
        length: Number of statements of the root.
        has_flow: Let data decide which way the program goes.

    >>> program = random_source(random.Random(0), 3)
    >>> "class Program(nn.Module):" in program.source()
    True
    """
    inner = tuple(
        _body(choices, choices.randint(1, 4), 1, has_flow=has_flow)
        for _ in range(choices.choice((0, 0, 1, 2)))
    )
    plain = choices.random() < 0.5
    return Program(
        body=_body(choices, length, 2, has_flow=has_flow),
        inner=inner,
        signature="two" if plain else choices.choice(_INPUTS),
        output=choices.choice(("one", "tuple")) if plain else choices.choice(tuple(OUTPUTS)),
        results=(choices.choice((-1, choices.randrange(16))), choices.randrange(16)),
        setup=(choices.choice(SETUPS),) if choices.random() < 0.15 else (),
        seed=choices.randrange(1000),
    )
