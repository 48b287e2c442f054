"""Copies of nodes and graphs, and the flat form in which a graph is stored. Nothing here recurses over the graph."""

from __future__ import annotations

import copy
import io
import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._base.order import STEP
from .._base.qualified import qualified_name, resolve_qualified
from ..errors import ArgumentError
from .args import LEAF_TYPES, find_nodes, map_aggregate, map_arg
from .node import Node, new_node
from .region import Region, adopt_regions

if TYPE_CHECKING:
    from .graph import Graph

__all__ = ["clone", "copy_graph", "copy_node", "encode", "restore"]


def copy_node(graph: Graph, node: Any, transform: Callable[[Node], Any]) -> Node:
    """Copy one node; see `Graph.node_copy`."""
    if not isinstance(node, Node):
        raise ArgumentError("ST112", what="node", expected="a Node", actual=type(node).__name__)
    args = map_arg(node._args, transform)
    if node._op == "call_function":
        args = tuple([value.copy() if type(value) is Region else value for value in args])
    kwargs = map_arg(node._kwargs, transform) if node._kwargs else None
    target = node._target
    if node._op == "placeholder" and target in graph._inputs:
        target = graph._namespace.claim(node._name)  # a parameter of that name is there: both are kept
    result = graph.create_node(node._op, target, args, kwargs, node._name, node._type)
    _copy_facts(node, result)
    if node._meta:
        result._meta = node._meta.copy()
    return result


def _copy_facts(node: Node, result: Node) -> None:
    result.kind = node.kind
    result.spec = node.spec
    result.origin = node.origin


def copy_graph(graph: Graph, source: Graph, val_map: dict[Node, Any], return_output_node: bool) -> Any:
    """Copy all nodes but the output; see `Graph.graph_copy`."""
    lookup = val_map.__getitem__
    if graph._cursor is graph._root and graph._root._prev._op != "output" and graph is not source:
        output = _append_copies(graph, source, val_map, _shallow_meta)
    else:
        output = None
        for node in source.nodes:
            if node in val_map:
                continue
            if node._op == "output":
                output = node
                break
            val_map[node] = copy_node(graph, node, lookup)
    if output is None:
        return None
    value = map_arg(output._args[0], lookup)
    return (value, output) if return_output_node else value


def _append_copies(
    graph: Graph,
    source: Graph,
    val_map: dict[Node, Any],
    copy_meta: Callable[[dict[str, Any]], dict[str, Any]],
) -> Node | None:
    """Copy the nodes of `source` to the end of `graph` up to its output, which is returned.

    The invariants of `source` carry over, so that none is checked again.
    """
    names, claim = graph._names, graph._namespace.claim
    empty = not names
    lookup = val_map.__getitem__
    last = graph._root._prev
    saw_body = last._op != "placeholder" and last is not graph._root
    order = max(last._order, 0)
    output: Node | None = None
    made: list[Node] = []
    for node in source.nodes:
        op = node._op
        if op == "output":
            output = node
            break
        if val_map and node in val_map:
            saw_body = True
            continue
        if op == "placeholder" and (saw_body or node._target in graph._inputs):
            val_map[node] = copy_node(graph, node, lookup)
            last = graph._root._prev
            order = last._order
            continue
        saw_body = saw_body or op != "placeholder"
        order += STEP
        name = node._name if empty and node._name not in names else claim(node._name)
        result = new_node(graph, op, name, node._target, order)
        _link_arguments(node, result, lookup)
        if node._meta:
            result._meta = copy_meta(node._meta)
        result._prev = last
        last._next = result
        last = names[name] = val_map[node] = result
        made.append(result)
        if op == "placeholder":
            graph._inputs.add(node._target)
    root = graph._root
    last._next = root
    root._prev = last
    graph._count += len(made)
    graph.version += 1
    graph._index = None
    if empty:
        graph._namespace.adopt(source._namespace)
    if graph._subscribers:
        for result in made:
            graph._emit("created", result)
    return output


def _link_arguments(node: Node, result: Node, lookup: Callable[[Node], Any]) -> None:
    args = []
    found = has_regions = False
    for value in node._args:
        cls = type(value)
        if cls is Node:
            value = lookup(value)
            found = True
            if type(value) is Node:
                if value._users is None:
                    value._users = result
                else:
                    value._add_user(result)
        elif cls not in LEAF_TYPES:
            found = True
            if cls is Region:  # which a copy has for itself
                has_regions = True
                value = value.copy()
            else:
                value = map_arg(value, lookup)
                _use_all(value, result)
        args.append(value)
    result._args = tuple(args) if found else node._args
    if has_regions:
        adopt_regions(result)
    if node._kwargs:
        result._kwargs = map_arg(node._kwargs, lookup)
        _use_all(result._kwargs, result)
    result._type = node._type
    result.kind = node.kind
    result.spec = node.spec
    result.origin = node.origin
    if node.__dict__:
        result.__dict__.update(node.__dict__)


def _use_all(value: Any, user: Node) -> None:

    found: list[Node] = []
    find_nodes(value, found, Node)
    for node in found:
        node._add_user(user)


def _shallow_meta(meta: dict[str, Any]) -> dict[str, Any]:
    return meta.copy()


def clone(graph: Graph, memo: dict[int, Any]) -> Any:
    """Return an independent copy: same names, order and settings; metadata is copied deeply where it can be.

    Args:
        graph: The graph.
        memo: As for `copy.deepcopy`; it receives every node, so that metadata which names nodes follows.
    """
    result = graph._blank()
    memo[id(graph)] = result
    val_map: dict[Node, Any] = {}
    output = _append_copies(result, graph, val_map, _shallow_meta)
    if output is not None:
        value = map_arg(output._args, val_map.__getitem__)
        copied = result.create_node("output", output._target, value, None, output._name, output._type)
        copied._meta = output._meta.copy() if output._meta else None
        _copy_facts(output, copied)
        if output.__dict__:
            copied.__dict__.update(output.__dict__)
        val_map[output] = copied
    for node, copied in val_map.items():
        memo[id(node)] = copied
    for copied in val_map.values():
        if copied._meta:
            copied._meta = {key: _deep(value, memo) for key, value in copied._meta.items()}
    return result


def _deep(value: Any, memo: dict[int, Any]) -> Any:
    if type(value) in LEAF_TYPES:
        return value
    try:
        return copy.deepcopy(value, memo)
    except Exception:  # metadata is anything a user put there; what can't be copied is shared
        return value


# ---------------------------------------------------------------------- storing


@dataclass(frozen=True)
class _Ref:
    """Stands for a node by its position, so that pickling never walks from node to node."""

    index: int

    def __reduce__(self) -> tuple[Any, ...]:
        return _Ref, (self.index,)


@dataclass(frozen=True)
class _Named:
    """Stands for a function by the dotted name under which it is found again."""

    name: str

    def __reduce__(self) -> tuple[Any, ...]:
        return _Named, (self.name,)


@dataclass(frozen=True)
class _ClassName:
    """Stands for a class in metadata, so that loading imports nothing: the class comes back if it is loaded already."""

    module: str
    name: str

    def __reduce__(self) -> tuple[Any, ...]:
        return _ClassName, (self.module, self.name)

    @staticmethod
    def of(cls: type) -> _ClassName:
        return _ClassName(cls.__module__, cls.__qualname__)

    def resolve(self) -> Any:
        """Return the class, or its dotted name where its module has not been imported."""
        found: Any = sys.modules.get(self.module)
        for atom in self.name.split("."):
            found = getattr(found, atom, None)
        return f"{self.module}.{self.name}" if found is None else found


def _with_classes(meta: dict[str, Any] | None, swap: Callable[[Any], Any], known: dict[int, Any]) -> Any:
    """Return `meta` with the classes in its module stack put through `swap`; nodes share their stacks."""
    stack = None if meta is None else meta.get("nn_module_stack")
    if not isinstance(stack, dict):
        return meta
    if id(stack) not in known:
        known[id(stack)] = {
            key: (item[0], swap(item[1])) if isinstance(item, tuple) and len(item) == 2 else item
            for key, item in stack.items()
        }
    return {**(meta or {}), "nn_module_stack": known[id(stack)]}


def encode(graph: Graph) -> dict[str, Any]:
    """Return the graph as flat rows of plain values, for pickling.

    Functions are stored by dotted name where the name leads back to them, and left to pickle otherwise. Metadata
    that can't be pickled is left out.
    """
    index: dict[Node, _Ref] = {}
    functions: dict[Any, Any] = {}
    storable: dict[int, bool] = {}
    stacks: dict[int, Any] = {}

    def name_of(cls: Any) -> Any:
        return _ClassName.of(cls) if isinstance(cls, type) else cls

    rows = []

    def leaf(value: Any) -> Any:
        if isinstance(value, Node):
            return index[value]
        return _encode_function(value, functions) if callable(value) else value

    for position, node in enumerate(graph.nodes):
        args, kwargs = node._args, node._kwargs
        if not all(type(value) in LEAF_TYPES for value in args):
            args = map_aggregate(args, leaf)
        if kwargs:
            kwargs = map_aggregate(kwargs, leaf)
        target = node._target
        if not isinstance(target, str):
            target = _encode_function(target, functions)
        facts = None
        if node._meta or node._type is not None or node.kind or node.spec or node.origin or node.__dict__:
            facts = (
                node._type,
                _storable(_with_classes(node._meta, name_of, stacks), storable),
                node.kind,
                node.spec,
                node.origin,
                _storable(node.__dict__, storable),
            )
        rows.append((node._op, node._name, target, args, kwargs or None, facts))
        index[node] = _Ref(position)
    tracer_cls = graph._tracer_cls
    return {"rows": rows, "tracer_cls": None if tracer_cls is None else _ClassName.of(tracer_cls),
            "tracer_extras": graph._tracer_extras, "namespace": graph._namespace.state()}  # fmt: skip


def _encode_function(function: Any, known: dict[Any, Any]) -> Any:
    key = id(function)
    if key not in known:
        name = qualified_name(function)
        try:
            known[key] = _Named(name) if resolve_qualified(name) is function else function
        except LookupError:
            known[key] = function
    return known[key]


class _Probe(pickle.Pickler):
    """Refuses nodes: each would be stored with a graph of its own."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, Node):
            raise pickle.PicklingError("a node")
        return NotImplemented


def _is_storable(value: Any) -> bool:
    try:
        _Probe(io.BytesIO()).dump(value)
    except Exception:  # a value of the user's may raise anything
        return False
    return True


def _storable(meta: dict[str, Any] | None, known: dict[int, bool]) -> dict[str, Any] | None:
    """Return the part of `meta` that can be stored; `known` spares asking again for values that nodes share."""
    if not meta:
        return None
    kept = {}
    for key, value in meta.items():
        if type(value) not in LEAF_TYPES:
            if id(value) not in known:
                known[id(value)] = _is_storable(value)
            if not known[id(value)]:
                continue
        kept[key] = value
    return kept


def restore(cls: type[Graph], stored: dict[str, Any], extra: dict[str, Any]) -> Graph:
    """Build a graph again from what `encode` gave."""
    tracer = stored["tracer_cls"] and stored["tracer_cls"].resolve()
    graph = cls(
        tracer_cls=tracer if isinstance(tracer, type) else None, tracer_extras=stored["tracer_extras"]
    )
    nodes: list[Node] = []
    stacks: dict[int, Any] = {}
    functions: dict[str, Any] = {}

    def class_of(value: Any) -> Any:
        return value.resolve() if type(value) is _ClassName else value

    def leaf(value: Any) -> Any:
        if type(value) is _Ref:
            return nodes[value.index]
        if type(value) is _Named:
            return _decode_function(value, functions)
        return value

    create = graph.create_node
    for op, name, target, args, kwargs, facts in stored["rows"]:
        if type(target) is _Named:
            target = _decode_function(target, functions)
        if args and not all(type(value) in LEAF_TYPES for value in args):
            args = map_aggregate(args, leaf)
        if kwargs:
            kwargs = map_aggregate(kwargs, leaf)
        node = create(op, target, args, kwargs, name)
        if facts is not None:
            node._type, meta, node.kind, node.spec, node.origin, attributes = facts
            node._meta = _with_classes(meta, class_of, stacks)
            if attributes:
                node.__dict__.update(attributes)
        nodes.append(node)
    graph._namespace.set_state(stored["namespace"])
    graph._set_extra_state(extra)
    return graph


def _decode_function(stored: _Named, known: dict[str, Any]) -> Any:
    if stored.name not in known:
        known[stored.name] = resolve_qualified(stored.name)
    return known[stored.name]
