"""`Proxy`: a traced value. Every operation on it is recorded."""

from __future__ import annotations

import copy
import math
import operator
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import torch

from ..errors import ArgumentError, TraceError
from ..ir import Node
from .blame import trace_error
from .frames import asks_for_class, called_by_getattr, is_assert, is_compared_by_identity, unpacked_length

if TYPE_CHECKING:
    from .recording import TracerBase

__all__ = ["COMPUTED", "Attribute", "ParameterProxy", "Proxy"]

_TENSOR_SLOTS = frozenset({"data", "grad", "requires_grad", "real", "imag", "names"})
_IDENTITIES = frozenset({
    "_base", "device", "dtype", "grad", "grad_fn", "is_leaf", "layout", "names", "ndim", "requires_grad",
})  # fmt: skip
"""Attributes of tensors that people compare with `is`."""


class Proxy:
    """Stands for a value while a program is traced, and records what is done with it.

    Args:
        node: The node that computes the value.
        tracer: The tracer that records; by default one that only adds nodes to the graph of `node`.

    >>> import symtrace
    >>> graph = symtrace.Graph()
    >>> x = Proxy(graph.placeholder("x"))
    >>> (x + 1).node
    add
    """

    node: Node
    tracer: TracerBase

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        if tracer is None:
            from .recording import GraphAppendingTracer

            tracer = GraphAppendingTracer(node.graph)  # type: ignore[arg-type]
        object.__setattr__(self, "tracer", tracer)
        object.__setattr__(self, "node", node)

    def __graph_node__(self) -> Node:
        return self.node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __copy__(self) -> Any:
        return self.tracer.call_function(copy.copy, (self,), {})

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self.tracer.call_function(copy.deepcopy, (self,), {})

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise trace_error("ST024", reason="a traced value can't be pickled")

    # ------------------------------------------------------------------ attributes and calls

    def __getattr__(self, k: str) -> Any:
        if k.startswith("__") and k.endswith("__") and k not in _TENSOR_DUNDERS:
            raise AttributeError(
                k
            )  # Python asks for protocols; a traced value has those that are defined here
        if (
            k == "_is_param"
        ):  # how torch tells parameters of a class of their own; the class is asked for next
            raise AttributeError(k)
        if k not in _TENSOR_NAMES or k in _IDENTITIES:
            frame = sys._getframe(1)
            if (
                k not in _TENSOR_NAMES
                and k not in self.tracer._named
                and called_by_getattr(frame)
                and self.tracer.lacks_attribute(self, k)
            ):
                raise AttributeError(f"'Tensor' object has no attribute {k!r}")
            if is_compared_by_identity(frame):
                return self._ask("to_identity", Attribute(self, k), "is")
        attribute = Attribute(self, k)
        if k in COMPUTED:
            attribute._record()  # autograd adds gradients up in the order of the operations
        elif k in _PROPERTIES or k not in _TENSOR_NAMES:  # and no method, which stays the same
            self.tracer._note_unread(weakref.ref(attribute))
        return attribute

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _TENSOR_SLOTS or type(self) in _OWN_CLASSES:
            self.tracer.call_function(setattr, (self, name, value), {})
            self.tracer._named.add(name)
        else:
            object.__setattr__(self, name, value)

    @property
    def __class__(self) -> type:
        """The class of the value for the program that reads it or matches it; for anyone else that of the object."""
        if asks_for_class(sys._getframe(1)):
            return self.tracer.class_of(self)
        return type(self)

    @__class__.setter
    def __class__(self, value: Any) -> None:
        raise TypeError("the class of a traced value can't be changed")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Record a call of the value."""
        return self.tracer.call_method("__call__", (self, *args), kwargs)

    def __setitem__(self, index: Any, value: Any) -> None:
        self.tracer.call_function(operator.setitem, (self, index, value), {})

    def __delitem__(self, index: Any) -> None:
        raise trace_error("ST024", reason="a tensor does not support item deletion")

    def keys(self) -> Any:
        """Return what `**value` needs; see `Tracer.keys`."""
        return self.tracer.keys(self)

    # ------------------------------------------------------------------ questions that Python itself asks

    def __iter__(self) -> Iterator[Any]:
        frame = sys._getframe(1)
        count = unpacked_length(frame)
        if count is not None:
            self.tracer._assume_length(self, count)
            return iter([self[index] for index in range(count)])  # type: ignore[index]
        return self._ask("iter", self)  # type: ignore[no-any-return]

    def _ask(self, question: str, *args: Any) -> Any:
        """Ask the tracer; a refusal stands even where the program handles the exception."""
        try:
            return getattr(self.tracer, question)(*args)
        except TraceError as refusal:
            self.tracer.refusal = refusal
            raise

    def __bool__(self) -> bool:
        if self.tracer.trace_asserts:
            node = self.__dict__.get("node")  # not of an attribute, which would be made by asking
            if is_assert(sys._getframe(1), None if node is None else node.target):
                self.tracer.call_function(torch._assert, (self, "assertion failed"), {})
                return True
        return bool(self._ask("to_bool", self))

    def __len__(self) -> int:
        return int(self._ask("to_length", self))

    def __int__(self) -> int:
        return int(self._ask("to_number", self, "int"))

    def __float__(self) -> float:
        return float(self._ask("to_number", self, "float"))

    def __complex__(self) -> complex:
        return complex(self._ask("to_number", self, "complex"))

    def __contains__(self, item: Any) -> bool:
        return bool(self._ask("to_contains", self, item))

    def __hash__(self) -> int:
        return int(self._ask("to_hash", self))

    def __format__(self, spec: str) -> str:
        return str(self._ask("to_text", self, spec))

    def __str__(self) -> str:
        return str(self._ask("to_text", self, ""))

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return self._ask("to_array", self)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Record a function of numpy's that is called with numbers and sizes; others do what they do with objects."""
        if not self.tracer._holds_only_numbers((args, kwargs)):
            return function._implementation(*args, **kwargs)
        return self.tracer.call_function(function, args, kwargs)

    def __array_ufunc__(self, function: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        """Do so for a function of numpy's that works on each element."""
        if method != "__call__" or not self.tracer._holds_only_numbers((args, kwargs)):
            return self._ask("to_array", self)
        return self.tracer.call_function(function, args, kwargs)

    # ------------------------------------------------------------------ torch functions

    @classmethod
    def __torch_function__(
        cls, orig_method: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        for value in args:
            if isinstance_proxy(value):
                return value.tracer.on_torch_function(orig_method, args, kwargs)
        found: list[Proxy] = []
        collect_proxies((args, kwargs), found)
        return found[0].tracer.on_torch_function(orig_method, args, kwargs)


_TENSOR_NAMES = frozenset(dir(torch.Tensor))
_PROPERTIES = frozenset(
    name
    for name in _TENSOR_NAMES
    if not name.startswith("_") and not callable(getattr(torch.Tensor, name, len))
)
"""Attributes of tensors that are no methods."""
COMPUTED = frozenset({"H", "T", "data", "imag", "mH", "mT", "real"})
"""Properties that compute a tensor."""

_TENSOR_DUNDERS = frozenset({"__and__", "__or__", "__dlpack__"})


def isinstance_proxy(value: Any) -> bool:
    """Tell whether `value` is a traced value, without asking hooks."""
    return issubclass(type(value), Proxy)


def collect_proxies(value: Any, found: list[Proxy]) -> None:
    """Append every traced value in tuples, lists, dicts and slices to `found`."""
    if issubclass(type(value), Proxy):
        found.append(value)
        return
    cls = type(value)
    if issubclass(cls, list | tuple):
        for item in value:
            collect_proxies(item, found)
    elif issubclass(cls, dict):
        for item in value.values():
            collect_proxies(item, found)
    elif cls is slice:
        for item in (value.start, value.stop, value.step):
            collect_proxies(item, found)


class Attribute(Proxy):
    """An attribute of a traced value: a node is made only when it is used other than by calling it.

    Args:
        root: The traced value.
        attr: Name of the attribute.
    """

    def __init__(self, root: Proxy, attr: str) -> None:
        object.__setattr__(self, "root", root)
        object.__setattr__(self, "attr", attr)
        object.__setattr__(self, "tracer", root.tracer)
        object.__setattr__(self, "_node", None)

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The node that reads the attribute."""
        if self._node is None or self._node.erased:  # as it is where a region is recorded once more
            object.__setattr__(
                self, "_node", self.tracer.call_function(getattr, (self.root, self.attr), {}).node
            )
        return self._node  # type: ignore[no-any-return]

    def _record(self) -> None:
        """Record the reading of the attribute now."""
        self.node  # noqa: B018 - made by asking

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Record a call of the method."""
        return self.tracer.call_method(self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """A parameter whose shape is known and given as plain numbers.

    Args:
        tracer: The tracer.
        node: The node that reads the parameter.
        name: Its dotted path.
        param: The parameter.
    """

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: torch.nn.Parameter) -> None:
        super().__init__(node, tracer)
        if not isinstance(param, torch.nn.Parameter):
            raise ArgumentError("ST112", what="param", expected="a Parameter", actual=type(param).__name__)
        object.__setattr__(self, "param", param)
        object.__setattr__(self, "name", name)

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    @property
    def shape(self) -> torch.Size:
        """Shape of the parameter."""
        return self.param.shape  # type: ignore[no-any-return]

    def size(self, *args: Any) -> Any:
        """Return the size of the parameter."""
        return self.param.size(*args)

    def dim(self) -> int:
        """Return the number of dimensions."""
        return int(self.param.dim())

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return int(self.param.ndim)

    def numel(self) -> int:
        """Return the number of elements."""
        return int(self.param.numel())

    def nelement(self) -> int:
        """Return the number of elements."""
        return int(self.param.numel())


# ---------------------------------------------------------------------- operators

_OPERATORS = (
    "add", "and_", "eq", "floordiv", "ge", "getitem", "gt", "le", "lshift", "lt", "matmul", "mod", "mul", "ne", "or_",
    "pow", "rshift", "sub", "truediv", "xor",
)  # fmt: skip
_UNARY = ("abs", "invert", "neg", "pos")
_REFLECTED = (
    "add", "and_", "floordiv", "lshift", "matmul", "mod", "mul", "or_", "pow", "rshift", "sub", "truediv", "xor",
)  # fmt: skip


def _binary(target: Callable[..., Any]) -> Any:
    def method(self: Proxy, other: Any) -> Any:
        return self.tracer.call_function(target, (self, other), {})

    return method


def _unary(target: Callable[..., Any]) -> Any:
    def method(self: Proxy) -> Any:
        return self.tracer.call_function(target, (self,), {})

    return method


def _reflected(target: Callable[..., Any]) -> Any:
    def method(self: Proxy, other: Any) -> Any:
        return self.tracer.call_function(target, (other, self), {})

    return method


def _in_place(target: Callable[..., Any], name: str) -> Any:
    # Named like the operator without assignment, which is how people select the node.
    def method(self: Proxy, other: Any) -> Any:
        return self.tracer.create_proxy("call_function", target, (self, other), {}, name=name)

    return method


def _rounding(target: Callable[..., Any]) -> Any:
    def method(self: Proxy, *args: Any) -> Any:
        return self.tracer.call_function(target, (self, *args), {})

    return method


def _install_operators() -> None:
    for name in _OPERATORS:
        target = getattr(operator, name)
        setattr(Proxy, f"__{name.rstrip('_')}__", _binary(target))
    for name in _UNARY:
        setattr(Proxy, f"__{name}__", _unary(getattr(operator, name)))
    for name in _REFLECTED:
        plain = name.rstrip("_")
        setattr(Proxy, f"__r{plain}__", _reflected(getattr(operator, name)))
        setattr(Proxy, f"__i{plain}__", _in_place(getattr(operator, f"i{plain}"), name))
    for name, function in (
        ("round", round),
        ("floor", math.floor),
        ("ceil", math.ceil),
        ("trunc", math.trunc),
    ):
        setattr(Proxy, f"__{name}__", _rounding(function))
    setattr(Proxy, "__divmod__", _binary(divmod))  # noqa: B010 - like its neighbours
    setattr(Proxy, "__rdivmod__", _reflected(divmod))  # noqa: B010


_install_operators()
_OWN_CLASSES = frozenset({Proxy, Attribute, ParameterProxy})
"""Classes whose objects have no attributes of a subclass's own."""
