"""Is a captured program the original, in values, gradients, state and random draws, whichever path it takes?"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.utils import _pytree as pytree

import symtrace as fx
from symtrace.testing import assert_same_value

from .program import Program

__all__ = ["captured", "check", "runs"]


@dataclass
class Run:
    """What one call did."""

    result: Any
    inputs: Any
    gradients: list[Any]
    state: dict[str, Any]
    random_state: torch.Tensor
    error: BaseException | None


def _attributes(root: Any) -> dict[str, Any]:
    if not isinstance(root, nn.Module):
        return {}
    found: dict[str, Any] = {f"state {name}": value.clone() for name, value in root.state_dict().items()}
    for path, module in root.named_modules():
        for name, value in vars(module).items():
            if type(value) in (int, float, bool) and not name.startswith("_"):
                found[f"{path}.{name}"] = value
    return found


def run(root: Any, args: tuple[Any, ...], original: Any) -> Run:
    """Call a function or module, and collect all that can be told of the call."""
    leaves, spec = pytree.tree_flatten(args)
    leaves = [leaf.clone() if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
    wanted = [
        leaf.requires_grad_()
        for leaf in leaves
        if isinstance(leaf, torch.Tensor) and leaf.is_floating_point()
    ]
    parameters = list(root.parameters()) if isinstance(root, nn.Module) else []
    for parameter in parameters:
        parameter.grad = None
    torch.manual_seed(7)
    result, error = None, None
    try:
        result = root(*pytree.tree_unflatten(leaves, spec))
    except Exception as raised:
        error = raised
    random_state = torch.get_rng_state()
    summands = [
        leaf.sum()
        for leaf in pytree.tree_leaves(result)
        if isinstance(leaf, torch.Tensor) and leaf.requires_grad
    ]
    if summands:
        torch.stack(summands).sum().backward()
    gradients = [leaf.grad for leaf in (*wanted, *parameters)]
    result = pytree.tree_map(lambda leaf: leaf.detach() if isinstance(leaf, torch.Tensor) else leaf, result)
    known = _attributes(original)
    state = {name: value for name, value in _attributes(root).items() if name in known}
    values = [leaf.detach() if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
    return Run(result, values, gradients, state, random_state, error)


def captured(chosen: Program, with_examples: bool) -> tuple[Any, Any]:
    """Return the original and what `capture` makes of it."""
    torch.manual_seed(0)
    root = chosen.make()
    before = _attributes(root)
    module = fx.capture(root, copy.deepcopy(chosen.inputs[0])) if with_examples else fx.capture(root)
    assert_same_value(_attributes(root), before, "state of the original")
    return root, module


def runs(chosen: Program) -> list[tuple[Any, ...]]:
    """Return the inputs in an order that has each path follow each other one."""
    return [*chosen.inputs, *reversed(chosen.inputs), *chosen.inputs[:1]]


def check(
    chosen: Program,
    with_examples: bool,
    modes: tuple[bool, ...] = (True, False),
    guard: str | None = None,
    interprets: bool = True,
) -> None:
    """Run a program and what is captured of it side by side.

    Args:
        chosen: The program.
        with_examples: Whether the capture has example inputs.
        modes: Of training.
        guard: What the capture assumes of the example, so that it refuses other inputs; it does some.
        interprets: Whether an interpreter runs the graph, too.
    """
    root, module = captured(chosen, with_examples)
    module.graph.lint()
    refused = False
    for training in modes if isinstance(root, nn.Module) else (True,):
        if isinstance(root, nn.Module):
            root.train(training)
            module.train(training)
        for args in chosen.inputs if interprets and guard is None else ():
            interpret(root, module, args, f"training={training}")
        for number, args in enumerate(runs(chosen)):
            where = f"training={training} call {number}"
            refused = _compare(root, module, args, where, guard) or refused
    assert refused is (guard is not None), f"no input breaks what is assumed: {guard}"


def interpret(root: Any, module: Any, args: tuple[Any, ...], where: str) -> None:
    """Run the graph of what was captured node by node, on a copy, and compare what it gives."""
    other, like = copy.deepcopy(module), copy.deepcopy(root)
    expected = run(like, args, root)
    interpreter = fx.Interpreter(other)
    actual = run(interpreter.run, args, None)
    assert type(actual.error) is type(expected.error), (where, actual.error, expected.error)
    assert_same_value(_thawed(actual.result), expected.result, f"{where}: interpreted", rtol=1e-6, atol=1e-7)


def _thawed(value: Any) -> Any:
    """Return a value with plain lists and dicts for those that are arguments of the output."""
    if isinstance(value, dict):
        items = {key: _thawed(item) for key, item in value.items()}
        return items if type(value) is fx.immutable_collections.immutable_dict else type(value)(items)
    if type(value) in (tuple, list, fx.immutable_collections.immutable_list):
        return (tuple if type(value) is tuple else list)(map(_thawed, value))
    return value


def _compare(root: Any, module: Any, args: tuple[Any, ...], where: str, guard: str | None) -> bool:
    """Compare one call; return whether the capture has refused it for what it assumes."""
    actual = run(module, args, root)
    if guard is not None and isinstance(actual.error, fx.GuardError) and guard in str(actual.error):
        return True
    expected = run(root, args, root)
    if expected.error is not None or actual.error is not None:
        assert type(actual.error) is type(expected.error), (where, actual.error, expected.error)
        assert str(actual.error).splitlines()[:1] == str(expected.error).splitlines()[:1], where
    assert_same_value(actual.result, expected.result, f"{where}: result", rtol=1e-6, atol=1e-7)
    assert_same_value(actual.inputs, expected.inputs, f"{where}: inputs")
    if actual.error is None:
        assert_same_value(actual.gradients, expected.gradients, f"{where}: gradients", rtol=1e-5, atol=1e-6)
    assert_same_value(actual.state, expected.state, f"{where}: state")
    assert torch.equal(actual.random_state, expected.random_state), f"{where}: random state"
    return False
