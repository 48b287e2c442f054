"""Functions of torch that take functions: `torch.func`, `torch.cond`, checkpoints. What they are given is outlined."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.checkpoint import checkpoint

from ..ops import program
from . import hooks
from .outline import join, outline, outline_run, rebuild
from .scanning import content_of, is_transform
from .wrapping import same_function, trampoline

if TYPE_CHECKING:
    from .watching import Watcher

__all__ = ["MASKED", "checkpointed", "patch_made_before", "patch_transforms"]

MASKED = tuple(
    value
    for name, value in vars(torch.masked).items()
    if type(value) is types.FunctionType and not name.startswith("_") and "masked" not in name
)
"""Functions of `torch.masked`: Python programs that look at the layout of a mask, so that each stays one node."""

_CURRIED = ("functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "vmap")
"""Of `torch.func`: they return a function."""

_SPREAD = ("linearize", "vjp")
"""Of `torch.func`: they take the arguments of the function one by one."""

_OF_INPUTS = ("hessian", "hvp", "jacobian", "jvp", "vhp", "vjp")
"""Of `torch.autograd.functional`: they take the arguments of the function as their second."""


_MADE_BY = {
    constant: (getattr(torch.func, name), frozenset(inspect.signature(getattr(torch.func, name)).parameters))
    for name in _CURRIED
    if name != "functionalize"
    for constant in getattr(torch.func, name).__code__.co_consts
    if type(constant) is types.CodeType
}
"""The functions of `torch.func`, with the names of their parameters, by the code of what they return."""


def patch_made_before(patches: hooks.PatchSet, function: types.FunctionType) -> None:
    """Have calls recorded of a function that a transform of `torch.func` made before the capture."""
    made = _MADE_BY.get(function.__code__) if is_transform(function) else None
    if made is None:
        return
    kind, known = made
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    settings = {name: content_of(cell) for name, cell in cells.items() if name in known}
    given = settings.pop("func")

    def make(function: types.FunctionType) -> types.CodeType:
        original = same_function(function)

        def dispatch(args: Any, kwargs: Any) -> Any:
            tracer = hooks.active_tracer()
            if tracer is None:
                return original(*args, **kwargs)
            return _curried(tracer, kind, kind, (given,), dict(settings))(*args, **kwargs)

        return trampoline(function, dispatch)

    patches.patch_code(function, make)


def patch_transforms(patches: hooks.PatchSet) -> None:
    """Have functions of torch that take functions recorded while `patches` are in force."""
    for name in _CURRIED:
        patches.patch_code(getattr(torch.func, name), functools.partial(_dispatching, _curried))
    for name in _SPREAD:
        patches.patch_code(getattr(torch.func, name), functools.partial(_dispatching, _spread))
    patches.patch_code(torch.func.jvp, functools.partial(_dispatching, _of_inputs))
    for name in _OF_INPUTS:
        patches.patch_code(
            getattr(torch.autograd.functional, name), functools.partial(_dispatching, _of_inputs)
        )
    patches.patch_code(torch.cond, functools.partial(_dispatching, _cond))
    patches.patch_code(inspect.unwrap(checkpoint), functools.partial(_dispatching, _checkpoint))
    patches.patch_code(torch.while_loop, functools.partial(_dispatching, _while_loop))


def _checkpoint(
    tracer: Any, function: Any, original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """A checkpoint that isn't reentrant does what its function does again backwards, on what its inputs are by then."""
    settings = {name: kwargs[name] for name in _SETTINGS if name in kwargs}
    if settings.get("use_reentrant") is not False or len(settings) > 2 or not args:
        return original(*args, **kwargs)
    named = {name: value for name, value in kwargs.items() if name not in settings}
    result, inner, given = outline_run(tracer, args[0], args[1:], named)
    return result if inner is None else rebuild(result, _call(tracer, checkpoint, inner, given, settings))


_SETTINGS = (
    "use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug", "early_stop",
    "respect_saved_tensors_hooks",
)  # fmt: skip
_Handler = Callable[["Watcher", Any, Any, tuple[Any, ...], dict[str, Any]], Any]


def _dispatching(handler: _Handler, function: types.FunctionType) -> types.CodeType:
    """Return code that asks `handler` while a program is traced, and else runs what `function` did before."""
    original = same_function(function)

    def dispatch(args: Any, kwargs: Any) -> Any:
        tracer = hooks.active_tracer()
        if tracer is None:
            return original(*args, **kwargs)
        return handler(tracer, function, original, args, kwargs)

    return trampoline(function, dispatch)


def _curried(tracer: Any, function: Any, original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    given = kwargs.pop("func") if "func" in kwargs else args[0]
    settings = (args[1:], kwargs)

    def transformed(*call_args: Any, **call_kwargs: Any) -> Any:
        running = hooks.active_tracer()
        if running is None:
            return original(given, *settings[0], **settings[1])(*call_args, **call_kwargs)
        inner = outline(running, given, call_args, call_kwargs)
        result = running.create_proxy(
            "call_function",
            program.transform,
            (function, inner.function, inner.captures, *settings, call_args, call_kwargs),
            {},
            name=function.__name__,
        )
        return rebuild(inner.result, result) if function is torch.func.vmap else result

    return transformed


def _spread(tracer: Any, function: Any, original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    given, *primals = args
    inner = outline(tracer, given, primals, {})
    return _call(tracer, function, inner, tuple(primals), kwargs)


def _of_inputs(
    tracer: Any, function: Any, original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    given, inputs, *rest = args
    inner = outline(tracer, given, inputs if type(inputs) in (tuple, list) else (inputs,), {})
    return _call(tracer, function, inner, (inputs, *rest), kwargs)


def _call(tracer: Any, function: Any, inner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    full = (function, inner.function, inner.captures, args, kwargs)
    return tracer.create_proxy("call_function", program.call_with, full, {}, name=function.__name__)


def checkpointed(tracer: Watcher, preserve: bool, function: Any, args: tuple[Any, ...]) -> Any:
    """Record a reentrant checkpoint, under which gradients are those of its own backward."""
    inner = outline(tracer, function, args, {})
    kwargs = {"use_reentrant": True, "preserve_rng_state": preserve}
    return rebuild(inner.result, _call(tracer, checkpoint, inner, args, kwargs))


def _cond(tracer: Any, function: Any, original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    named = {**dict(zip(("pred", "true_fn", "false_fn", "operands"), args, strict=False)), **kwargs}
    pred, operands = named["pred"], tuple(named.get("operands", ()))
    branches, captures, result = join(tracer, (named["true_fn"], named["false_fn"]), operands)
    return rebuild(result, _branch(tracer, function, branches, captures, (pred,), operands))


def _branch(
    tracer: Any, function: Any, inner: Any, captures: Any, before: tuple[Any, ...], operands: tuple[Any, ...]
) -> Any:
    """Record a call of `function(*before, *inner, operands)`."""
    full = (function, before, tuple(inner), captures, operands)
    return tracer.create_proxy("call_function", program.call_with_several, full, {}, name=function.__name__)


def _while_loop(
    tracer: Any, function: Any, original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    named = {**dict(zip(("cond_fn", "body_fn", "carried_inputs"), args, strict=False)), **kwargs}
    carried = tuple(named["carried_inputs"])
    functions, captures, _ = join(tracer, (named["cond_fn"], named["body_fn"]), carried)
    return _branch(tracer, function, functions, captures, (), carried)
