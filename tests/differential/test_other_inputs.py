"""Captured for one example and called with others, a program does what eager does, or says which assumption broke.

The expressions ask for sizes, numbers and classes in all the ways that Python and torch have. A wrong value, or a value
where eager fails, is never right; a GuardError always is, save for inputs like the example.
"""

from __future__ import annotations

import collections
import functools
import itertools
import linecache
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812 - as the expressions have it

import symtrace as fx
from symtrace.errors import GuardError
from symtrace.testing import assert_same_value

FOLDER = Path(__file__).with_name("expressions")
NAMES = {"torch": torch, "F": F, "np": np, "math": math, "functools": functools, "itertools": itertools,
         "collections": collections}  # fmt: skip
SHAPES = ((2, 3), (3, 2), (1, 3), (3, 3), (4, 1), (0, 3), (2, 0), (5,), (2, 1, 3))
NUMBERS = (
    2,
    1,
    0,
    3,
    -1,
    2.0,
    2.5,
    True,
    None,
    "a",
    torch.tensor(2),
    torch.tensor(2.0),
    np.int64(2),
    np.float64(2),
)


def program(expression: str, parameters: str) -> Callable[..., Any]:
    """Return a function of one expression whose text can be found."""
    text = f"def program({parameters}):\n    return {expression}\n"
    file = f"<{expression}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names: dict[str, Any] = dict(NAMES)
    exec(compile(text, file, "exec"), names)
    return names["program"]  # type: ignore[no-any-return]


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    """Return a result, or the exception that comes instead."""
    torch.manual_seed(0)
    try:
        return function(*args)
    except Exception as error:  # noqa: BLE001 - whatever eager raises
        return error


def tensor(shape: tuple[int, ...] = (2, 3), dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return (torch.arange(math.prod(shape)).reshape(shape) - 1).to(dtype)


def like_tensors() -> Iterator[torch.Tensor]:
    yield from map(tensor, SHAPES)
    yield tensor(dtype=torch.float64)
    yield tensor(dtype=torch.int64)
    yield tensor(dtype=torch.bool)
    yield tensor().t().contiguous().t()
    yield torch.stack([tensor(), tensor()], -1)[..., 0]


def check(captured: Any, eager: Callable[..., Any], example: tuple[Any, ...], other: tuple[Any, ...]) -> None:
    expected, actual = outcome(eager, *other), outcome(captured, *other)
    if isinstance(actual, GuardError):
        assert other is not example, actual
    elif isinstance(expected, Exception) or isinstance(actual, Exception):
        assert isinstance(expected, Exception) and isinstance(actual, Exception), (other, expected, actual)  # noqa: PT018
    else:
        assert_same_value(actual, expected)


@pytest.mark.parametrize("expression", (FOLDER / "sizes.txt").read_text().splitlines())
def test_sizes_and_dtypes(expression: str) -> None:
    eager = program(expression, "x")
    example = (tensor(),)
    captured = fx.capture(eager, (tensor(),))
    check(captured, eager, example, example)
    for other in like_tensors():
        check(captured, eager, example, (other,))


@pytest.mark.parametrize("expression", (FOLDER / "numbers.txt").read_text().splitlines())
def test_numbers(expression: str) -> None:
    eager = program(expression, "x, n")
    for number in (2, 2.5):
        example = (tensor(), number)
        if isinstance(outcome(eager, *example), Exception):
            continue
        captured = fx.capture(eager, (tensor(), number))
        check(captured, eager, example, example)
        for other in NUMBERS:
            check(captured, eager, example, (tensor(), other))
