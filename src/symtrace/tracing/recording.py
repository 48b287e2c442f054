"""Recording: the hooks that every tracer has."""

from __future__ import annotations

import operator
import weakref
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, NamedTuple

import torch

from ..errors import MutableOperationError, TraceError
from ..ir import Frame, Node, Origin, immutable_dict, immutable_list, map_arg
from ..ops import program
from ..ops.torch_signatures import writing_overload
from ..runtime import Graph
from ..runtime.graph import find_module
from ..runtime.node_meta import get_current_meta, has_preserved_node_meta
from ..values import outside_modes
from .arguments import ATOMS, convert_container, convert_object, holds
from .blame import data_dependent, here
from .control_flow.levels import Level
from .frames import is_unpacking_mapping, user_frame, user_frames
from .guards import add_guard
from .hooks import unwatched
from .known import Known, Unknown
from .proxy import Attribute, Proxy, collect_proxies
from .real_values import RealValues
from .report import Report

__all__ = ["GraphAppendingTracer", "Scope", "TracerBase"]


_BARRIERS = frozenset({setattr, program.enter_mode, program.exit_mode, program.write_attribute})


class Scope(NamedTuple):
    """The module whose forward is being traced.

    Attributes:
        module_path: Dotted path, `""` for the root.
        module_type: Its class.
    """

    module_path: str
    module_type: Any


class TracerBase:
    """Records operations on traced values as nodes of `graph`; the hooks are methods.

    Each hook calls the next inner one: `call_function` and `call_method` call `create_proxy`, which calls `create_arg`
    for the arguments, `create_node` for the node and `proxy` for the value to give back.

    Attributes:
        graph: The graph that is recorded.
        record_stack_traces: Record all frames of the user's stack with each node, not only the innermost.
        check_mutable_operations: Refuse operators of torch whose schema writes to an argument.
        trace_asserts: Record `assert` on traced values as `torch._assert`.
        proxy_buffer_attributes: Treat buffers as traced values when they are read, as parameters are.
        traced_func_name: Name of the method of the root that is traced.
        keeps_control_flow: Record decisions that traced values make, both ways.
        examples: Example values by placeholder.
        real_examples: Placeholders whose example is followed where its content decides, with the example.
        report: What was decided on the user's behalf.
        shared: Nodes of containers that leave the program in several places, by their identity.
        given: Containers among the example inputs that can be changed, by their identity.
        refusal: A question on a traced value that could not be answered, whatever the program made of the exception.
    """

    graph: Graph
    record_stack_traces: bool = False
    check_mutable_operations: bool = False
    trace_asserts: bool = False
    proxy_buffer_attributes: bool = False
    traced_func_name: str = "forward"
    keeps_control_flow: bool = False
    _outside: FrameType | None = None

    def __init__(self) -> None:
        self.scope = Scope("", None)
        self.module_stack: dict[str, tuple[str, Any]] = {}
        self.node_name_to_scope: dict[str, tuple[str, Any]] = {}
        self._begin()

    def _begin(self) -> None:
        self.examples: dict[Node, Any] = {}
        self.real_examples: dict[Node, Any] = {}
        self._real: RealValues | None = None
        self.report = Report()
        self.refusal: TraceError | None = None
        self._known = Known(self)
        self._guarded: set[Node] = set()
        self.shared: dict[int, Node] = {}
        self.given: dict[int, Any] = {}
        self.levels: list[Level] = []
        self._calls: dict[Any, tuple[str, Any]] = {}
        self._named: set[str] = set()
        self._unread: list[weakref.ref[Attribute]] = []

    # ------------------------------------------------------------------ recording

    def _note_frame(self, frame: FrameType) -> None:
        """See the innermost frame of the program's that records something."""

    def _on_node(self, kind: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """See what is about to be recorded."""

    def create_node(
        self,
        kind: str,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Add a node to the graph; the innermost recording hook.

        Args:
            kind: Op kind.
            target: What to read or call.
            args: Arguments, converted.
            kwargs: Keyword arguments, converted.
            name: Wanted name.
            type_expr: Annotation.
        """
        self._on_node(kind, target, args, kwargs)
        if self._unread and (
            target in _BARRIERS if kind == "call_function" else kind == "call_method" and target[-1] == "_"
        ):
            self._read_attributes()
        if self.levels:
            local = self.levels[-1].local
            args, kwargs = map_arg(args, local), map_arg(kwargs, local)
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        if self.record_stack_traces:
            frames = user_frames(2, self._outside)
            node.origin = Origin(frames, self.scope.module_path, is_stack=True)
        else:
            frame = user_frame(2)
            if frame is not None:
                self._note_frame(frame)
                node.origin = Origin((Frame(frame.f_code, frame.f_lasti),), self.scope.module_path)
        self.node_name_to_scope[node.name] = (self.scope.module_path, self.scope.module_type)
        if self.module_stack:
            node._meta = {"nn_module_stack": self.module_stack}
        if has_preserved_node_meta():
            node._meta = {**get_current_meta(), **(node._meta or {})}
        if self.check_mutable_operations and kind == "call_function":
            self._refuse_mutation(node)
        return node

    def _note_unread(self, attribute: weakref.ref[Attribute]) -> None:
        """Remember an attribute that is recorded when it is used, but no later than something that may change it."""
        if len(self._unread) > 16:
            self._unread = [held for held in self._unread if held() is not None]
        self._unread.append(attribute)

    def _read_attributes(self) -> None:
        unread, self._unread = self._unread, []
        for held in unread:
            attribute = held()
            if attribute is not None:
                attribute._record()

    def _assume_length(self, value: Proxy, count: int) -> None:
        """Note that a value was unpacked into so many names."""

    def _refuse_mutation(self, node: Node) -> None:
        overload = writing_overload(node.target, node.args, node.kwargs)
        if overload is not None:
            self.graph.erase_node(node)
            raise MutableOperationError("ST018", location=here(2), call=overload)

    def proxy(self, node: Node) -> Proxy:
        """Return the traced value of a node."""
        return Proxy(node, self)

    def create_proxy(
        self,
        kind: str,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any = None,
        proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Proxy:
        """Record an operation on values and return the traced value of its result.

        Args:
            kind: Op kind.
            target: What to read or call.
            args: Arguments: traced values, tensors, containers, constants.
            kwargs: Keyword arguments.
            name: Wanted name of the node.
            type_expr: Annotation.
            proxy_factory_fn: Makes the traced value instead of `proxy`.
        """
        args_ = self.create_arg(args)
        kwargs_ = self.create_arg(kwargs) if kwargs else {}
        node = self.create_node(kind, target, args_, kwargs_, name, type_expr)
        return self.proxy(node) if proxy_factory_fn is None else proxy_factory_fn(node)

    def call_function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record a call of a function."""
        return self.create_proxy("call_function", function, args, kwargs)

    def call_method(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record a call of a method of `args[0]`."""
        return self.create_proxy("call_method", method, args, kwargs)

    def create_arg(self, a: Any) -> Any:
        """Return a value as an argument of a node.

        Args:
            a: A traced value, a tensor, a container of such, or a constant.

        Raises:
            TraceError: ST017, an object that holds traced values and can't be built again.
        """
        cls = type(a)
        if cls in ATOMS:
            return a
        if issubclass(cls, Proxy):
            return a.node
        if self.shared and id(a) in self.shared:
            return self.shared[id(a)]
        if cls is tuple:
            return tuple([self.create_arg(item) for item in a])
        if cls is list or cls is immutable_list:
            return [self.create_arg(item) for item in a]
        if cls is dict or cls is immutable_dict:
            return {self._key(key): self.create_arg(item) for key, item in a.items()}
        if cls is slice:
            return slice(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if hasattr(cls, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if issubclass(cls, tuple | list | dict):
            return convert_container(a, self.create_arg, self._call_node)
        if issubclass(cls, Node):
            return a
        return convert_object(a, self.create_arg, self._call_node, self.holds_values)

    def given_node(self, identity: int) -> Node:
        """Return the node of a container that is an input."""
        raise NotImplementedError

    def holds_values(self, value: Any) -> bool:
        """Tell whether there are traced values in containers, and in the attributes of objects in them."""
        return holds(value, lambda item: issubclass(type(item), Proxy))

    @staticmethod
    def _key(key: Any) -> Any:
        found: list[Proxy] = []
        collect_proxies(key, found)
        if found:
            note = "keys of a dict that is an argument cannot contain a Node"
            raise data_dependent(found[0], "dict key", "ST013", note)
        return key

    def _call_node(
        self, target: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Node:
        return self.create_node("call_function", target, args, kwargs or {})

    def on_torch_function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record a call that torch handed over, as a function or a method, whichever the user called."""
        try:
            how, target = self._calls[function]
        except (KeyError, TypeError):
            how, target = _classify(function)
            try:
                self._calls[function] = (how, target)
            except TypeError:  # an unhashable callable
                pass
        if how == "method":
            return self.call_method(target, args, kwargs)
        if how == "attribute":
            return self.call_function(getattr, (args[0], target), {})
        return self.call_function(target, args, kwargs)

    # ------------------------------------------------------------------ questions

    def attribute(self, target: str) -> Any:
        """Return what a `get_attr` or `call_module` target reads now, or None."""
        return None

    def _runs_backward(self) -> bool:
        """Tell whether the program has computed gradients, so that tensors of the module may have other ones."""
        return False

    def _holds_only_numbers(self, value: Any) -> bool:
        """Tell whether the traced values in containers are numbers and sizes, as far as is known."""
        return False

    def lacks_attribute(self, value: Proxy, name: str) -> bool:
        """Tell whether a value is known to have no such attribute."""
        return False

    def class_of(self, value: Proxy) -> type:
        """Return the class that `type(value)` would give for the value itself."""
        return torch.Tensor

    def _answer_of(self, node: Node, convert: Callable[[Any], Any]) -> tuple[Any, Any, bool]:
        """Return the value of a node, its answer to a question, and whether they hold only for calls like the example.

        Raises:
            Unknown: Only the run can tell it.
        """
        try:
            value, assumed = self._known.value(node)
            return value, _converted(value, convert), assumed
        except (Unknown, RuntimeError, TypeError, ValueError):
            if self._real is None:
                raise Unknown from None
        value = self._real.of(node)
        try:
            return value, _converted(value, convert), True
        except (RuntimeError, TypeError, ValueError):
            raise Unknown from None

    def _decide(self, obj: Proxy, asked_for: str, code: str, convert: Callable[[Any], Any]) -> Any:
        try:
            value, answer, assumed = self._answer_of(obj.node, convert)
        except Unknown:
            self.lift_asking()
            raise data_dependent(obj, asked_for, code) from None
        if assumed:
            self._guard_answer(obj, value, answer, asked_for)
        return answer

    def lift_asking(self) -> None:
        """Have the function rewritten that needs an answer now; nothing is by a tracer that only adds to a graph."""

    def _guard_answer(self, obj: Proxy, value: Any, answer: Any, asked_for: str) -> None:
        node = obj.node
        if asked_for == "len":
            node = self._call_node(len, (node,))
        elif isinstance(value, torch.Tensor) or type(value) is not type(answer):
            node = self._call_node(type(answer), (node,))
        if node not in self._guarded:
            self._guarded.add(node)
            add_guard(self, node, answer)

    def _value_now(self, obj: Proxy) -> bool:
        """Return what a flag is at capture, without a guard; true where that isn't known."""
        try:
            return bool(self._answer_of(obj.node, bool)[1])
        except Unknown:
            return True

    def to_bool(self, obj: Proxy) -> bool:
        """Answer `bool(value)`, which `if`, `while`, `and`, `or`, `not` and `assert` ask.

        Raises:
            DataDependentError: ST012, the answer is not known while tracing.
        """
        return bool(self._decide(obj, "bool", "ST012", bool))

    def to_length(self, obj: Proxy) -> int:
        """Answer a call of `__len__`.

        Raises:
            DataDependentError: ST013, the length is not known while tracing.
        """
        return int(self._decide(obj, "len", "ST013", len))

    def to_number(self, obj: Proxy, what: str) -> Any:
        """Answer `int`, `float` and the like.

        Raises:
            DataDependentError: ST013, the number is not known while tracing.
        """
        convert = {"int": int, "float": float, "complex": complex}.get(what, operator.index)
        return self._decide(obj, what, "ST013", convert)

    def to_identity(self, obj: Proxy, asked_for: str) -> Any:
        """Return the value itself, where an `is`, or a set or dict, looks at the object.

        Raises:
            DataDependentError: ST013, it is not known while tracing.
        """
        try:
            value, assumed = self._known.value(obj.node)
        except Unknown:
            if self._real is None:
                raise data_dependent(obj, asked_for, "ST013") from None
            return self._decide(obj, asked_for, "ST013", lambda value: value)
        if isinstance(value, torch.Tensor):
            return obj
        if assumed and obj.node not in self._guarded:
            self._guarded.add(obj.node)
            add_guard(self, obj.node, value)
        return value

    def to_hash(self, obj: Proxy) -> int:
        """Answer `hash(value)`, which sets and keys of dicts ask."""
        return object.__hash__(obj)

    def to_text(self, obj: Proxy, spec: str) -> str:
        """Answer `str(value)` and `format(value, spec)`."""
        return repr(obj)

    def to_contains(self, obj: Proxy, item: Any) -> bool:
        """Answer `item in value`.

        Raises:
            DataDependentError: ST020, the answer is not known while tracing.
        """
        return bool(self._decide(obj, "in", "ST020", lambda value: item in value))

    def to_array(self, obj: Proxy) -> Any:
        """Answer a conversion to numpy.

        Raises:
            DataDependentError: ST019, numpy can't work on a traced value.
        """
        raise data_dependent(obj, "numpy", "ST019")

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """Iterate over a traced value.

        Raises:
            DataDependentError: ST020, the length is not known while tracing.
        """
        count = self._decide(obj, "len", "ST020", len)
        return iter([obj[index] for index in range(count)])  # type: ignore[index]

    def keys(self, obj: Proxy) -> Any:
        """Return the keys of a traced value: for `value.keys()` a traced value.

        Raises:
            DataDependentError: ST020, `**value` needs the keys while tracing.
        """
        frame = user_frame(2)
        if frame is not None and is_unpacking_mapping(frame):
            raise data_dependent(obj, "**", "ST020")
        return Attribute(obj, "keys")()


def _classify(function: Any) -> tuple[str, Any]:
    """Tell whether a call is recorded as a method, an attribute or a function."""
    name = getattr(function, "__name__", "")
    if name == "__get__":
        return "attribute", getattr(function.__self__, "__name__", name)
    if name in ("__getitem__", "__setitem__"):
        return "function", getattr(operator, name.strip("_"))
    if getattr(torch.Tensor, name, None) is function:
        return "method", name
    return "function", function


class GraphAppendingTracer(TracerBase):
    """Adds to a graph that exists already, for traced values made by hand.

    Args:
        graph: The graph.
    """

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph

    def attribute(self, target: str) -> Any:
        """Return what a target reads from the module that owns the graph."""
        owner = self.graph.owning_module
        return None if owner is None else find_module(owner, target)


def _converted(value: Any, convert: Callable[[Any], Any]) -> Any:
    if not isinstance(value, torch.Tensor):
        return convert(value)
    with unwatched(), outside_modes():
        return convert(value)
