"""Argument trees: what may stand in `Node.args`, and the one walk that freezes it and finds its nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from .._base.frozen import immutable_dict, immutable_list

if TYPE_CHECKING:
    from .node import Node

__all__ = ["LEAF_TYPES", "find_nodes", "freeze", "is_namedtuple", "map_aggregate", "map_arg"]

Target = Callable[..., Any] | str
"""What a node reads or calls."""

Argument = Any
"""What may stand among the arguments of a node: nodes, constants, and containers of them."""

ArgumentT = TypeVar("ArgumentT", bound=Argument)

LEAF_TYPES = frozenset({int, str, float, bool, type(None), complex, bytes, type(...)})
"""Types of which no value can hold a node: the walk passes them at once."""


def is_namedtuple(value: tuple[Any, ...]) -> bool:
    """Tell whether `value` is rebuilt with one argument per field."""
    return hasattr(value, "_fields")


def freeze(value: Any, found: list[Node], node_type: type[Node]) -> Any:
    """Return `value` with every list and dict made immutable, and append each node in it to `found`.

    An object whose class has `__graph_node__` stands for the node which that method returns (a traced value does).

    Raises:
        TypeError: A node hides where the graph could not see it: in a set, or as the key of a dict.
    """
    cls = type(value)
    if cls in LEAF_TYPES:
        return value
    if cls is node_type:
        found.append(value)
        return value
    if cls is tuple:
        return tuple([freeze(item, found, node_type) for item in value])
    if cls is list or cls is immutable_list:
        return immutable_list([freeze(item, found, node_type) for item in value])
    if cls is dict or cls is immutable_dict:
        return immutable_dict(
            {_key(key, node_type): freeze(item, found, node_type) for key, item in value.items()}
        )
    if cls is slice:
        return slice(
            freeze(value.start, found, node_type),
            freeze(value.stop, found, node_type),
            freeze(value.step, found, node_type),
        )
    return _freeze_rare(value, found, node_type)


def _freeze_rare(value: Any, found: list[Node], node_type: type[Node]) -> Any:
    as_node = getattr(type(value), "__graph_node__", None)
    if as_node is not None:
        return freeze(as_node(value), found, node_type)
    if isinstance(value, node_type):
        found.append(value)
        return value
    if isinstance(value, tuple):
        items = [freeze(item, found, node_type) for item in value]
        if is_namedtuple(value):
            return type(value)(*items)
        # torch.Size and its like refuse symbolic items; without any, they stay as they are.
        return value if all(a is b for a, b in zip(items, value, strict=True)) else tuple(items)
    if isinstance(value, list):
        return immutable_list([freeze(item, found, node_type) for item in value])
    if isinstance(value, dict):
        return immutable_dict(
            {_key(key, node_type): freeze(item, found, node_type) for key, item in value.items()}
        )
    if isinstance(value, set | frozenset) and any(isinstance(item, node_type) for item in value):
        raise TypeError(type(value).__name__)
    return value


def _key(key: Any, node_type: type[Node]) -> Any:
    if isinstance(key, node_type):
        raise TypeError("dict key")
    return key


def find_nodes(value: Any, found: list[Node], node_type: type[Node]) -> None:
    """Append each node of a frozen `value` to `found`, in order, with repetitions."""
    cls = type(value)
    if cls in LEAF_TYPES:
        return
    if cls is node_type:
        found.append(value)
    elif cls is tuple or cls is immutable_list:
        for item in value:
            find_nodes(item, found, node_type)
    elif cls is immutable_dict:
        for item in value.values():
            find_nodes(item, found, node_type)
    elif cls is slice:
        for item in (value.start, value.stop, value.step):
            find_nodes(item, found, node_type)
    elif isinstance(value, tuple):
        for item in value:
            find_nodes(item, found, node_type)
    elif isinstance(value, node_type):
        found.append(value)


def map_aggregate(value: Any, fn: Callable[[Any], Any]) -> Any:
    """Return `value` with `fn` applied to every leaf; lists and dicts come back immutable.

    Args:
        value: A tree of tuples, named tuples, lists, dicts and slices.
        fn: Called with each leaf, in order.

    >>> map_aggregate((1, [2, {"a": 3}]), lambda leaf: leaf * 10)
    (10, [20, {'a': 30}])
    """
    cls = type(value)
    if cls is tuple:
        return tuple([map_aggregate(item, fn) for item in value])
    if cls is immutable_list or cls is list:
        return immutable_list([map_aggregate(item, fn) for item in value])
    if cls is immutable_dict or cls is dict:
        return immutable_dict({key: map_aggregate(item, fn) for key, item in value.items()})
    if cls is slice:
        return slice(
            map_aggregate(value.start, fn), map_aggregate(value.stop, fn), map_aggregate(value.step, fn)
        )
    if isinstance(value, tuple):
        items = [map_aggregate(item, fn) for item in value]
        if is_namedtuple(value):
            return type(value)(*items)
        return value if all(a is b for a, b in zip(items, value, strict=True)) else tuple(items)
    if isinstance(value, list):
        return immutable_list([map_aggregate(item, fn) for item in value])
    if isinstance(value, dict):
        return immutable_dict({key: map_aggregate(item, fn) for key, item in value.items()})
    return fn(value)


def map_arg(value: Any, fn: Callable[[Node], Any]) -> Any:
    """Return `value` with `fn` applied to every node in it.

    Args:
        value: An argument tree, such as `node.args`.
        fn: Called with each node, in order.
    """
    from .node import Node

    return _map_nodes(value, fn, Node)


def _map_nodes(value: Any, fn: Callable[[Node], Any], node_type: type[Node]) -> Any:
    cls = type(value)
    if cls in LEAF_TYPES:
        return value
    if cls is node_type:
        return fn(value)
    if cls is tuple:
        return tuple([_map_nodes(item, fn, node_type) for item in value])
    return map_aggregate(value, lambda leaf: fn(leaf) if isinstance(leaf, node_type) else leaf)
