"""The mutators behind `Graph` and `Node`: each checks first and changes afterwards."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from .._base.frozen import EMPTY_DICT, immutable_dict
from .._base.order import label_between
from ..errors import ArgumentError, GraphEditError, SymtraceWarning
from .args import LEAF_TYPES, find_nodes, freeze, map_arg
from .node import OPS, Node
from .region import adopt_regions

if TYPE_CHECKING:
    from .graph import Graph

__all__ = [
    "assign",
    "build_index",
    "check_argument_types",
    "eliminate_unused",
    "erase",
    "freeze_arguments",
    "index_key",
    "move",
    "own",
    "place",
    "refuse_input",
    "rename",
    "replace",
    "replace_uses",
    "retarget",
    "string_target",
    "warn_if_unresolved",
]

# ---------------------------------------------------------------------- checks


def own(graph: Graph, node: Any) -> Node:
    """Return `node` if it is a live node of `graph`, else raise."""
    if type(node) is not Node and hasattr(type(node), "__graph_node__"):
        node = node.__graph_node__()
    if not isinstance(node, Node):
        raise ArgumentError("ST112", what="the node", expected="a Node", actual=type(node).__name__)
    if node.graph is not graph or (node._order < 0 and node is not graph._root):
        raise GraphEditError("ST117", node=node._name)
    return node


def refuse_input(graph: Graph, node: Node, order: int, user: str) -> NoReturn:
    """Raise for an argument that a node at position `order` can't have."""
    if node.graph is not graph:
        raise GraphEditError("ST101", node=node._name, user=user)
    if node._order < 0:
        raise GraphEditError("ST102", node=node._name, user=user)
    if node._order == order:
        raise GraphEditError("ST110", node=node._name)
    raise GraphEditError("ST104", node=node._name, user=user)


def string_target(op: str, target: Any) -> str:
    """Return the target of a node that reads or calls by name, as a plain string."""
    if not isinstance(target, str):
        raise ArgumentError("ST112", what=f"target of {op}", expected="a str", actual=repr(target))
    return str(target)


def check_argument_types(args: Any, kwargs: Any) -> None:
    """Raise unless `args` is a tuple and `kwargs` a mapping with string keys."""
    if not isinstance(args, tuple):
        raise ArgumentError("ST112", what="args", expected="a tuple", actual=type(args).__name__)
    if kwargs is not None and not isinstance(kwargs, dict):
        raise ArgumentError("ST112", what="kwargs", expected="a dict", actual=type(kwargs).__name__)
    for key in kwargs or ():
        if not isinstance(key, str):
            raise ArgumentError("ST112", what="a key of kwargs", expected="a str", actual=repr(key))


def freeze_arguments(
    args: Any, kwargs: Any, found: list[Node], user: str
) -> tuple[tuple[Any, ...], immutable_dict[str, Any]]:
    """Return arguments as a node stores them, and append each node in them to `found`.

    Args:
        args: Positional arguments, or None.
        kwargs: Keyword arguments, or None.
        found: Receives the nodes.
        user: Name of the node in an error.

    Raises:
        ArgumentError: ST112, they are no tuple and dict.
        GraphEditError: ST114, a node hides where the graph could not see it.
    """
    if args is None:
        args = ()
    if type(args) is not tuple or (kwargs and type(kwargs) is not immutable_dict):
        check_argument_types(args, kwargs)
    try:
        frozen = []
        for value in args:
            # Nodes and plain constants, nearly all there is, need no walk.
            cls = type(value)
            if cls is Node:
                found.append(value)
            elif cls not in LEAF_TYPES:
                value = freeze(value, found, Node)
            frozen.append(value)
        return tuple(frozen), freeze(kwargs, found, Node) if kwargs else EMPTY_DICT
    except TypeError as error:
        raise GraphEditError("ST114", user=user, container=error) from None


def warn_if_unresolved(graph: Graph, op: str, target: str) -> None:
    """Warn where the owning module is known and has nothing at `target`."""
    found = graph.owning_module
    if found is None or not isinstance(target, str):
        return
    for atom in target.split(".") if target else ():
        if not hasattr(found, atom):
            warnings.warn(
                f"Attempted to insert a {op} Node with no underlying reference in the owning GraphModule: {target!r} "
                f"({atom!r} is missing). Add it before the graph is linted or run",
                SymtraceWarning,
                stacklevel=4,
            )
            return
        found = getattr(found, atom)


def place(graph: Graph, op: str, target: Any, cursor: Node) -> Node:
    """Return the node in front of which a new node of kind `op` is put, given where it was asked for."""
    root = graph._root
    if op == "placeholder":
        if target in graph._inputs:
            raise GraphEditError("ST108", name=target)
        # Among the placeholders where it was asked for, else behind the last of them.
        if cursor._prev is root or cursor._prev._op == "placeholder":
            return cursor
        first = root._next
        while first._op == "placeholder":
            first = first._next
        return first
    if op == "output":
        last = root._prev
        if last._op == "output":
            raise GraphEditError("ST107", node=last._name)
        if cursor is not root:
            raise GraphEditError(
                "ST118", node=cursor._name, reason="is not the end of the graph, where an output goes"
            )
        return cursor
    while cursor._op == "placeholder":
        cursor = cursor._next
    if cursor._prev._op == "output":
        raise GraphEditError("ST106", node=op)
    return cursor


# ---------------------------------------------------------------------- index of (op, target)


def index_key(target: Any) -> Any:
    """Return a hashable stand-in for a target."""
    try:
        hash(target)
    except TypeError:
        return id(target)
    return target


def build_index(graph: Graph) -> dict[tuple[str, Any], dict[Node, None]]:
    """Return the nodes of `graph` by op kind and target."""
    index: dict[tuple[str, Any], dict[Node, None]] = {}
    for node in graph.nodes:
        index.setdefault((node._op, index_key(node._target)), {})[node] = None
    return index


def _unindex(graph: Graph, node: Node) -> None:
    if graph._index is not None:
        graph._index.get((node._op, index_key(node._target)), {}).pop(node, None)


# ---------------------------------------------------------------------- edits


def assign(graph: Graph, node: Node, args: Any, kwargs: Any) -> None:
    """Give `node` new arguments."""
    check_argument_types(args, kwargs)
    found: list[Node] = []
    try:
        new_args = freeze(args, found, Node)
        new_kwargs = freeze(kwargs, found, Node)
    except TypeError as error:
        raise GraphEditError("ST114", user=node._name, container=error) from None
    if node._order >= 0:
        for used in found:
            if used.graph is not graph or not 0 <= used._order < node._order:
                refuse_input(graph, used, node._order, node._name)
    elif found:
        raise GraphEditError("ST102", node=node._name, user=node._name)
    _set_arguments(graph, node, new_args, new_kwargs, found)


def _set_arguments(graph: Graph, node: Node, args: Any, kwargs: Any, used: list[Node]) -> None:
    old = (node._args, node._kwargs)
    before: list[Node] = []
    find_nodes(old, before, Node)
    kept = set(used)
    for was_used in before:
        if was_used not in kept:
            was_used._remove_user(node)
    for is_used in used:
        is_used._add_user(node)
    node._args, node._kwargs = args, kwargs
    if len(args) > 3:
        adopt_regions(node)
    graph.version += 1
    if graph._subscribers:
        graph._emit("args_changed", node, old)


def erase(graph: Graph, node: Any) -> None:
    """Remove a node without users."""
    if isinstance(node, Node) and node.graph is graph and node._order < 0:
        warnings.warn(f"node `{node._name}` has been erased already", SymtraceWarning, stacklevel=3)
        return
    node = own(graph, node)
    users = node._user_list()
    if users:
        raise GraphEditError("ST103", node=node._name, count=len(users), users=", ".join(map(str, users[:8])))
    if node is graph._root:
        raise GraphEditError("ST117", node="root")
    _unlink(graph, node)


def _unlink(graph: Graph, node: Node) -> None:
    for used in node.all_input_nodes:
        used._remove_user(node)
    before, after = node._prev, node._next
    before._next, after._prev = after, before
    if graph._index is not None:
        _unindex(graph, node)
    node._order = -1
    if graph._cursor is node:
        graph._cursor = after
    if graph._names.get(node._name) is node:
        del graph._names[node._name]
    if node._op == "placeholder":
        graph._inputs.discard(node._target)
    graph._count -= 1
    graph.version += 1
    if graph._subscribers:
        old = (node._args, node._kwargs)
        graph._emit("erased", node, old)


def move(graph: Graph, node: Node, before: Node) -> None:
    """Move `node` in front of `before`."""
    node, before = own(graph, node), own(graph, before)
    if node is graph._root:
        raise GraphEditError("ST117", node="root")
    if before is node or before._prev is node:
        return
    if node._op == "output":
        if before is not graph._root:
            raise GraphEditError(
                "ST118", node=before._name, reason="is not the end of the graph, where an output goes"
            )
    elif before is graph._root and graph._root._prev._op == "output":
        raise GraphEditError("ST106", node=node._name)
    if node._op == "placeholder":
        if before._prev is not graph._root and before._prev._op != "placeholder":
            raise GraphEditError("ST105", node=node._name)
    else:
        while before._op == "placeholder":
            before = before._next
    if before is node or before._prev is node:
        return
    bound = before._prev._order
    for used in node.all_input_nodes:
        if used._order > bound:
            raise GraphEditError("ST104", node=used._name, user=node._name)
    if before._order >= 0:
        for user in node._user_list():
            if user._order < before._order:
                raise GraphEditError("ST104", node=node._name, user=user._name)
    elif node._users is not None and any(user is not node for user in node._user_list()):
        raise GraphEditError("ST104", node=node._name, user=node._user_list()[0]._name)
    if graph._cursor is node:
        graph._cursor = node._next
    node._prev._next, node._next._prev = node._next, node._prev
    previous = before._prev
    node._order = label_between(previous, before)  # type: ignore[arg-type]
    node._prev, node._next = previous, before
    previous._next = before._prev = node
    graph.version += 1
    if graph._subscribers:
        graph._emit("moved", node)


def rename(graph: Graph, node: Node, name: Any) -> None:
    """Give `node` another name."""
    if name == node._name:
        return
    if not isinstance(name, str) or not name.isidentifier():
        raise GraphEditError("ST109", name=name)
    own(graph, node)
    if name in graph._names:
        raise GraphEditError("ST108", name=name)
    if graph._namespace.claim(name) != name:
        raise GraphEditError("ST109", name=name)
    old = node._name
    del graph._names[old]
    graph._names[name] = node
    node._name = name
    graph.version += 1
    if graph._subscribers:
        graph._emit("renamed", node, old)


def retarget(graph: Graph, node: Node, op: Any, target: Any) -> None:
    """Change what `node` reads or calls; both may only be wrong together while one is being changed after the other."""
    if op not in OPS:
        raise ArgumentError("ST111", op=op, known=", ".join(OPS))
    fixed = ("placeholder", "output")
    if op != node._op and (op in fixed or node._op in fixed):
        raise GraphEditError("ST121", node=node._name, old=node._op, new=op)
    if not isinstance(target, str) and not callable(target):
        raise ArgumentError("ST112", what="target", expected="a Callable or a str", actual=repr(target))
    old = (node._op, node._target)
    if op == "placeholder" and target != node._target:
        if target in graph._inputs:
            raise GraphEditError("ST108", name=target)
        graph._inputs.discard(node._target)
        graph._inputs.add(target)
    _unindex(graph, node)
    node._op, node._target = op, target
    if graph._index is not None and node._order >= 0:
        graph._index.setdefault((op, index_key(target)), {})[node] = None
    graph.version += 1
    if graph._subscribers:
        graph._emit("target_changed", node, old)


def replace_uses(
    graph: Graph, old: Node, new: Any, keep: Callable[[Node], bool] | None, propagate_meta: bool
) -> list[Node]:
    """Make the users of `old` use `new`; see `Node.replace_all_uses_with`."""
    if type(new) is not Node or new.graph is not graph or new._order < 0:
        new = own(graph, new)
    if propagate_meta and new._meta:
        raise ArgumentError("ST112", what="replace_with", expected="without metadata when propagate_meta is set",
                            actual=f"{new._name} with {sorted(new._meta)}")  # fmt: skip
    users = [user for user in old._user_list() if user is not new and (keep is None or keep(user))]
    for user in users:
        if new._order >= user._order:
            refuse_input(graph, new, user._order, user._name)
    if propagate_meta:
        new.meta.update(old.meta)

    def swap(node: Node) -> Node:
        return new if node is old else node

    for user in users:
        args: tuple[Any, ...] = tuple(
            [
                new if item is old else item if type(item) is Node else map_arg(item, swap)
                for item in user._args
            ]
        )
        kwargs = map_arg(user._kwargs, swap) if user._kwargs else user._kwargs
        before = (user._args, user._kwargs)
        user._args, user._kwargs = args, kwargs
        new._add_user(user)
        old._remove_user(user)
        graph.version += 1
        if graph._subscribers:
            graph._emit("args_changed", user, before)
    return users


def replace(graph: Graph, old: Node, new: Any) -> Node:
    """Put `new` in the place of `old`; see `Graph.replace`."""
    old = own(graph, old)
    if callable(new) and not isinstance(new, Node) and not hasattr(type(new), "__graph_node__"):
        point = graph.inserting_before(old)
        with point:
            node = graph.call_function(new, old._args, dict(old._kwargs), type_expr=old._type)
        node._meta = dict(old._meta) if old._meta else None
        node.origin = old.origin
    else:
        node = own(graph, new)
    if node is old:
        return node
    if old in node.all_input_nodes:
        raise GraphEditError("ST103", node=old._name, count=1, users=node._name)
    replace_uses(graph, old, node, None, False)
    erase(graph, old)
    return node


def eliminate_unused(graph: Graph, is_removable: Callable[[Node], bool]) -> list[Node]:
    """Erase nodes without users from the end; see `Graph.eliminate_unused`."""
    erased = []
    node = graph._root._prev
    root = graph._root
    while node is not root:
        before = node._prev
        if not node._users and is_removable(node):
            _unlink(graph, node)
            erased.append(node)
        node = before
    return erased
