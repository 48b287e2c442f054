"""Every operator of torch's own operator database, captured and compared: values, writes to arguments, gradients.

`python -m tests.operators.sweep [NAME ...]` prints what differs and what is refused. Run it from the repository's root.
"""

from __future__ import annotations

import collections
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.testing._internal import common_methods_invocations as database
from torch.utils import _pytree as pytree

import symtrace as fx
from symtrace.errors import SymtraceError
from symtrace.testing import assert_same_value

UNDEFINED = frozenset({
    "empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided",
})  # fmt: skip
"""Operators whose result has no defined content."""


EXCEPTIONS: frozenset[tuple[str, str]] = frozenset()
"""Operators and variants that are not captured; see docs/limits.md."""


@dataclass(frozen=True)
class Outcome:
    """What became of one variant of an operator on one sample.

    Attributes:
        operator: Its name in the database.
        variant: `function`, `method`, `inplace` or `operator`.
        kind: `equal`, `refused` or `differs`.
        detail: The code and message of the refusal, or the difference.
    """

    operator: str
    variant: str
    kind: str
    detail: str = ""


# Its wrappers around random operators put the generator's state away and back; here the seed is set for every run.
database.wrapper_set_seed = lambda op, *args, **kwargs: op(*args, **kwargs)


def _takes_float32(op: Any) -> bool:
    return torch.float32 in op.supported_dtypes("cpu") and not op.name.startswith("jiterator")


def operators() -> list[Any]:
    """Return the entries of the database that take float32 on the CPU, by name."""
    return sorted((op for op in database.op_db if _takes_float32(op)), key=lambda op: op.formatted_name)


def variants(op: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield each way of calling an operator."""
    function = op.get_op()
    yield "function", _by_name(function.__name__) if isinstance(function, _METHODS) else function
    for name in ("method", "inplace", "operator"):
        found = getattr(op, f"{name}_variant")
        if found is not None:
            # A method of the class itself, bound before the capture, is not what programs call.
            yield name, _by_name(found.__name__) if isinstance(found, _METHODS) else found


_METHODS = (types.MethodDescriptorType, types.WrapperDescriptorType)


def _by_name(name: str) -> Callable[..., Any]:
    """Return the call that a program makes: `x.name(...)`."""

    def method(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(tensor, name)(*args, **kwargs)

    return method


def program_of(function: Callable[..., Any], sample: Any) -> tuple[Callable[..., Any], list[torch.Tensor]]:
    """Return a program of tensors only, that calls `function` as the sample says, and the tensors."""
    leaves, spec = pytree.tree_flatten(((sample.input, *sample.args), dict(sample.kwargs)))
    places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
    names = [f"t{i}" for i in range(len(places))]

    def call(*tensors: Any) -> Any:
        filled = list(leaves)
        for place, tensor in zip(places, tensors, strict=True):
            filled[place] = tensor
        args, kwargs = pytree.tree_unflatten(filled, spec)
        return function(*args, **kwargs)

    text = f"def program({', '.join(names)}):\n    return call({', '.join(names)})\n"
    table: dict[str, Any] = {"call": call}
    exec(compile(text, "<operator>", "exec"), table)
    return table["program"], [leaves[place] for place in places]


def _fresh(tensors: list[torch.Tensor], writes: bool) -> list[torch.Tensor]:
    copies = [t.detach().clone().requires_grad_(t.requires_grad) for t in tensors]
    # A leaf that requires gradients can't be written to.
    return [t.clone() if writes and t.requires_grad else t for t in copies]


def run(program: Callable[..., Any], tensors: list[torch.Tensor], writes: bool) -> Any:
    """Return the result, what became of the arguments, and the gradients, or the exception."""
    given = _fresh(tensors, writes)
    torch.manual_seed(0)
    try:
        result = program(*given)
    except SymtraceError:
        raise
    except Exception as error:
        return type(error)
    leaves = [t for t in pytree.tree_leaves(result) if isinstance(t, torch.Tensor)]
    totals = [t.abs().sum() if t.is_complex() else t.sum() for t in leaves
              if t.requires_grad and (t.is_floating_point() or t.is_complex())]  # fmt: skip
    sources = [t for t in given if t.requires_grad]
    grads = None
    if totals and sources:
        try:
            grads = torch.autograd.grad(totals, sources, allow_unused=True)
        except (RuntimeError, NotImplementedError) as error:
            grads = type(error)
    return result, given, grads


def compare(name: str, actual: Any, expected: Any) -> str:
    """Return what differs, or nothing."""
    if isinstance(actual, type) or isinstance(expected, type):
        return "" if actual is expected else f"{actual} instead of {expected}"
    try:
        if name in UNDEFINED:
            shapes = [t.shape for t in pytree.tree_leaves(actual[0])]
            assert shapes == [t.shape for t in pytree.tree_leaves(expected[0])], "shapes differ"
        else:
            _same(actual, expected)
    except (AssertionError, RuntimeError, NotImplementedError, TypeError) as error:
        return str(error)[:300]
    return ""


def _same(actual: Any, expected: Any) -> None:
    for one, other in zip(pytree.tree_leaves(actual), pytree.tree_leaves(expected), strict=True):
        if isinstance(other, torch.Tensor) and other.layout is not torch.strided:
            assert one.layout == other.layout, "layouts differ"
            one, other = one.to_dense(), other.to_dense()
        assert_same_value(one, other)
    assert pytree.tree_structure(actual) == pytree.tree_structure(expected), "structures differ"


def check(op: Any, most: int | None = None) -> Iterator[Outcome]:
    """Capture and compare every variant of an operator on its samples.

    Args:
        op: Entry of the database.
        most: How many samples to take.
    """
    name = op.formatted_name
    samples = op.sample_inputs("cpu", torch.float32, requires_grad=op.supports_autograd)
    for number, sample in enumerate(samples):
        if number == most:
            return
        for variant, function in variants(op):
            writes = variant == "inplace" or name.endswith("_") or "out" in sample.kwargs
            program, tensors = program_of(function, sample)
            expected = run(program, tensors, writes)
            if expected is TypeError and variant == "operator":
                continue  # the sample has arguments that the sign doesn't take
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    gm = fx.symbolic_trace(program)
                    actual = run(gm, tensors, writes)
            except SymtraceError as error:
                yield Outcome(name, variant, "refused", f"{error.code}: {str(error).splitlines()[0][:160]}")
                continue
            except Exception as error:
                yield Outcome(
                    name, variant, "differs", f"capture: {type(error).__name__}: {str(error)[:200]}"
                )
                continue
            detail = compare(name, actual, expected)
            yield Outcome(name, variant, "differs" if detail else "equal", detail)


def main(names: list[str]) -> int:
    """Sweep, print, and return 1 if anything differs."""
    warnings.simplefilter("ignore")
    counts: collections.Counter[str] = collections.Counter()
    seen: set[tuple[str, str, str]] = set()
    chosen = [op for op in operators() if not names or op.formatted_name in names or op.name in names]
    for op in chosen:
        for outcome in check(op):
            counts[outcome.kind] += 1
            key = (outcome.operator, outcome.variant, outcome.kind)
            if outcome.kind != "equal" and key not in seen:
                seen.add(key)
                print(f"{outcome.kind}: {outcome.operator} ({outcome.variant}): {outcome.detail}", flush=True)
    print(f"{len(chosen)} operators: " + ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items())))
    return 1 if counts["differs"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
