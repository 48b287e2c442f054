"""Functions that stay one node: `wrap`, and what other registries name."""

from __future__ import annotations

import builtins
import functools
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any

from ..errors import ArgumentError
from .hooks import PatchSet, _gated, active_tracer

__all__ = ["add_source", "patch_wrapped", "same_function", "trampoline", "wrap", "wrapped_methods"]

_names: dict[tuple[int, str], dict[str, Any]] = {}
_functions: dict[int, types.FunctionType] = {}
wrapped_methods: list[tuple[type, str]] = []
"""Methods, as pairs of a class and a name, of which calls with traced arguments stay one node."""

_sources: list[Callable[[], Iterable[tuple[dict[str, Any], str]]]] = []


def wrap(fn_or_name: Any) -> Any:
    """Keep a function as one node instead of tracing into it.

    Use it as a decorator, or call it at module level with a function or with the name of one that the module uses.

    Args:
        fn_or_name: A function, a method (`wrap(Model.pick)`), or the name of a global function.

    Returns:
        The function, for use as a decorator. For a nested function it is a new one, since only its callers can be
        told of it.

    Raises:
        ArgumentError: ST016, it is neither a function nor a name, or the name is not wrapped at module level.

    >>> import torch, symtrace
    >>> @symtrace.wrap
    ... def pick(x):
    ...     return x if x.sum() > 0 else -x
    >>> symtrace.symbolic_trace(lambda x: pick(x))(torch.tensor(-1.0))
    tensor(1.)
    """
    if isinstance(fn_or_name, str):
        frame = sys._getframe(1)
        if frame.f_code.co_name != "<module>":
            reason = "a name must be wrapped at the top level of a module"
            raise ArgumentError("ST016", what=f"the name {fn_or_name!r}", reason=reason)
        _names[(id(frame.f_globals), fn_or_name)] = frame.f_globals
        return fn_or_name
    if not callable(fn_or_name) or isinstance(fn_or_name, type):
        raise ArgumentError(
            "ST016", what=repr(fn_or_name), reason="it is neither a function nor the name of one"
        )
    if not isinstance(fn_or_name, types.FunctionType):
        return _caller(fn_or_name)
    if fn_or_name.__closure__ is None and "<locals>" not in fn_or_name.__qualname__:
        # Every caller has this very object, so that its code is what captures have to see.
        _functions[id(fn_or_name)] = fn_or_name
        return fn_or_name
    return _caller(fn_or_name)


def _caller(function: Any) -> Any:
    @functools.wraps(function)
    def recorded(*args: Any, **kwargs: Any) -> Any:
        tracer = active_tracer()
        if tracer is not None:
            proxy = tracer._find_proxy(args, kwargs)
            if proxy is not None:
                return _record(proxy, recorded, args, kwargs)
        return function(*args, **kwargs)

    return recorded


def _record(proxy: Any, target: Any, args: Any, kwargs: Any) -> Any:
    tracer = proxy.tracer
    result = tracer.call_function(target, args, kwargs)
    # The result may be anything that the function gives; the call is among the latest nodes.
    node = next(node for node in reversed(tracer.graph.nodes) if node.target is target)
    node.meta["is_wrapped"] = True
    return result


def add_source(source: Callable[[], Iterable[tuple[dict[str, Any], str]]]) -> None:
    """Register a function that gives further `(globals, name)` pairs of functions to keep as one node."""
    _sources.append(source)


def patch_wrapped(patches: PatchSet, extra: Iterable[Any] = ()) -> None:
    """Have calls of wrapped functions recorded while `patches` are in force.

    Args:
        patches: Where to note the patches.
        extra: Further functions.
    """
    for (_, name), table in list(_names.items()):
        _patch_name(patches, table, name)
    for source in _sources:
        for table, name in source():
            _patch_name(patches, table, name)
    for cls, name in wrapped_methods:
        method = getattr(cls, name)
        patches.patch(cls, name, functools.partial(_gated_method, method))
    for function in [*_functions.values(), *extra]:
        if isinstance(function, types.FunctionType) and function.__closure__ is None:
            patches.patch_code(function, _trampoline)


def _gated_method(method: Any, before: Any) -> Any:
    return _gated(before or method)


def _patch_name(patches: PatchSet, table: dict[str, Any], name: str) -> None:
    builtin = getattr(builtins, name, None)
    if builtin is not None and builtin.__module__ == _gated.__module__:  # a hook that is in force already
        builtin = builtin.__wrapped__
    if name in table or builtin is not None:
        patches.patch(table, name, lambda before: _gated(builtin if before is None else before))


def _trampoline(function: types.FunctionType) -> types.CodeType:
    """Return code that records a call of `function` with traced arguments, and else runs what it did before."""
    original = same_function(function)

    def dispatch(args: Any, kwargs: Any) -> Any:
        tracer = active_tracer()
        if tracer is not None:
            proxy = tracer._find_proxy(args, kwargs)
            if proxy is not None:
                return _record(proxy, function, args, kwargs)
        return original(*args, **kwargs)

    return trampoline(function, dispatch)


def same_function(function: types.FunctionType) -> types.FunctionType:
    """Return a function that goes on doing what `function` does now, whatever code that is given."""
    original = types.FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    original.__kwdefaults__ = function.__kwdefaults__
    return original


def trampoline(function: types.FunctionType, dispatch: Callable[[Any, Any], Any]) -> types.CodeType:
    """Return code for `function` that hands its arguments to `dispatch`.

    Args:
        function: A function with at most six variables from around it.
        dispatch: Takes the arguments and the keyword arguments.
    """
    code: types.CodeType = _TEMPLATES[len(function.__code__.co_freevars)].__code__
    constants = tuple(dispatch if constant == "dispatch" else constant for constant in code.co_consts)
    return code.replace(co_consts=constants, co_name=function.__code__.co_name)


def _templates() -> tuple[Any, ...]:
    # A function keeps its number of variables from around it.
    a = b = c = d = e = f = None
    plain: Any = lambda *args, **kwargs: ["dispatch"][0](args, kwargs)  # type: ignore[operator]  # noqa: E731
    one: Any = lambda *args, **kwargs: (a, ["dispatch"][0](args, kwargs))[-1]  # type: ignore[operator]  # noqa: E731
    two: Any = lambda *args, **kwargs: (a, b, ["dispatch"][0](args, kwargs))[-1]  # type: ignore[operator]  # noqa: E731
    three: Any = lambda *args, **kwargs: (a, b, c, ["dispatch"][0](args, kwargs))[-1]  # type: ignore[operator]  # noqa: E731
    four: Any = lambda *args, **kwargs: (a, b, c, d, ["dispatch"][0](args, kwargs))[-1]  # type: ignore[operator]  # noqa: E731
    five: Any = lambda *args, **kwargs: (a, b, c, d, e, ["dispatch"][0](args, kwargs))[-1]  # type: ignore[operator]  # noqa: E731
    six: Any = lambda *args, **kwargs: (a, b, c, d, e, f, ["dispatch"][0](args, kwargs))[-1]  # type: ignore[operator]  # noqa: E731
    return plain, one, two, three, four, five, six


_TEMPLATES = _templates()
