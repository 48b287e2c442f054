"""Shared by all tests."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator
from typing import Any

import pytest

_ISINSTANCE = builtins.isinstance


@pytest.fixture(autouse=True)
def no_hook_stays() -> Iterator[None]:
    """No test leaves a hook of a capture behind, which the next one would meet."""
    yield
    assert builtins.isinstance is _ISINSTANCE


def pytest_make_parametrize_id(config: Any, val: Any, argname: str) -> str | None:
    """Name functions and other objects without their address, so that every worker collects the same tests."""
    text = repr(val)
    if " at 0x" not in text:
        return None
    name = getattr(val, "__qualname__", None) or type(val).__qualname__
    return re.sub(r"[^\w.]+", "_", str(name)).strip("_")
