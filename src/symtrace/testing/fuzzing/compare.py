"""Is the capture of a random program the program? Several calls, seeds, batch sizes and modes; gradients and state."""

from __future__ import annotations

import dataclasses
import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from ...errors import GuardError, RootError, SymtraceError, TraceError
from ...tracing import capture, symbolic_trace
from .calls import CALLS, NOT_STATE, leaves_of, settings
from .program import Loaded, Program

__all__ = ["DOORS", "Verdict", "compare"]

_ROWS = 3

DOORS: dict[str, Callable[[nn.Module, Loaded], nn.Module]] = {
    "symbolic_trace": lambda model, loaded: symbolic_trace(model),
    "capture": lambda model, loaded: capture(model),
    "examples": lambda model, loaded: capture(model, *loaded.inputs(_ROWS, 9)),
}
"""Ways to capture, by name."""


@dataclass(frozen=True)
class Verdict:
    """What became of one program.

    Attributes:
        kind: `equal`; `raises` (so does the original, alike); `refused` (an error of capture); `guarded`
            (a guard stopped a call); `unstable` (the original differs from itself); `differs`.
        detail: The code of the refusal, or the difference.
        message: The whole error.
    """

    kind: str
    detail: str = ""
    message: str = ""


class _Difference(Exception):
    pass


def compare(program: Program, door: str = "symbolic_trace") -> Verdict:
    """Capture a program, run it beside the original, and tell what differs.

    Args:
        program: The program.
        door: Name of the way to capture it.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loaded = program.load()
        try:
            return _compare(loaded, DOORS[door])
        except _Difference as difference:
            return Verdict("unstable" if _is_unstable(loaded) else "differs", str(difference))
        finally:
            loaded.close()


def _is_unstable(loaded: Loaded) -> bool:
    """Tell whether the original differs from itself, as it does where torch reads memory that nobody has set."""
    for _ in range(5):
        try:
            _compare(loaded, lambda model, loaded: model)
        except _Difference:
            return True
    return False


def _compare(loaded: Loaded, door: Callable[[nn.Module, Loaded], nn.Module]) -> Verdict:
    first, second = loaded.make(), loaded.make()
    outside = _fingerprint(second, loaded)
    random_before = (torch.get_rng_state(), random.getstate())
    modes = settings()
    try:
        captured = door(second, loaded)
    except SymtraceError as error:
        _expect_untouched(outside, second, loaded, "a refused capture")
        if not isinstance(error, TraceError | RootError):
            raise _Difference(f"capture raises {error.code}: {error}") from error
        return Verdict("refused", error.code, str(error))
    except Exception as error:
        _expect_untouched(outside, second, loaded, "a failed capture")
        if _raises(first, loaded):
            return Verdict("raises", type(error).__name__)
        raise _Difference(f"capture raises {type(error).__name__}: {error}") from error
    _expect_untouched(outside, second, loaded, "capture")
    if not torch.equal(random_before[0], torch.get_rng_state()) or random_before[1] != random.getstate():
        raise _Difference("capture draws random numbers")
    if modes != settings():
        raise _Difference(f"capture changes settings: {modes} to {settings()}")
    raised = False
    shared = _globals(loaded)
    for number, call in enumerate(CALLS):
        own, other = [_globals_copy(shared) for _ in range(2)]
        if number == 0:
            states = [own, other]
        _put_globals(loaded, states[1])
        before = {name: value.clone() for name, value in captured.state_dict().items()}
        actual = _run(captured, loaded, *call)
        is_as_before = all(torch.equal(value, before[name]) for name, value in captured.state_dict().items())
        if isinstance(actual, GuardError) and call[1] != _ROWS and is_as_before:
            call = (call[0], _ROWS, *call[2:])  # as many rows as the example may do
            actual = _run(captured, loaded, *call)
        states[1] = _globals_copy(_globals(loaded))
        if isinstance(actual, GuardError):
            return Verdict("guarded", str(actual).splitlines()[0][:80])
        label = f"call {number} {call}"
        _put_globals(loaded, states[0])
        expected = _run(first, loaded, *call)
        states[0] = _globals_copy(_globals(loaded))
        _same_run(actual, expected, label)
        raised = raised or isinstance(expected, Exception)
        _same_state(captured, first, label)
        # `TABLE` is read at capture: what the program does to it is done to the captured module's own.
        if modes != settings():
            raise _Difference(f"{label}: settings are {settings()} instead of {modes}")
    return Verdict("raises" if raised else "equal")


def _raises(model: nn.Module, loaded: Loaded) -> bool:
    return any(isinstance(_run(model, loaded, *call), Exception) for call in CALLS)


def _globals(loaded: Loaded) -> dict[str, Any]:
    return {name: loaded.namespace[name] for name in ("TABLE", "LOG", "TOTAL")}


def _globals_copy(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value.clone() if isinstance(value, torch.Tensor) else list(value) if isinstance(value, list) else value
        for name, value in values.items()
    }  # fmt: skip


def _put_globals(loaded: Loaded, values: dict[str, Any]) -> None:
    with torch.no_grad():
        loaded.namespace["TABLE"].copy_(values["TABLE"])
    loaded.namespace["LOG"][:] = values["LOG"]
    loaded.namespace["TOTAL"] = values["TOTAL"]


# ---------------------------------------------------------------------- one call


@dataclass(frozen=True)
class _Run:
    result: Any
    inputs: Any
    gradients: list[Any] | type
    draws: torch.Tensor


def _run(
    model: nn.Module, loaded: Loaded, training: bool, rows: int, seed: int, tracked: bool, gradients: bool
) -> Any:
    args, kwargs = loaded.inputs(rows, seed)
    sources = [leaf for leaf in leaves_of((args, kwargs)) if isinstance(leaf, torch.Tensor)]
    if tracked:
        for source in sources:
            source.requires_grad_()
    model.train(training)
    torch.manual_seed(seed)
    try:
        with torch.set_grad_enabled(gradients):
            result = model(*args, **kwargs)
    except Exception as error:
        return error
    draws = torch.get_rng_state()
    return _Run(result, (args, kwargs), _gradients(model, result, sources), draws)


def _gradients(model: nn.Module, result: Any, sources: list[torch.Tensor]) -> list[Any] | type:
    outputs = [leaf for leaf in leaves_of(result) if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    if not outputs:
        return []
    parameters = [p for _, p in sorted(model.named_parameters()) if p.requires_grad]
    leaves = [*parameters, *(s for s in sources if s.requires_grad)]
    if not leaves:
        return []
    try:
        return list(torch.autograd.grad([o.sum() for o in outputs], leaves, allow_unused=True))
    except RuntimeError:
        return RuntimeError


# ---------------------------------------------------------------------- comparing


def _same_run(actual: Any, expected: Any, label: str) -> None:
    if isinstance(expected, Exception) or isinstance(actual, Exception):
        if type(actual) is not type(expected):
            raise _Difference(f"{label}: {_short(actual)} instead of {_short(expected)}")
        return
    _same(actual.result, expected.result, f"{label}: result")
    _same(actual.inputs, expected.inputs, f"{label}: inputs afterwards")
    _same(actual.gradients, expected.gradients, f"{label}: gradients")
    if not torch.equal(actual.draws, expected.draws):
        raise _Difference(f"{label}: draws other random numbers")
    mine, theirs = [_identities(run.result, run.inputs) for run in (actual, expected)]
    if mine != theirs:
        raise _Difference(f"{label}: identities of results: {mine} instead of {theirs}")


def _short(value: Any) -> str:
    return f"{type(value).__name__}: {str(value)[:200]}" if isinstance(value, Exception) else "a result"


def _identities(result: Any, inputs: Any) -> list[int | None]:
    """Return, for each tensor of the result, which tensor of the inputs or results before it it is or shares."""
    seen: dict[int, int] = {}
    found: list[int | None] = []
    for leaf in [*leaves_of(inputs), *leaves_of(result)]:
        if isinstance(leaf, torch.Tensor):
            found.append(seen.get(id(leaf)))
            seen.setdefault(id(leaf), len(found))
            place = leaf.data_ptr()
            found.append(seen.get(-place) if place else None)
            seen.setdefault(-place, len(found))
    return found


def _same(actual: Any, expected: Any, what: str) -> None:
    if type(actual) is not type(expected):
        raise _Difference(f"{what}: {type(actual).__name__} instead of {type(expected).__name__}")
    if isinstance(expected, torch.Tensor):
        _same_tensor(actual, expected, what)
    elif isinstance(expected, dict):
        if list(actual) != list(expected):
            raise _Difference(f"{what}: keys {list(actual)} instead of {list(expected)}")
        for key, value in expected.items():
            _same(actual[key], value, f"{what}[{key!r}]")
    elif isinstance(expected, list | tuple):
        if len(actual) != len(expected):
            raise _Difference(f"{what}: {len(actual)} items instead of {len(expected)}")
        for number, (one, other) in enumerate(zip(actual, expected, strict=True)):
            _same(one, other, f"{what}[{number}]")
    elif dataclasses.is_dataclass(expected) and not isinstance(expected, type):
        _same(vars(actual), vars(expected), what)
    elif actual != expected and not (actual != actual and expected != expected):
        raise _Difference(f"{what}: {actual!r} instead of {expected!r}")


def _same_tensor(actual: torch.Tensor, expected: torch.Tensor, what: str) -> None:
    for name in ("dtype", "shape", "device", "requires_grad", "is_leaf"):
        one, other = _ask(actual, name), _ask(expected, name)
        if one != other:
            raise _Difference(f"{what}: {name} is {one} instead of {other}")
    if actual.is_inference() != expected.is_inference():
        raise _Difference(f"{what}: is_inference() is {actual.is_inference()}")
    if actual.stride() != expected.stride():
        raise _Difference(f"{what}: strides {actual.stride()} instead of {expected.stride()}")
    if not torch.equal(actual, expected):
        with torch.no_grad():
            if not torch.allclose(actual, expected, rtol=0, atol=0, equal_nan=True):
                difference = (actual - expected).abs().max().item()
                raise _Difference(f"{what}: values differ by up to {difference:.3g}")


def _ask(tensor: torch.Tensor, name: str) -> Any:
    try:
        return getattr(tensor, name)
    except RuntimeError as error:  # a view that autograd has given up
        return type(error)


def _attributes(module: nn.Module) -> dict[str, Any]:
    return {
        name: value
        for name, value in vars(module).items()
        if name not in NOT_STATE and not name.startswith("_") and name not in ("report", "graph")
        and not callable(value)
    }  # fmt: skip


def _same_state(captured: nn.Module, original: nn.Module, label: str) -> None:
    _same(dict(captured.state_dict()), dict(original.state_dict()), f"{label}: state_dict")
    for path, module in original.named_modules():
        own = captured.get_submodule(path)
        expected = _attributes(module)
        actual = {name: value for name, value in _attributes(own).items() if name in expected}
        _same(actual, expected, f"{label}: attributes of {path or 'the root'}")


# ---------------------------------------------------------------------- the original


def _fingerprint(model: nn.Module, loaded: Loaded) -> list[Any]:
    """Return what the user owns, by identity and bit for bit."""
    rows: list[Any] = []
    for path, module in model.named_modules():
        for name, value in vars(module).items():
            items = list(value.items()) if isinstance(value, dict) else [("", value)]
            rows.extend((path, name, key, id(item), _content(item)) for key, item in items)
    for name, value in loaded.namespace.items():
        if name != "__builtins__":
            rows.append((name, id(value), _content(value)))
    return rows


def _content(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        data = value.detach()
        return value.requires_grad, value._version, value.shape, data.numpy().tobytes(), id(value.grad)
    if isinstance(value, list | tuple):
        return [(id(item), _content(item)) for item in value]
    if isinstance(value, dict):
        return [(key, id(item), _content(item)) for key, item in value.items() if key != "__builtins__"]
    return value if isinstance(value, bool | int | float | str) else None


def _expect_untouched(before: list[Any], model: nn.Module, loaded: Loaded, what: str) -> None:
    after = _fingerprint(model, loaded)
    if after != before:
        changed = [row[:3] for row, old in zip(after, before, strict=False) if row != old][:3]
        raise _Difference(f"{what} changes the original: {changed or 'something new'}")
