"""Sees every torch call of a program that runs on fake tensors."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

from ...values import FakeTensor
from ..frames import is_programs
from ..hooks import real_size
from ..mode import answer_for_real
from ..proxy import Proxy
from .numbers import _Traced
from .spelling import as_operator

if TYPE_CHECKING:
    from .tracer import ExampleTracer

__all__ = ["ExampleMode", "holds_values"]

_PINNED = frozenset({
    "dtype", "device", "requires_grad", "layout", "itemsize", "nbytes", "is_cuda", "is_cpu", "is_meta", "is_sparse",
    "is_quantized", "is_nested", "is_mkldnn", "is_xpu", "is_mps", "is_sparse_csr", "names",
})  # fmt: skip
"""Properties whose value is part of how a program is specialised, as soon as it reads them."""

_UNRECORDED = frozenset({
    "_version", "_backward_hooks", "__dict__", "output_nr", "_cdata", "_has_symbolic_sizes_strides",
})  # fmt: skip
"""Properties that torch itself reads all the time, and programs hardly ever."""

_KNOWN = (torch.Tensor, Proxy, _Traced)


class ExampleMode(TorchFunctionMode):
    """Records calls, and answers them with fake tensors.

    Args:
        tracer: Records.
    """

    def __init__(self, tracer: ExampleTracer) -> None:
        super().__init__()
        self._tracer = tracer

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Record or answer one call."""
        kwargs = kwargs or {}
        tracer = self._tracer
        for kind in types:
            if not issubclass(
                kind, _KNOWN
            ):  # a class of the program's, which tells itself what the call does
                with self:
                    return kind.__torch_function__(func, types, args, kwargs)
        if not holds_values(args) and not (kwargs and holds_values(kwargs)):
            return answer_for_real(tracer, func, args, kwargs)
        first = args[0] if args else None
        if type(first) is FakeTensor:
            name = getattr(func, "__name__", "")
            if tracer.optionals and name in _NOT_OF_NONE and tracer.is_optional(first):
                iterates = sys._getframe(1).f_code.co_name == "__iter__"
                asked = func.__self__.__name__ if name == "__get__" else name
                tracer.require(first, "__iter__" if iterates else asked)
            if name == "__get__":
                return self._property(first, func.__self__.__name__)
            answer = _ANSWERS.get(name)
            if answer is not None:
                return answer(tracer, func, args, kwargs)
            if name == "__set__":
                return tracer.call_function(setattr, (first, func.__self__.__name__, args[1]), {})
        else:
            name = getattr(func, "__name__", "")
        spelled = as_operator(name, args, any(id(arg) in tracer.several for arg in args))
        if spelled is not None:
            function, operands, node_name = spelled
            return tracer.create_proxy("call_function", function, operands, kwargs, name=node_name)
        return tracer.on_torch_function(func, args, kwargs)

    def _property(self, tensor: FakeTensor, name: str) -> Any:
        tracer = self._tracer
        if name == "shape":
            return tracer.shape_of(tensor)
        if name == "ndim":
            return tracer.rank_of(tensor)
        if name in _PINNED:
            return tracer.pin_property(tensor, name)
        if name in ("grad", "grad_fn", "_base"):
            return tracer.pin_absence(tensor, name)
        if name in _UNRECORDED and not is_programs(sys._getframe(2)):
            return getattr(tensor, name)
        if name in _UNRECORDED:
            return tracer.pin_property(tensor, name)
        return tracer.call_function(getattr, (tensor, name), {})


def holds_values(value: Any) -> bool:
    """Tell whether there is a traced value in containers of arguments."""
    cls = type(value)
    if cls is tuple or cls is list or cls is real_size:
        return any(map(holds_values, value))
    if cls is FakeTensor or issubclass(cls, _Traced):
        return True
    if issubclass(cls, dict):
        return any(map(holds_values, value.values()))
    if cls is slice:
        return holds_values((value.start, value.stop, value.step))
    if issubclass(cls, tuple | list):
        return any(map(holds_values, value))
    return False


def _dim(tracer: ExampleTracer, func: Any, args: Any, kwargs: Any) -> Any:
    return tracer.rank_of(args[0])


def _size(tracer: ExampleTracer, func: Any, args: Any, kwargs: Any) -> Any:
    if len(args) == 1 and not kwargs.get("dim") and "dim" not in kwargs:
        return tracer.shape_of(args[0])
    return tracer.on_torch_function(func, args, kwargs)


def _length(tracer: ExampleTracer, func: Any, args: Any, kwargs: Any) -> Any:
    # Asked by Python itself, which needs a plain number.
    return tracer.pin(tracer.call_function(len, args, {}), "len")


def _truth(tracer: ExampleTracer, func: Any, args: Any, kwargs: Any) -> Any:
    return tracer.truth(args[0])


def _number(kind: type, asked_for: str) -> Any:
    def answer(tracer: ExampleTracer, func: Any, args: Any, kwargs: Any) -> Any:
        return tracer.number_of(args[0], kind, asked_for)

    return answer


def _contains(tracer: ExampleTracer, func: Any, args: Any, kwargs: Any) -> Any:
    return tracer.decide(tracer.contains(args[0], args[1]))


def _as_it_is(tracer: ExampleTracer, func: Any, args: Any, kwargs: Any) -> Any:
    return func(*args, **kwargs)


def _text(tracer: ExampleTracer, func: Any, args: Any, kwargs: Any) -> Any:
    return tracer.tensor_text(args[0])


def _is_tensor(tracer: ExampleTracer, func: Any, args: Any, kwargs: Any) -> Any:
    tracer.refuse_optional(args[0])
    return func(*args, **kwargs)


def _array(tracer: ExampleTracer, func: Any, args: Any, kwargs: Any) -> Any:
    return tracer.to_array(tracer.as_proxy(args[0]))


def _list(tracer: ExampleTracer, func: Any, args: Any, kwargs: Any) -> Any:
    return tracer.list_of(args[0])


_NOT_OF_NONE = frozenset({"__get__", "dim", "ndimension", "size"})
"""What is answered without a node, and None has not."""

_ANSWERS: dict[str, Any] = {
    "dim": _dim, "ndimension": _dim, "size": _size, "__len__": _length, "__bool__": _truth,
    "__int__": _number(int, "int"), "__index__": _number(int, "index"), "__float__": _number(float, "float"),
    "__complex__": _number(complex, "complex"), "__contains__": _contains, "__hash__": _as_it_is,
    "__repr__": _text, "__str__": _text, "__format__": _text, "__array__": _array, "numpy": _array, "tolist": _list,
    "__dir__": _as_it_is, "is_tensor": _is_tensor,
}  # fmt: skip
