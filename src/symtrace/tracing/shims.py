"""Stand-ins for builtin classes that Python calls without asking a traced value: `int`, `float`, `range`, `type`.

They are put into the globals of the user's modules, for the time of a capture and only where a program needs them.
"""

from __future__ import annotations

import builtins
from typing import Any

from .hooks import active_tracer

__all__ = ["SHIMS"]


class _Meta(type):
    """Answers type questions as the builtin class would."""

    real: type

    def __instancecheck__(cls, value: Any) -> bool:
        return builtins.isinstance(value, cls.real)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, cls.real)

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is cls.real

    def __hash__(cls) -> int:
        return hash(cls.real)

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls.real, name)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        tracer = active_tracer()
        if tracer is not None and args and tracer._is_proxy(args[0]):
            return _ANSWERS[cls.real](args, kwargs)
        if tracer is not None and cls.real is range and any(map(tracer._is_proxy, args)):
            return _range(args, kwargs)
        return cls.real(*args, **kwargs)


def _convert(real: type) -> Any:
    def answer(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        tracer = active_tracer()
        assert tracer is not None
        return tracer.call_function(real, args, kwargs)

    return answer


def _range(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tracer = active_tracer()
    assert tracer is not None
    return range(*[tracer.to_number(arg, "range") if tracer._is_proxy(arg) else arg for arg in args])


def _type(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tracer = active_tracer()
    assert tracer is not None
    return tracer.type_of(args[0])


_ANSWERS = {int: _convert(int), float: _convert(float), range: _range, type: _type}
SHIMS = {real.__name__: _Meta(real.__name__, (), {"real": real}) for real in _ANSWERS}
