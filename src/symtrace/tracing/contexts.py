"""Contexts that functions of torch make: recorded, so that they are in force at each call."""

from __future__ import annotations

import functools
import sys
import types
from typing import Any

import torch
from torch.nn import attention
from torch.nn.utils import parametrize

from . import hooks
from .wrapping import same_function, trampoline

__all__ = ["Flags", "is_settled", "patch_contexts"]

_MAKERS = (
    attention.sdpa_kernel,
    parametrize.cached,
    torch.backends.cuda.sdp_kernel,
    torch.backends.cudnn.flags,
    torch.backends.mkldnn.flags,
)


class _Recorded:
    """A context that is recorded when it is entered and left."""

    def __init__(self, function: Any, original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._call = function, args, kwargs
        self._context = original(*args, **kwargs)

    def __enter__(self) -> Any:
        tracer = hooks.active_tracer()
        if tracer is not None:
            tracer._on_enter_context(self, *self._call)
        with hooks.tracing_as(None):
            return self._context.__enter__()

    def __exit__(self, *exc: Any) -> Any:
        tracer = hooks.active_tracer()
        try:
            if tracer is not None:
                tracer._on_exit(self)
        finally:
            with hooks.tracing_as(None):
                result = self._context.__exit__(*exc)
        return result


def _recording(function: types.FunctionType) -> types.CodeType:
    original = same_function(function)

    def dispatch(args: Any, kwargs: Any) -> Any:
        if hooks.active_tracer() is None:
            return original(*args, **kwargs)
        return _Recorded(function, original, args, kwargs)

    return trampoline(function, dispatch)


def patch_contexts(patches: hooks.PatchSet) -> None:
    """Have contexts recorded while `patches` are in force."""
    for function in _MAKERS:
        patches.patch_code(function, _recording)


def is_settled(entered: dict[int, list[Any]], question: str) -> bool:
    """Tell whether the program has itself entered a context that answers a question about modes.

    Args:
        entered: Stacks of contexts, each with its manager first.
        question: Name of the function that asks.
    """
    kind = torch.inference_mode if "inference" in question else torch.autocast
    return any(
        hooks.original_isinstance(manager, kind) for stack in entered.values() for manager, *_ in stack
    )


def _set_sdp(name: str) -> Any:
    return getattr(torch.backends.cuda, f"enable_{name}_sdp")


def _set_on(place: Any, name: str) -> Any:
    return functools.partial(setattr, place, name)


class Flags:
    """Flags of the process that decide how torch computes, before a program runs."""

    def __init__(self) -> None:
        self._before = self._now()

    @staticmethod
    def _now() -> dict[str, tuple[Any, Any]]:
        cuda: Any = torch.backends.cuda
        cudnn, mkldnn = torch.backends.cudnn, torch.backends.mkldnn
        decimal, numpy = sys.modules.get("decimal"), sys.modules.get("numpy")
        others: dict[str, tuple[Any, Any]] = {}
        if decimal is not None:
            context = decimal.getcontext().copy()
            others["the context of decimal"] = repr(context), lambda _: decimal.setcontext(context)
        if numpy is not None:
            others["what numpy does about errors"] = numpy.geterr(), lambda kept: numpy.seterr(**kept)
        return others | {
            "the default dtype": (torch.get_default_dtype(), torch.set_default_dtype),
            "the number of threads": (torch.get_num_threads(), torch.set_num_threads),
            "the precision of matmul": (
                torch.get_float32_matmul_precision(),
                torch.set_float32_matmul_precision,
            ),
            "detection of anomalies": (torch.is_anomaly_enabled(), torch.autograd.set_detect_anomaly),
            "flash attention": (cuda.flash_sdp_enabled(), _set_sdp("flash")),
            "efficient attention": (cuda.mem_efficient_sdp_enabled(), _set_sdp("mem_efficient")),
            "plain attention": (cuda.math_sdp_enabled(), _set_sdp("math")),
            "cudnn": (cudnn.enabled, _set_on(cudnn, "enabled")),
            "benchmarks of cudnn": (cudnn.benchmark, _set_on(cudnn, "benchmark")),
            "determinism of cudnn": (cudnn.deterministic, _set_on(cudnn, "deterministic")),
            "mkldnn": (mkldnn.enabled, _set_on(mkldnn, "enabled")),
        }

    def has_changed(self) -> bool:
        """Tell whether any flag has."""
        now = self._now()
        return any(now[name][0] != value for name, (value, _) in self._before.items())

    def restore(self) -> str | None:
        """Put the flags back, and name one that had changed."""
        changed = None
        now = self._now()
        for name, (value, put) in self._before.items():
            if now[name][0] != value:
                put(value)
                changed = name
        return changed
