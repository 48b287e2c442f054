"""`Graph`: an ordered list of nodes that keeps its invariants at every edit."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from .._base.names import Namespace, snake_case
from .._base.order import label_between
from ..errors import ArgumentError, GraphEditError
from . import clone as _clone
from . import edits as _edits
from . import lint as _lint
from .dead import eliminate_dead
from .events import Event, EventKind
from .node import OPS, Node, new_node
from .region import adopt_regions, holder_of
from .text import format_graph

__all__ = ["Graph", "InsertPoint", "NodeList"]

_Subscriber = Callable[[Event], None]
_SelfGraph = TypeVar("_SelfGraph", bound="Graph")
_OPS = frozenset(OPS)


class NodeList:
    """The nodes of a graph in order: a live view that may be iterated while the graph is edited."""

    __slots__ = ("_backwards", "_graph")

    def __init__(self, graph: Graph, backwards: bool = False) -> None:
        self._graph = graph
        self._backwards = backwards

    def __len__(self) -> int:
        return self._graph._count

    def __iter__(self) -> Iterator[Node]:
        root = self._graph._root
        if self._backwards:
            node = root._prev
            while node is not root:
                if node._order >= 0:
                    yield node
                node = node._prev
        else:
            node = root._next
            while node is not root:
                # An erased node keeps its links, so that a loop that erases what it visits goes on behind it.
                if node._order >= 0:
                    yield node
                node = node._next

    def __reversed__(self) -> NodeList:
        return NodeList(self._graph, not self._backwards)

    def __contains__(self, node: object) -> bool:
        return isinstance(node, Node) and node.graph is self._graph and node._order >= 0

    def __repr__(self) -> str:
        return repr(list(self))


class InsertPoint:
    """Where a graph inserts new nodes; as a context manager it restores the earlier point on exit."""

    __slots__ = ("_before", "_graph")

    def __init__(self, graph: Graph, cursor: Node) -> None:
        self._graph = graph
        self._before = graph._cursor
        graph._cursor = cursor

    def __enter__(self) -> InsertPoint:
        return self

    def __exit__(self, *exc: object) -> None:
        before = self._before
        while before._order < 0 and before is not self._graph._root:
            before = before._next
        self._graph._cursor = before


class Graph:
    """A program as an ordered list of nodes.

    The invariants hold after every edit: each node belongs to one graph; values are defined before they are used;
    `users` agrees with the arguments; placeholders stand first, and one output at most stands last; names are
    unique; arguments are frozen. An edit that would break one raises and changes nothing.

    Args:
        owning_module: The module in which `get_attr` and `call_module` targets resolve.
        tracer_cls: Class of the tracer that made the graph.
        tracer_extras: Its extra settings.

    Attributes:
        version: Grows with every edit.

    >>> import operator
    >>> graph = Graph()
    >>> x = graph.placeholder("x")
    >>> total = graph.call_function(operator.add, (x, 1))
    >>> result = graph.output(total)
    >>> print(graph)
    graph(x):
        %x : [num_users=1] = placeholder[target=x]
        %add : [num_users=1] = call_function[target=operator.add](args = (%x, 1), kwargs = {})
        return add
    """

    def __init__(
        self,
        owning_module: Any = None,
        tracer_cls: type | None = None,
        tracer_extras: dict[str, Any] | None = None,
    ) -> None:
        root = new_node(self, "root", "", "", -1)
        root._prev = root._next = root
        self._root = self._cursor = root
        self._names: dict[str, Node] = {}
        self._inputs: set[str] = set()
        self._namespace = Namespace(self._names)
        self._stems: dict[Any, str] = {}
        self._index: dict[tuple[str, Any], dict[Node, None]] | None = None
        self._subscribers: tuple[_Subscriber, ...] = ()
        self._count = 0
        self.version = 0
        self._owning_module = owning_module
        self._holder: Node | None = None
        self._tracer_cls = tracer_cls
        self._tracer_extras = tracer_extras

    # ------------------------------------------------------------------ looking

    @property
    def owning_module(self) -> Any:
        """The module that runs this graph, or None; for a region, that of the graph around it."""
        if self._holder is None:
            return self._owning_module
        node = holder_of(self)
        return self._owning_module if node is None else node.graph.owning_module

    @owning_module.setter
    def owning_module(self, module: Any) -> None:
        self._owning_module = module

    @property
    def nodes(self) -> NodeList:
        """The nodes in order, as a live view; `len` is constant time."""
        return NodeList(self)

    def node(self, name: str) -> Node:
        """Return the node called `name`, in constant time.

        Raises:
            KeyError: There is none.
        """
        return self._names[name]

    def find_nodes(self, *, op: str, target: Any = None, sort: bool = True) -> list[Node]:
        """Return the nodes of one op kind, in order.

        Args:
            op: Op kind.
            target: Only nodes with this target; for ops other than `call_function` it may be left out.
            sort: Order the result as the graph is ordered.

        Cost: proportional to the result; the first call indexes the graph once.
        """
        index = self._index
        if index is None:
            index = self._index = _edits.build_index(self)
        if target is None:
            if op == "call_function":
                raise ArgumentError("ST112", what="target", expected="given for call_function", actual="None")
            found = [node for (kind, _), nodes in index.items() if kind == op for node in nodes]
        else:
            found = list(index.get((op, _edits.index_key(target)), ()))
        return sorted(found) if sort else found

    def output_node(self) -> Node:
        """Return the output node.

        Raises:
            GraphEditError: ST113, there is none.
        """
        last = self._root._prev
        if last._op != "output":
            raise GraphEditError("ST113")
        return last

    def subscribe(self, subscriber: _Subscriber) -> Callable[[], None]:
        """Have `subscriber` called with an `Event` after each edit; returns a function that ends it."""
        self._subscribers = (*self._subscribers, subscriber)

        def unsubscribe() -> None:
            self._subscribers = tuple(known for known in self._subscribers if known is not subscriber)

        return unsubscribe

    def _emit(self, kind: EventKind, node: Node | None, old: Any = None) -> None:
        if self._subscribers:
            event = Event(kind, node, old)
            for subscriber in self._subscribers:
                subscriber(event)

    def _touch(self, kind: EventKind, node: Node | None = None) -> None:
        """Note an edit that has no other effect on the graph itself."""
        self.version += 1
        self._emit(kind, node)

    # ------------------------------------------------------------------ creating

    def create_node(
        self,
        op: str,
        target: Any,
        args: tuple[Any, ...] | None = None,
        kwargs: Mapping[str, Any] | None = None,
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Add a node at the insertion point.

        Placeholders gather at the top: one that is asked for elsewhere goes behind the last of them, and another
        node that is asked for among them goes below them.

        Args:
            op: Op kind.
            target: What to read or call.
            args: Positional arguments.
            kwargs: Keyword arguments.
            name: Wanted name; a number is added if it is taken.
            type_expr: Annotation of the value.

        Returns:
            The new node.

        Raises:
            ArgumentError: ST111 or ST112, a wrong op kind or a wrong type of `target`, `args` or `kwargs`.
            GraphEditError: ST101, ST102, ST104, ST106, ST107 or ST114.

        Cost: amortised constant, plus the size of the arguments.
        """
        if op not in _OPS:
            raise ArgumentError("ST111", op=op, known=", ".join(OPS))
        if op == "call_function":
            if not callable(target):
                raise ArgumentError(
                    "ST112", what="target of call_function", expected="a Callable", actual=repr(target)
                )
        elif type(target) is not str:
            target = _edits.string_target(op, target)
        found: list[Node] = []
        frozen, frozen_kwargs = _edits.freeze_arguments(args, kwargs, found, name or op)
        cursor = self._cursor
        before = cursor._prev
        if op == "placeholder" or op == "output" or cursor._op == "placeholder" or before._op == "output":
            cursor = _edits.place(self, op, target, cursor)
            before = cursor._prev
        # Labels of appended nodes need no search; see _base.order.
        order = before._order + 1048576 if cursor._order < 0 else label_between(before, cursor)  # type: ignore[arg-type]
        for used in found:
            if used.graph is not self or not 0 <= used._order < order:
                _edits.refuse_input(self, used, order, name or str(target))
        # An explicit name is given whenever it is free now; a derived one is numbered on.
        name = self._namespace.allocate(self._stem(target)) if name is None else self._namespace.claim(name)

        node = Node.__new__(Node)
        node.graph = self
        node._op = op
        node._name = name
        node._target = target
        node._order = order
        node._args = frozen
        node._kwargs = frozen_kwargs
        node._type = type_expr
        node._users = node._meta = node.spec = node.origin = node.kind = None
        node._prev = before
        node._next = cursor
        before._next = cursor._prev = node
        self._names[name] = node
        for used in found:
            if used._users is None:
                used._users = node
            else:
                used._add_user(node)
        self._count += 1
        self.version += 1
        if len(frozen) > 3:
            adopt_regions(node)
        if op == "placeholder":
            self._inputs.add(target)
        if self._index is not None:
            self._index.setdefault((op, _edits.index_key(target)), {})[node] = None
        if self._subscribers:
            self._emit("created", node)
        return node

    def _stem(self, target: Any) -> str:
        """Return the name that a target suggests, in snake case."""
        try:
            return self._stems[target]
        except (KeyError, TypeError):  # not met before, or an unhashable callable
            pass
        if isinstance(target, str):
            name = target
        else:
            name = getattr(target, "__name__", None) or type(target).__name__
        if name.startswith("__") and name.endswith("__") and len(name) > 4:
            name = name[2:-2]
        stem = snake_case(name.replace(".", "_"))
        try:
            self._stems[target] = stem
        except TypeError:  # an unhashable callable
            pass
        return stem

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = ...) -> Node:
        """Add an input.

        Args:
            name: Name of the parameter; `*name` and `**name` collect the rest.
            type_expr: Annotation.
            default_value: Value of the parameter when it is left out; without one it is required.
        """
        is_required = default_value is ... or default_value is inspect.Parameter.empty
        return self.create_node(
            "placeholder", name, () if is_required else (default_value,), type_expr=type_expr
        )

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """Add a read of the attribute at a dotted path of the owning module.

        Warns where the owning module is known and has no such attribute, as it may be added later.
        """
        _edits.warn_if_unresolved(self, "get_attr", qualified_name)
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(
        self,
        module_name: str,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Add a call of the submodule at a dotted path of the owning module.

        Warns where the owning module is known and has no such submodule, as it may be added later.
        """
        _edits.warn_if_unresolved(self, "call_module", module_name)
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(
        self,
        method_name: str,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Add a call of the method `method_name` of `args[0]`."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self,
        the_function: Callable[..., Any],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        type_expr: Any = None,
        name: str | None = None,
    ) -> Node:
        """Add a call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def output(self, result: Any, type_expr: Any = None) -> Node:
        """Add the output.

        Args:
            result: Value to return: a node, or nodes in tuples, lists and dicts.
            type_expr: Annotation of the result.

        Raises:
            GraphEditError: ST107, there is one already.
        """
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    # ------------------------------------------------------------------ insertion point

    def inserting_before(self, n: Node | None = None) -> InsertPoint:
        """Insert new nodes in front of `n`, or at the top of the graph.

        Use it in a `with` statement to go back afterwards, or call it to stay.

        Raises:
            GraphEditError: ST117, `n` is not in this graph.
        """
        return InsertPoint(self, self._root._next if n is None else _edits.own(self, n))

    def inserting_after(self, n: Node | None = None) -> InsertPoint:
        """Insert new nodes behind `n`, or at the end of the graph, in the order in which they are made.

        Raises:
            GraphEditError: ST117, `n` is not in this graph.
        """
        return InsertPoint(self, self._root if n is None else _edits.own(self, n)._next)

    # ------------------------------------------------------------------ editing

    def erase_node(self, to_erase: Node) -> None:
        """Remove a node that nothing uses.

        Raises:
            GraphEditError: ST103 (still used), ST117 (not in this graph). Erasing an erased node again does nothing
                but warn.
        """
        _edits.erase(self, to_erase)

    def replace(self, old: Node, new: Any) -> Node:
        """Put `new` in the place of `old`: its users use `new`, and `old` is erased.

        Args:
            old: A node of this graph.
            new: Another node of this graph; or a callable, put as a `call_function` with the arguments of `old`.

        Returns:
            The node that took over.

        Raises:
            GraphEditError: As `Node.replace_all_uses_with`; then nothing has changed.
        """
        return _edits.replace(self, old, new)

    def eliminate_unused(self, is_removable: Callable[[Node], bool]) -> list[Node]:
        """Erase nodes without users, last first, as far as `is_removable` allows; returns what was erased.

        Cost: linear.
        """
        return _edits.eliminate_unused(self, is_removable)

    def eliminate_dead(self, is_removable: Callable[[Node], bool]) -> bool:
        """Erase nodes without users, in regions too, as far as `is_removable` allows.

        Values that a region no longer uses are no longer passed to it, and results of a decision that nothing uses no
        longer computed.

        Returns:
            Whether anything was changed.

        Cost: linear.
        """
        return eliminate_dead(self, is_removable)

    def _assign(self, node: Node, args: Any, kwargs: Any) -> None:
        _edits.assign(self, node, args, kwargs)

    def _move(self, node: Node, before: Node) -> None:
        _edits.move(self, node, before)

    def _rename(self, node: Node, name: str) -> None:
        _edits.rename(self, node, name)

    def _retarget(self, node: Node, op: str, target: Any) -> None:
        _edits.retarget(self, node, op, target)

    def _replace_uses(
        self, old: Node, new: Any, keep: Callable[[Node], bool] | None, propagate_meta: bool
    ) -> list[Node]:
        return _edits.replace_uses(self, old, new, keep, propagate_meta)

    # ------------------------------------------------------------------ copying

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Any] = lambda node: node) -> Node:
        """Copy one node, usually of another graph, to the insertion point.

        Args:
            node: Node to copy.
            arg_transform: Gives, for each argument that is a node, the value to use here.

        Returns:
            The copy, with the name of the original where it is free, and a shallow copy of its metadata.
        """
        return _clone.copy_node(self, node, arg_transform)

    def graph_copy(self, g: Graph, val_map: dict[Node, Any], return_output_node: bool = False) -> Any:
        """Copy all nodes of `g` but its output to the insertion point.

        Args:
            g: Graph to copy.
            val_map: Receives the copy of each node; nodes that are in it already are not copied, and the value given
                there is used for them.
            return_output_node: Return a pair of the value and the output node of `g`.

        Returns:
            What `g` returns, in terms of this graph; None if `g` has no output.

        Cost: linear.
        """
        return _clone.copy_graph(self, g, val_map, return_output_node)

    def __deepcopy__(self: _SelfGraph, memo: dict[int, Any] | None = None) -> _SelfGraph:
        return _clone.clone(self, {} if memo is None else memo)  # type: ignore[no-any-return]

    def __copy__(self: _SelfGraph) -> _SelfGraph:
        return _clone.clone(self, {})  # type: ignore[no-any-return]

    def __reduce__(self) -> Any:
        return _clone.restore, (type(self), _clone.encode(self), self._extra_state())

    def _blank(self: _SelfGraph) -> _SelfGraph:
        """Return an empty graph of the same class and settings."""
        return type(self)(tracer_cls=self._tracer_cls, tracer_extras=self._tracer_extras)

    def _extra_state(self) -> dict[str, Any]:
        """What a subclass adds to the pickled form."""
        return {}

    def _set_extra_state(self, state: dict[str, Any]) -> None:
        """Take back what `_extra_state` gave."""

    # ------------------------------------------------------------------ checking and printing

    def lint(self) -> None:
        """Check every invariant.

        Raises:
            LintError: ST116, with all faults at once, shown in the printed graph.

        Cost: linear.
        """
        _lint.lint(self)

    def is_impure(self, node: Node, impure_random: bool = True) -> bool:
        """Tell whether `node` does more than compute its value; without operator knowledge every call does."""
        return node._op != "get_attr"

    def normalized_arguments(self, node: Node, root: Any, *args: Any, **kwargs: Any) -> Any:
        """Return `Node.normalized_arguments`; without operator knowledge no signature is known."""
        return None

    def __str__(self) -> str:
        return format_graph(self)
