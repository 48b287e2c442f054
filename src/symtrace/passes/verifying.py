"""Comparing what a module does before and after a pass."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ..runtime import GraphModule

__all__ = ["difference"]


def difference(
    before: GraphModule, after: GraphModule, inputs: tuple[Any, ...], *, rtol: float, atol: float
) -> str | None:
    """Return how a module differs from what it was, on one call; None if it does not.

    Both are run as copies, on copies of the inputs, from the same random state.

    Args:
        before: The module as it was.
        after: The module as it is.
        inputs: Arguments of the call.
        rtol: Relative tolerance.
        atol: Absolute tolerance.
    """
    state = torch.get_rng_state()
    try:
        expected = _outcome(before, inputs, state)
        try:
            actual = _outcome(after, inputs, state)
        except Exception as error:
            return f"it raises {type(error).__name__}: {' '.join(str(error).split())}"
    finally:
        torch.set_rng_state(state)
    for what, left, right in zip(("result", "inputs after the call"), actual[:2], expected[:2], strict=True):
        found = _compare(what, left, right, rtol, atol)
        if found is not None:
            return found
    if not torch.equal(actual[2], expected[2]):
        return "it draws other random numbers"
    replaced = _tensors(after)
    for name, tensor in _tensors(before).items():
        if replaced.get(name) is tensor:  # what the pass has put there itself is another thing
            found = _compare(f"`{name}` after the call", actual[3][name], expected[3][name], rtol, atol)
            if found is not None:
                return found
    return None


def _tensors(module: GraphModule) -> dict[str, torch.Tensor]:
    return {**dict(module.named_parameters()), **dict(module.named_buffers())}


def _outcome(module: GraphModule, inputs: tuple[Any, ...], state: torch.Tensor) -> tuple[Any, ...]:
    own, args = copy.deepcopy(module), copy.deepcopy(inputs)
    torch.set_rng_state(state)
    with torch.no_grad():
        result = own(*args)
    return result, args, torch.get_rng_state(), _tensors(own)


def _compare(what: str, actual: Any, expected: Any, rtol: float, atol: float) -> str | None:
    left, left_spec = pytree.tree_flatten(actual)
    right, right_spec = pytree.tree_flatten(expected)
    if left_spec != right_spec:
        return f"{what} has another structure"
    for one, other in zip(left, right, strict=True):
        if not (isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor)):
            try:
                same = bool(one == other) or (one != one and other != other)
            except Exception:  # values that can't be compared
                same = True
            if not same:
                return f"{what}: {one!r} instead of {other!r}"
            continue
        try:
            torch.testing.assert_close(one, other, rtol=rtol, atol=atol, equal_nan=True)
        except AssertionError as error:
            return f"{what}: {' '.join(str(error).split())}"
    return None
