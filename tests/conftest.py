"""Shared by all tests."""

from __future__ import annotations

import re
from typing import Any


def pytest_make_parametrize_id(config: Any, val: Any, argname: str) -> str | None:
    """Name functions and other objects without their address, so that every worker collects the same tests."""
    text = repr(val)
    if " at 0x" not in text:
        return None
    name = getattr(val, "__qualname__", None) or type(val).__qualname__
    return re.sub(r"[^\w.]+", "_", str(name)).strip("_")
