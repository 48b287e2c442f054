"""Leaves run on fake tensors at capture; what they and their hooks keep then is taken back."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from torch import nn

from .. import hooks
from ..scanning import names_used
from ..snapshot import Snapshot

__all__ = ["leaving_state"]


def leaving_state(root: nn.Module, module: Any, run: Callable[..., Any]) -> Callable[..., Any]:
    """Return what runs a leaf and leaves all as it was, where the leaf may keep anything but in its buffers.

    Args:
        root: The module that is traced.
        module: The leaf.
        run: Calls it.
    """
    if not any(map(_may_keep, module.modules())):
        return run

    @functools.wraps(run)
    def call(*args: Any, **kwargs: Any) -> Any:
        before = Snapshot(root, root)
        for inner in module.modules():
            for hook in (*inner._forward_hooks.values(), *inner._forward_pre_hooks.values()):
                for place, name, _ in names_used(
                    getattr(hook, "__func__", hook), set(), None, before.watch_function
                ):
                    if type(place) is dict:
                        before.watch_global(place, name)
        try:
            return run(*args, **kwargs)
        finally:
            with hooks.tracing_as(None):
                before.restore()

    return call


def _may_keep(module: nn.Module) -> bool:
    if module._forward_hooks or module._forward_pre_hooks:
        return True
    return not type(module).__module__.startswith("torch.")
