"""`torch._check` and its like on what only the run knows: kept as the decision that they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .control_flow.flow import Flow
from .hooks import PatchSet, active_tracer

__all__ = ["patch_checks"]

_NO_MESSAGE = "Expected cond to be True, but got False"
"""How the text begins that torch gives a check without one."""


def patch_checks(patches: PatchSet) -> None:
    """Have checks seen, all of which come down to one function of torch (2.13, 2.14).

    Args:
        patches: Receives the change.
    """
    patches.patch(vars(torch), "_check_with", _checking)


def _checking(original: Any) -> Any:
    def check(error_type: Any, condition: Any, message: Any) -> None:
        tracer = active_tracer()
        if tracer is None or not tracer.keeps_control_flow or not _is_asked(tracer, error_type, condition):
            original(error_type, condition, message)
        else:
            Flow.choose(condition, _nothing, lambda: Flow.raise_(_error(error_type, message)))

    check.__wrapped__ = original  # type: ignore[attr-defined]
    return check


def _is_asked(tracer: Any, error_type: Any, condition: Any) -> bool:
    is_error = isinstance(error_type, type) and issubclass(error_type, Exception)
    return (
        is_error
        and not issubclass(error_type, Warning)
        and tracer._is_proxy(condition)
        and not isinstance(condition, torch.Tensor)
        and tracer.is_open(condition)
    )


def _nothing() -> None:
    """Return what a check gives that holds."""


def _error(error_type: Callable[[str], Exception], message: Any) -> Exception:
    text = message() if callable(message) else message
    return error_type(_NO_MESSAGE if text is None else str(text))
