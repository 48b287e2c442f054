"""`Node`: one operation of a graph."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .._base.frozen import EMPTY_DICT, immutable_dict
from ..errors import ArgumentError, GraphEditError
from .args import find_nodes, map_arg
from .origin import Origin
from .text import format_node

if TYPE_CHECKING:
    from .graph import Graph

__all__ = ["OPS", "Node", "new_node"]

OPS = ("placeholder", "get_attr", "call_function", "call_method", "call_module", "output")
"""The six op kinds."""


class Node:
    """One operation of a graph; made by the methods of `Graph`, not directly.

    * `placeholder`: an input. `target` is the parameter's name (`*args` and `**kwargs` with their stars), `args` holds
      the default value, if any.
    * `get_attr`: reads an attribute of the owning module; `target` is its dotted path.
    * `call_function`: calls `target(*args, **kwargs)`.
    * `call_method`: calls the method named `target` of `args[0]`.
    * `call_module`: calls the submodule at the dotted path `target`.
    * `output`: returns `args[0]`.

    Attributes:
        graph: The graph that the node belongs to.
        kind: For a placeholder, the parameter's kind as `inspect.Parameter` spells it, where the target does not tell
            it (`"keyword_only"`, `"positional_only"`); else None.
        spec: What is known of the value, or None.
        origin: Where the node comes from, or None.
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_args",
        "_kwargs",
        "_meta",
        "_name",
        "_next",
        "_op",
        "_order",
        "_prev",
        "_target",
        "_type",
        "_users",
        "graph",
        "kind",
        "origin",
        "spec",
    )

    graph: Graph
    kind: str | None
    spec: Any
    origin: Origin | None
    _op: str
    _name: str
    _target: Any
    _args: tuple[Any, ...]
    _kwargs: immutable_dict[str, Any]
    _type: Any
    _meta: dict[str, Any] | None
    _users: Node | dict[Node, None] | None
    _prev: Node
    _next: Node
    _order: int

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise ArgumentError("ST112", what="a node", expected="made by its graph, as with graph.create_node(...)",
                            actual="Node(...)")  # fmt: skip

    def __repr__(self) -> str:
        return self._name

    @property
    def op(self) -> str:
        """The op kind."""
        return self._op

    @op.setter
    def op(self, value: str) -> None:
        self.graph._retarget(self, value, self._target)

    @property
    def target(self) -> Any:
        """What is read or called."""
        return self._target

    @target.setter
    def target(self, value: Any) -> None:
        self.graph._retarget(self, self._op, value)

    @property
    def name(self) -> str:
        """Unique name in the graph, and of the variable in generated code."""
        return self._name

    @name.setter
    def name(self, value: str) -> None:
        self.graph._rename(self, value)

    @property
    def type(self) -> Any:
        """Annotation of the value, or None."""
        return self._type

    @type.setter
    def type(self, value: Any) -> None:
        self._type = value
        self.graph._touch("annotated", self)

    @property
    def args(self) -> tuple[Any, ...]:
        """Positional arguments, frozen.

        Assigning checks the new arguments first; a refused assignment (`GraphEditError`) changes nothing.
        """
        return self._args

    @args.setter
    def args(self, value: tuple[Any, ...]) -> None:
        self.graph._assign(self, value, self._kwargs)

    @property
    def kwargs(self) -> Mapping[str, Any]:
        """Keyword arguments, frozen."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, value: Mapping[str, Any]) -> None:
        self.graph._assign(self, self._args, value)

    @property
    def meta(self) -> dict[str, Any]:
        """Free-form metadata, made when first asked for."""
        meta = self._meta
        if meta is None:
            meta = self._meta = {}
        return meta

    @meta.setter
    def meta(self, value: dict[str, Any]) -> None:
        self._meta = value

    @property
    def users(self) -> dict[Node, None]:
        """Nodes that use this one, in the order in which they came to use it; not to be written to."""
        users = self._users
        if type(users) is not dict:
            # One user is by far the commonest case and is kept without a dict until somebody looks.
            users = self._users = {} if users is None else {users: None}  # type: ignore[dict-item]
        return users

    @property
    def next(self) -> Node:
        """The node behind this one; the graph's sentinel behind the last."""
        return self._next

    @property
    def prev(self) -> Node:
        """The node in front of this one; the graph's sentinel in front of the first."""
        return self._prev

    @property
    def erased(self) -> bool:
        """Whether the node has been erased from its graph."""
        return self._order < 0

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes that this one uses, each once, in order of first use."""
        found: list[Node] = []
        for value in self._args:
            if type(value) is Node:
                found.append(value)
            else:
                find_nodes(value, found, Node)
        if self._kwargs:
            find_nodes(self._kwargs, found, Node)
        return list(dict.fromkeys(found)) if len(found) > 1 else found

    @property
    def stack_trace(self) -> str | None:
        """The user's frames that created this node, in the form of a traceback, if they were recorded."""
        recorded = None if self._meta is None else self._meta.get("stack_trace")
        if recorded is None and self.origin is not None and self.origin.is_stack:
            return self.origin.format() or None
        return recorded

    @stack_trace.setter
    def stack_trace(self, value: str | None) -> None:
        self.meta["stack_trace"] = value

    def __lt__(self, other: Node) -> bool:
        return self._order < other._order

    def __gt__(self, other: Node) -> bool:
        return self._order > other._order

    def __le__(self, other: Node) -> bool:
        return self._order <= other._order

    def __ge__(self, other: Node) -> bool:
        return self._order >= other._order

    def prepend(self, x: Node) -> None:
        """Move `x`, a node of the same graph, in front of this one.

        Raises:
            GraphEditError: ST101 (foreign), ST102 (erased), ST104, ST105 or ST106 (it would stand in a wrong place).
        """
        if x is not self:
            self.graph._move(x, self)

    def append(self, x: Node) -> None:
        """Move `x`, a node of the same graph, behind this one.

        Raises:
            GraphEditError: As `prepend`.
        """
        if x is not self:
            self.graph._move(x, self._next)

    def insert_arg(self, idx: int, arg: Any) -> None:
        """Insert a positional argument in front of the one at `idx`.

        Raises:
            ArgumentError: ST112, `idx` is not between 0 and `len(args)`.
        """
        if not 0 <= idx <= len(self._args):
            raise ArgumentError(
                "ST112", what="idx", expected=f"between 0 and len(self.args) = {len(self._args)}", actual=idx
            )
        self.args = (*self._args[:idx], arg, *self._args[idx:])

    def update_arg(self, idx: int, arg: Any) -> None:
        """Replace the positional argument at `idx`.

        Raises:
            IndexError: There is no such argument.
        """
        args = list(self._args)
        args[idx] = arg
        self.args = tuple(args)

    def update_kwarg(self, key: str, arg: Any) -> None:
        """Set the keyword argument `key`."""
        self.kwargs = {**self._kwargs, key: arg}

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Use `new_input` wherever this node uses `old_input`."""

        def swap(node: Node) -> Any:
            return new_input if node is old_input else node

        self.graph._assign(self, map_arg(self._args, swap), map_arg(self._kwargs, swap))

    def replace_all_uses_with(
        self,
        replace_with: Node,
        delete_user_cb: Callable[[Node], bool] | None = None,
        *,
        propagate_meta: bool = False,
    ) -> list[Node]:
        """Make the users of this node use `replace_with` instead.

        A user that is `replace_with` itself keeps this node as its argument, so that a node can be put behind
        another and take over its users.

        Args:
            replace_with: The node to use; a traced value stands for its node.
            delete_user_cb: Called with each user; users for which it returns False are left alone.
            propagate_meta: Give `replace_with`, whose metadata must be empty, the metadata of this node.

        Returns:
            The users that were changed.

        Raises:
            GraphEditError: ST101, ST102 or ST104; then no user has been changed.
            ArgumentError: ST112, `replace_with` is no node, or has metadata that would be lost.
        """
        return self.graph._replace_uses(self, replace_with, delete_user_cb, propagate_meta)

    def is_impure(self, impure_random: bool = True) -> bool:
        """Tell whether the node does more than compute its value, so that it must not be removed.

        Args:
            impure_random: Count a random draw as an effect.
        """
        return self.graph.is_impure(self, impure_random=impure_random)

    def normalized_arguments(
        self,
        root: Any,
        arg_types: tuple[Any, ...] | None = None,
        kwarg_types: dict[str, Any] | None = None,
        normalize_to_only_use_kwargs: bool = False,
    ) -> Any:
        """Return the arguments as the operator's signature orders them.

        Args:
            root: Module in which `call_module` targets resolve.
            arg_types: Types of positional arguments, to choose among overloads.
            kwarg_types: Types of keyword arguments, likewise.
            normalize_to_only_use_kwargs: Spell every argument by keyword.

        Returns:
            A pair `(args, kwargs)`, or None where the signature is not known or fits not at all or more than once.
        """
        return self.graph.normalized_arguments(
            self, root, arg_types, kwarg_types, normalize_to_only_use_kwargs=normalize_to_only_use_kwargs
        )

    def format_node(
        self,
        placeholder_names: list[str] | None = None,
        maybe_return_typename: list[str] | None = None,
        *,
        include_tensor_metadata: bool = False,
    ) -> str | None:
        """Return the node as a line of the printed graph.

        Args:
            placeholder_names: Receives the parameter's text if the node is a placeholder.
            maybe_return_typename: Its first item receives ` -> type` if the node is an annotated output.
            include_tensor_metadata: Add shape, dtype and device from `meta["val"]` where it is there.
        """
        return format_node(self, placeholder_names, maybe_return_typename, include_tensor_metadata)

    # Users are edited by the graph alone; both run for each argument of each new node.

    def _add_user(self, user: Node) -> None:
        users = self._users
        if users is None:
            self._users = user
        elif users is not user:
            if type(users) is dict:
                users[user] = None
            else:
                self._users = {users: None, user: None}  # type: ignore[dict-item]

    def _remove_user(self, user: Node) -> None:
        users = self._users
        if users is user:
            self._users = None
        elif type(users) is dict:
            users.pop(user, None)

    def _user_list(self) -> list[Node]:
        users = self._users
        if users is None:
            return []
        return list(users) if type(users) is dict else [users]  # type: ignore[list-item]

    def __reduce__(self) -> Any:
        if self._order < 0:
            raise GraphEditError("ST120", node=self._name)
        return _node_of, (self.graph, self._name)

    def __deepcopy__(self, memo: dict[int, Any]) -> Node:
        if id(self) not in memo:
            if self._order < 0:
                raise GraphEditError("ST120", node=self._name)
            copy.deepcopy(self.graph, memo)
        return memo[id(self)]  # type: ignore[no-any-return]


def _node_of(graph: Graph, name: str) -> Node:
    return graph._names[name]


def new_node(graph: Graph, op: str, name: str, target: Any, order: int) -> Node:
    """Return a node without arguments and neighbours; the graph completes it."""
    node = Node.__new__(Node)
    node.graph = graph
    node._op = op
    node._name = name
    node._target = target
    node._order = order
    node._args = ()
    node._kwargs = EMPTY_DICT
    node._users = node._meta = node._type = node.spec = node.origin = node.kind = None
    return node
