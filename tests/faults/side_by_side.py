"""Runs a program written as text beside its capture: results, gradients, state, draws, globals, call after call.

The original and the captured one each have modules and globals of their own, from the same text.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import io
import itertools
import linecache
import random
import sys
import types
import warnings
from typing import Any

import numpy as np
import torch
from torch import nn

import symtrace as fx
from symtrace.errors import GuardError, SymtraceError
from symtrace.testing.fuzzing.calls import CALLS, NOT_STATE, leaves_of, settings

PRELUDE = """
import collections, contextlib, copy, dataclasses, functools, itertools, logging, math, operator, random, time, types
from dataclasses import dataclass
from typing import Any
import numpy as np
import torch
import torch.nn.functional as F
import torch.nn.utils as utils
from torch import nn
from torch.nn.utils import parametrize, prune
from torch.utils.checkpoint import checkpoint
INPUTS = lambda x, y: ((x, y), {})
"""
FUNCTION = "\nclass M(nn.Module):\n    def forward(self, x, y):\n        return f(x, y)\n"
DOORS = ("symbolic_trace", "capture", "examples")
_NAME = "program_side_by_side"
_numbers = itertools.count()


class Loaded:
    """A program in a module of its own, and one instance of its root."""

    def __init__(self, source: str) -> None:
        text = PRELUDE + source + ("" if "class M(" in source else FUNCTION)
        file = f"<{_NAME} {next(_numbers)}>"
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        self.home = types.ModuleType(_NAME)
        self.enter()
        exec(compile(text, file, "exec"), self.home.__dict__)
        torch.manual_seed(0)
        self.model: nn.Module = self.home.M()

    def enter(self) -> None:
        """Make its module the one that is found by name."""
        sys.modules[_NAME] = self.home

    def inputs(self, rows: int, seed: int) -> Any:
        """Return arguments for one call."""
        generator = torch.Generator().manual_seed(seed)
        x, y = (torch.randn(rows, 4, generator=generator) for _ in range(2))
        return self.home.INPUTS(x, y)

    def captured(self, door: str) -> Any:
        """Capture it."""
        self.enter()
        with contextlib.redirect_stdout(io.StringIO()):
            if door == "symbolic_trace":
                return fx.symbolic_trace(self.model)
            return fx.capture(self.model, *(self.inputs(3, 9) if door == "examples" else ()))

    def globals(self) -> dict[str, Any]:
        """Return what it may change outside of the module: globals in capitals."""
        return {name: value for name, value in vars(self.home).items() if name.isupper() and name != "INPUTS"}


def outcome(source: str, door: str) -> str:
    """Return `equal`, `raises`, the code of a refusal that shows a line, or `guarded`.

    Raises:
        AssertionError: Anything differs, or the original was touched.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _outcome(source, door)
        finally:
            sys.modules.pop(_NAME, None)


def _outcome(source: str, door: str) -> str:
    original, other = Loaded(source), Loaded(source)
    before, modes, states = _fingerprint(other), settings(), _states()
    try:
        captured = other.captured(door)
    except SymtraceError as error:
        refusal = error
    else:
        refusal = None
    if refusal is not None:
        assert not _changes(other, before), "a refused capture changes the original"
        assert "-->" in str(refusal), f"no line: {refusal}"
        return refusal.code
    assert not _changes(other, before), "capture changes the original"
    assert modes == settings(), "capture changes settings"
    assert [a == b for a, b in zip(states, _states(), strict=True)] == [True] * 3, "capture draws"
    _same_run(
        _run(other.model, Loaded(source), *CALLS[1]), _run(Loaded(source).model, other, *CALLS[1]), "after"
    )
    other = Loaded(source)
    captured = other.captured(door)
    raised = False
    for call in CALLS:
        expected, actual = _run(original.model, original, *call), _run(captured, other, *call)
        if isinstance(actual, GuardError):
            return "guarded"
        raised = raised or isinstance(expected, Exception)
        _same_run(actual, expected, f"{call}")
        _same_state(captured, original.model)
        _same(other.globals(), original.globals(), f"{call}: globals")
    return "raises" if raised else "equal"


def _states() -> list[Any]:
    return [torch.get_rng_state().tolist(), random.getstate(), np.random.get_state()[1].tolist()]


def _run(
    model: nn.Module, home: Loaded, training: bool, rows: int, seed: int, tracked: bool, grads: bool
) -> Any:
    home.enter()
    args, kwargs = home.inputs(rows, seed)
    sources = [leaf for leaf in leaves_of((args, kwargs)) if isinstance(leaf, torch.Tensor)]
    for source in sources:
        source.requires_grad_(tracked and source.is_floating_point())
    model.train(training)
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)
    try:
        with torch.set_grad_enabled(grads), contextlib.redirect_stdout(io.StringIO()):
            result = model(*args, **kwargs)
    except Exception as error:
        return error
    modes, states = settings(), _states()
    wanted = [*(p for _, p in sorted(model.named_parameters())), *sources]
    wanted = [leaf for leaf in wanted if leaf.requires_grad]
    outputs = [leaf for leaf in leaves_of(result) if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    gradients: Any = None
    if outputs and wanted:
        try:
            total = sum((o.abs() if o.is_complex() else o).sum() for o in outputs)
            total.backward()
            gradients = [None if leaf.grad is None else leaf.grad.clone() for leaf in wanted]
        except RuntimeError:
            gradients = RuntimeError
        for leaf in wanted:
            leaf.grad = None
    return {"result": result, "inputs": (args, kwargs), "gradients": gradients, "settings": modes,
            "states": states, "identities": _identities(args, kwargs, result)}  # fmt: skip


def _identities(*values: Any) -> list[Any]:
    seen: dict[Any, int] = {}
    tensors = [leaf for leaf in leaves_of(values) if isinstance(leaf, torch.Tensor)]
    return [
        (seen.setdefault(id(t), n), seen.setdefault(-t.data_ptr(), n) if t.numel() else n)
        for n, t in enumerate(tensors)
    ]


def _same_run(actual: Any, expected: Any, what: str) -> None:
    if isinstance(expected, Exception) or isinstance(actual, Exception):
        message = f"{what}: {actual!r:.200} instead of {expected!r:.200}"
        assert type(actual).__name__ == type(expected).__name__, message
        return
    _same(actual, expected, what)


def _same(actual: Any, expected: Any, what: str, depth: int = 0) -> None:
    assert type(actual).__name__ == type(expected).__name__, (
        f"{what}: {actual!r:.90} instead of {expected!r:.90}"
    )
    if depth > 12:
        return
    if isinstance(expected, torch.Tensor):
        for name in ("dtype", "shape", "device", "requires_grad", "is_leaf", "layout"):
            one, two = getattr(actual, name), getattr(expected, name)
            assert one == two, f"{what}: {name} is {one} instead of {two}"
        assert actual.stride() == expected.stride(), f"{what}: strides"
        with torch.no_grad():
            assert torch.allclose(actual, expected, rtol=0, atol=0, equal_nan=True), f"{what}: values"
    elif isinstance(expected, np.ndarray):
        assert np.array_equal(actual, expected), f"{what}: values"
    elif isinstance(expected, dict):
        assert list(map(str, actual)) == list(map(str, expected)), f"{what}: keys"
        for (key, one), two in zip(actual.items(), expected.values(), strict=True):
            _same(one, two, f"{what}[{key!r}]", depth + 1)
    elif isinstance(expected, list | tuple | collections.deque):
        assert len(actual) == len(expected), f"{what}: length"
        for number, (one, two) in enumerate(zip(actual, expected, strict=True)):
            _same(one, two, f"{what}[{number}]", depth + 1)
    elif dataclasses.is_dataclass(expected) and not isinstance(expected, type):
        for field in dataclasses.fields(expected):
            one, two = getattr(actual, field.name), getattr(expected, field.name)
            _same(one, two, f"{what}.{field.name}", depth + 1)
    elif isinstance(expected, int | float | str | bytes | bool | None):
        assert actual == expected or (actual != actual and expected != expected), f"{what}: {actual!r}"


def _same_state(captured: nn.Module, original: nn.Module) -> None:
    _same(dict(captured.state_dict()), dict(original.state_dict()), "state_dict")
    for path, module in original.named_modules():
        own = vars(captured.get_submodule(path))
        for name, value in vars(module).items():
            is_cached = name in vars(type(module))  # as by a cached property, which gives it again
            if name not in NOT_STATE and name[0] != "_" and not callable(value) and not is_cached:
                assert name in own, f"no attribute {name}"
                _same(own[name], value, f"{path}.{name}")


def _fingerprint(loaded: Loaded) -> list[Any]:
    rows = [
        (path, name, id(value), _content(value))
        for path, module in loaded.model.named_modules()
        for name, value in vars(module).items()
    ]
    hidden = ("__builtins__", "__warningregistry__")
    rows.extend(
        (name, id(value), _content(value)) for name, value in vars(loaded.home).items() if name not in hidden
    )
    return rows


def _changes(loaded: Loaded, before: list[Any]) -> list[Any]:
    after = _fingerprint(loaded)
    return [(row, old) for row, old in itertools.zip_longest(after, before) if row != old]


def _content(value: Any, depth: int = 0) -> Any:
    if depth > 6:
        return None
    if isinstance(value, torch.Tensor):
        version = 0 if value.is_inference() else value._version
        return value.requires_grad, version, value.detach().numpy().tobytes(), id(value.grad)
    if isinstance(value, list | tuple | set | collections.deque):
        return [(id(item), _content(item, depth + 1)) for item in value]
    if isinstance(value, dict):
        return [(str(key), id(item), _content(item, depth + 1)) for key, item in value.items()]
    if isinstance(value, np.ndarray):
        return value.tobytes()
    if isinstance(value, type) and value.__module__ == _NAME:
        return [
            (key, id(item), _content(item, depth + 1)) for key, item in vars(value).items() if key[:2] != "__"
        ]
    if isinstance(value, types.FunctionType) and value.__module__ == _NAME:
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        return [_content(part, depth + 1) for part in (*cells, value.__defaults__, vars(value))]
    if type(value).__module__ == _NAME and not isinstance(value, nn.Module) and hasattr(value, "__dict__"):
        return _content(vars(value), depth + 1)
    return value if isinstance(value, bool | int | float | str) else None
