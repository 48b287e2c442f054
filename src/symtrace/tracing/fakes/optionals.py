"""What operations give for values that may be None: for the value that is there, and for None where they take that."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch.utils._pytree as pytree  # the public home of pytrees, underscore and all (torch 2.13, 2.14)

from ...errors import TraceError
from ...values import FakeTensor
from ..hooks import unwatched
from .evaluate import Contradiction, Undecided
from .numbers import NUMBERS

if TYPE_CHECKING:
    from ...ir import Node
    from .tracer import ExampleTracer

__all__ = ["evaluated"]

_MOST = 3
"""How many values that may be None an operation may take for all ways to be looked at."""


class _Other(Exception):
    """Two results can't be told of as one."""


def evaluated(tracer: ExampleTracer, node: Node, args: Any, kwargs: Any) -> tuple[Any, Any, bool, bool]:
    """Return what an operation gives for the example, what it could with other data, and whether data decides.

    Args:
        tracer: Records.
        node: The operation.
        args: Its arguments, as the program gave them.
        kwargs: Its keyword arguments.

    Returns:
        These three, and whether the result may be None.

    Raises:
        Undecided: Only the data decides what it gives.
    """
    kind, target = node.op, node.target
    value, other, is_open = tracer._evaluate(kind, target, args, kwargs)
    given = list(_optionals_in(tracer, (args, kwargs)))
    if not given:
        return value, other, is_open, False
    is_optional = False
    raising = set(given)
    try:
        for absent in _subsets(given):
            without = _without(args, absent), _without(kwargs, absent)
            try:
                result = tracer._evaluate(kind, target, *without)
            except (Undecided, Contradiction, TraceError):
                raise _Other from None
            except Exception:  # as the run will, too: what is computed from here on has a value
                continue
            raising -= set(absent)
            if result[0] is None and value is not None:
                is_optional = True
            else:
                value, other, is_open = _both(tracer, (value, other, is_open), result)
    except _Other:
        tracer.note_mixed(node)
        raise Undecided from None
    tracer.settle(dict.fromkeys(raising, False))
    return value, other, is_open, is_optional


def _subsets(given: list[int]) -> Iterator[tuple[int, ...]]:
    if len(given) > _MOST:
        raise _Other
    for count in range(1, len(given) + 1):
        yield from itertools.combinations(given, count)


def _optionals_in(tracer: ExampleTracer, value: Any) -> set[int]:
    return {id(leaf) for leaf in pytree.tree_leaves(value) if tracer.is_optional(leaf)}


def _without(value: Any, absent: tuple[int, ...]) -> Any:
    return pytree.tree_map(lambda leaf: None if id(leaf) in absent else leaf, value)


def _both(tracer: ExampleTracer, one: Any, two: Any) -> tuple[Any, Any, bool]:
    """Return what stands for either of two results."""
    leaves, spec = pytree.tree_flatten(one[0])
    others, other_spec = pytree.tree_flatten(two[0])
    if spec != other_spec:
        raise _Other
    differ = False
    for a, b in zip(leaves, others, strict=True):
        if type(a) is not type(b):
            raise _Other
        if type(a) is FakeTensor:
            if not tracer._are_alike(a, b):
                raise _Other
            with unwatched():
                differ = differ or a.shape != b.shape
        elif type(a) in NUMBERS:
            differ = differ or a != b
        elif a is not b:
            raise _Other
    if not differ:
        return one[0], one[1], one[2] or two[2]
    if one[2] or two[2]:
        raise _Other
    tracer._evaluator.keep_other(one[0], two[0])
    return one[0], two[0], True
