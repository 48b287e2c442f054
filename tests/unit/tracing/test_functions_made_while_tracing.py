"""A function that each trace makes anew can't be swapped for a lifted one; capture has to end all the same."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import symtrace as fx


def with_inner(x: Any) -> Any:
    def inner(v: Any) -> Any:
        if v.sum() > 0:
            return v * 2
        return v

    return inner(x)


def with_lambda(x: Any) -> Any:
    pick = lambda v: v * 2 if v.sum() > 0 else v  # noqa: E731
    return pick(x)


@pytest.mark.parametrize("program", [with_inner, with_lambda])
@pytest.mark.parametrize("examples", [None, (torch.ones(3),)])
def test_capture_keeps_or_refuses(program: Any, examples: Any) -> None:
    gm, code = None, "ST012"
    try:
        gm = fx.capture(program, examples)
    except fx.TraceError as refusal:
        code = refusal.code
    assert code == "ST012"
    for x in (torch.ones(3), -torch.ones(3)) if gm is not None else ():
        assert torch.equal(gm(x), program(x))
