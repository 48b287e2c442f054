"""Does a captured program mean what the original means?"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.utils import _pytree as pytree

__all__ = ["assert_equivalent", "assert_same_value"]


@dataclass(frozen=True)
class _Call:
    """What one call did: its result, its arguments afterwards, and the random state afterwards."""

    result: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    random_state: torch.Tensor


def assert_same_value(
    actual: Any, expected: Any, what: str = "result", *, rtol: float = 0.0, atol: float = 0.0
) -> None:
    """Check that two values agree in type, structure, dtype, device, need of gradients, and contents.

    Args:
        actual: The value to check.
        expected: What it should be.
        what: Name of the value in the message.
        rtol: Relative tolerance for tensors.
        atol: Absolute tolerance for tensors.

    Raises:
        AssertionError: Naming the first part that differs.

    >>> assert_same_value([torch.ones(2)], [torch.ones(2)])
    """
    if type(actual) is not type(expected):
        raise AssertionError(f"{what}: {type(actual).__name__} instead of {type(expected).__name__}")
    if isinstance(expected, torch.Tensor):
        if actual.requires_grad != expected.requires_grad:
            raise AssertionError(f"{what}: requires_grad is {actual.requires_grad}")
        torch.testing.assert_close(
            actual, expected, rtol=rtol, atol=atol, equal_nan=True, msg=lambda text: f"{what}: {text}"
        )
        return
    parts = _parts(expected)
    if parts is None:
        if not (actual == expected or (actual != actual and expected != expected)):
            raise AssertionError(f"{what}: {actual!r} instead of {expected!r}")
        return
    own = _parts(actual) or {}
    if list(own) != list(parts):
        raise AssertionError(f"{what}: has {list(own)} instead of {list(parts)}")
    for key, value in parts.items():
        assert_same_value(own[key], value, f"{what}[{key!r}]", rtol=rtol, atol=atol)


def _parts(value: Any) -> dict[Any, Any] | None:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, list | tuple):
        return dict(enumerate(value))
    return None


def _fresh(value: Any) -> Any:
    """Return arguments that no other call shares."""

    def clone(leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor):
            return leaf.detach().clone().requires_grad_(leaf.requires_grad)
        return leaf

    return pytree.tree_map(clone, value)


def _call(model: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], seed: int) -> _Call:
    own_args, own_kwargs = _fresh(tuple(args)), _fresh(dict(kwargs))
    torch.manual_seed(seed)
    result = model(*own_args, **own_kwargs)
    return _Call(result, own_args, own_kwargs, torch.get_rng_state())


def _gradients(model: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], seed: int) -> Any:
    """Return the gradients of the summed outputs by inputs (in order) and parameters (by name)."""
    own_args, own_kwargs = _fresh(tuple(args)), _fresh(dict(kwargs))
    leaves = [
        leaf.requires_grad_()
        for leaf in pytree.tree_leaves((own_args, own_kwargs))
        if isinstance(leaf, torch.Tensor) and leaf.is_leaf and leaf.is_floating_point()
    ]
    torch.manual_seed(seed)
    result = model(*own_args, **own_kwargs)
    outputs = [
        leaf for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor) and leaf.requires_grad
    ]
    if not outputs:
        return None
    parameters = dict(model.named_parameters()) if isinstance(model, nn.Module) else {}
    names = sorted(name for name, parameter in parameters.items() if parameter.requires_grad)
    sources = leaves + [parameters[name] for name in names]
    if not sources:
        return None
    totals = [output.abs().sum() if output.is_complex() else output.sum() for output in outputs]
    found = torch.autograd.grad(totals, sources, allow_unused=True)
    return {
        "inputs": list(found[: len(leaves)]),
        "parameters": dict(zip(names, found[len(leaves) :], strict=True)),
    }


def _compare_gradients(
    original: Callable[..., Any],
    captured: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    seed: int,
    tolerance: dict[str, float],
) -> None:
    try:
        expected = _gradients(original, args, kwargs, seed)
    except RuntimeError:
        return  # the program writes to a leaf, or an operator has no derivative: eager can't tell
    assert_same_value(_gradients(captured, args, kwargs, seed), expected, "gradients", **tolerance)


def _own(model: Callable[..., Any]) -> Callable[..., Any]:
    return copy.deepcopy(model) if isinstance(model, nn.Module) else model


def _state(model: Callable[..., Any]) -> dict[str, torch.Tensor]:
    return dict(model.state_dict()) if isinstance(model, nn.Module) else {}


def assert_equivalent(
    original: Callable[..., Any],
    captured: Callable[..., Any],
    inputs: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    *,
    calls: int = 2,
    seeds: Sequence[int] = (0, 1),
    gradients: bool = True,
    state: bool = True,
    modes: Sequence[bool] | None = None,
    rtol: float = 0.0,
    atol: float = 0.0,
) -> None:
    """Check that a captured program means what the original means.

    Both are called several times from the same seeds, on fresh copies of the inputs. Compared are results
    (types, structure, dtypes, devices, contents), what became of the inputs, how much randomness was drawn,
    the state of modules, and gradients. Modules are copied first, so that neither run is felt by the other or
    by the caller.

    Args:
        original: The program.
        captured: Its capture.
        inputs: Positional arguments of one call, or a list of such tuples, for instance of several sizes.
        kwargs: Keyword arguments of each call.
        calls: How often each is called in a row, for effects that add up.
        seeds: Seeds of the random numbers.
        gradients: Whether to compare gradients.
        state: Whether to compare `state_dict()` after the calls.
        modes: Training modes to try; by default the mode that the original is in.
        rtol: Relative tolerance.
        atol: Absolute tolerance.

    Raises:
        AssertionError: Naming what differs first.

    >>> assert_equivalent(lambda x: x + x, lambda x: 2 * x, (torch.ones(3),))
    """
    keywords = dict(kwargs or {})
    tolerance = {"rtol": rtol, "atol": atol}
    cases = list(inputs) if isinstance(inputs, list) else [tuple(inputs)]
    for mode in modes if modes is not None else [None]:
        first, second = _own(original), _own(captured)
        for model in (first, second):
            if mode is not None and isinstance(model, nn.Module):
                model.train(mode)
        for seed in seeds:
            for case in cases:
                for number in range(calls):
                    label = f"call {number} (seed {seed}{'' if mode is None else f', train({mode})'})"
                    expected, actual = _call(first, case, keywords, seed), _call(second, case, keywords, seed)
                    assert_same_value(actual.result, expected.result, f"{label}: result", **tolerance)
                    assert_same_value(
                        actual.args, expected.args, f"{label}: inputs after the call", **tolerance
                    )
                    assert_same_value(
                        actual.kwargs, expected.kwargs, f"{label}: inputs after the call", **tolerance
                    )
                    if not torch.equal(actual.random_state, expected.random_state):
                        raise AssertionError(f"{label}: draws other random numbers")
        if state and isinstance(first, nn.Module):
            assert_same_value(_state(second), _state(first), "state after the calls", **tolerance)
        if gradients:
            _compare_gradients(first, second, cases[0], keywords, seeds[0], tolerance)
