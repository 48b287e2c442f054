"""`Graph.lint`: all broken invariants at once."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .._base.frozen import EMPTY_DICT
from ..errors import LintError
from .args import LEAF_TYPES, find_nodes
from .node import OPS, Node
from .region import Region, region_uses, regions_of
from .text import format_graph

if TYPE_CHECKING:
    from .graph import Graph

__all__ = ["faults", "lint"]

Fault = tuple[Node, str]

_OPS = frozenset(OPS)


def lint(graph: Graph) -> None:
    """Raise `LintError` if `faults` finds any."""
    if _is_clean(graph):
        return
    found = list(faults(graph))
    count = graph._count
    text = (
        format_graph(graph, found)
        if count <= 2000
        else "\n".join(f"{node}: {what}" for node, what in found[:200])
    )
    raise LintError("ST116", count=len(found), details=text)


def _is_clean(graph: Graph) -> bool:
    """Tell, as fast as can be, whether `faults` would find nothing.

    Users are checked by counting: if every use is recorded and there are as many records as uses, they agree.
    """
    names, root = graph._names, graph._root
    order, uses, records = -1, 0, 0
    found: list[Node]
    saw_body = saw_output = False
    node = root._next
    while node is not root:
        op, position, target = node._op, node._order, node._target
        if position <= order or saw_output or names.get(node._name) is not node or node.graph is not graph:
            return False
        if op == "call_function":
            if not callable(target):
                return False
            saw_body = True
        elif op == "placeholder":
            if saw_body:
                return False
        elif op not in _OPS or type(target) is not str:
            return False
        else:
            saw_body = True
            saw_output = op == "output"
        order = position
        found = []
        for value in node._args:
            cls = type(value)
            if cls is Node:
                found.append(value)
            elif cls not in LEAF_TYPES:
                if cls is Region and not (_is_clean(value.graph) and not any(_shape_faults(node))):
                    return False
                find_nodes(value, found, Node)
        if node._kwargs is not EMPTY_DICT:
            find_nodes(node._kwargs, found, Node)
        for used in found:
            users = used._users
            if used._order >= position or (
                users is not node and (type(users) is not dict or node not in users)
            ):
                return False
        if found:
            uses += 1 if len(found) == 1 else len(set(found))
        users = node._users
        if users is not None:
            records += len(users) if type(users) is dict else 1
        node = node._next
    if uses != records:
        return False
    owner = graph.owning_module
    return owner is None or not graph._count or (saw_output and not any(_target_faults(graph)))


def faults(graph: Graph) -> Iterator[Fault]:
    """Yield each fault of the graph with the node it is found at."""
    uses = _count_uses(graph)
    names = graph._names
    order = -1
    saw_body = saw_output = False
    for node in graph.nodes:
        op = node._op
        if (
            node._order <= order
            or names.get(node._name) is not node
            or node.graph is not graph
            or op not in _OPS
        ):
            yield from _node_faults(graph, node, order)
        order = node._order
        if saw_output:
            yield node, "stands after the output"
        if op == "placeholder":
            if saw_body:
                yield node, "is a placeholder below a node that computes"
        else:
            saw_body = True
            saw_output = saw_output or op == "output"
        users = node._users
        if users is not None and (type(users) is not dict or users):
            expected = uses.pop(node, None)
            if (users is not expected) if type(users) is not dict else (list(users) != _as_list(expected)):
                yield from _user_faults(node, expected)
        elif node in uses:
            yield from _user_faults(node, uses.pop(node))
    for node, users in uses.items():
        yield _first(users), f"uses `{node._name}`, which is not in this graph"
    if not saw_output and graph.owning_module is not None and graph._count:
        yield graph._root._prev, "is the last node, but the graph has no output"
    yield from _order_faults(graph)
    yield from _region_faults(graph)
    if graph.owning_module is not None:
        yield from _target_faults(graph)


def _count_uses(graph: Graph) -> dict[Node, Any]:
    """Return for each used node its only user, or the list of its users in graph order."""
    uses: dict[Node, Any] = {}
    for node in graph.nodes:
        found: list[Node] = []
        for value in node._args:
            cls = type(value)
            if cls is Node:
                found.append(value)
            elif cls not in LEAF_TYPES:
                find_nodes(value, found, Node)
        if node._kwargs is not EMPTY_DICT:
            find_nodes(node._kwargs, found, Node)
        for used in found:
            known = uses.setdefault(used, node)
            if known is not node:
                if type(known) is not list:
                    uses[used] = [known, node]
                elif known[-1] is not node:
                    known.append(node)
    return uses


def _as_list(users: Any) -> list[Node]:
    return users if type(users) is list else [] if users is None else [users]


def _first(users: Any) -> Node:
    return _as_list(users)[0]


def _node_faults(graph: Graph, node: Node, order: int) -> Iterator[Fault]:
    if node._order <= order:
        yield node, "has a position label that is out of order"
    if graph._names.get(node._name) is not node:
        yield node, f"shares the name {node._name!r} with another node, or is not known by it"
    if node.graph is not graph:
        yield node, "belongs to another graph"
    if node._op not in _OPS:
        yield node, f"has the unknown op kind {node._op!r}"


def _user_faults(node: Node, expected: Any) -> Iterator[Fault]:
    # The order of users is the order in which they came to use the node, which edits may change.
    recorded, counted = set(node._user_list()), set(_as_list(expected))
    for user in counted - recorded:
        yield node, f"is used by `{user._name}`, which its users leave out"
    for user in recorded - counted:
        yield node, f"lists `{user._name}` among its users, which does not use it"


def _order_faults(graph: Graph) -> Iterator[Fault]:
    for node in graph.nodes:
        op, target, position = node._op, node._target, node._order
        if (op == "call_function") is isinstance(target, str) or (
            op == "call_function" and not callable(target)
        ):
            yield node, f"has a target of the wrong kind for {op}: {target!r}"
        for value in node._args:
            cls = type(value)
            if cls is Node:
                if value._order >= position:
                    yield node, f"`{value._name}` was used before it has been defined"
            elif cls not in LEAF_TYPES:
                yield from _late_inputs(node, value)
        if node._kwargs is not EMPTY_DICT:
            yield from _late_inputs(node, node._kwargs)


def _region_faults(graph: Graph) -> Iterator[Fault]:
    for node in graph.nodes:
        yield from _shape_faults(node)
        for number, region in enumerate(regions_of(node)):
            for inner, what in faults(region.graph):
                yield node, f"has in its region {number} `{inner._name}`, which {what}"


def _shape_faults(node: Node) -> Iterator[Fault]:
    """Yield where the regions of a node do not fit its operands, or each other."""
    for use in region_uses(node):
        graph = use.region.graph
        place = f"argument {use.place}"
        taken = sum(inner._op == "placeholder" for inner in graph.nodes)
        if taken != len(use.inputs):
            yield node, f"has in {place} a region with {taken} inputs, and {len(use.inputs)} values for them"
        last = graph._root._prev
        given = last._args[0] if last._op == "output" and last._args else None
        if not isinstance(given, tuple):
            yield node, f"has in {place} a region that does not return a tuple"
        elif use.results is not None and len(given) != use.results:
            yield node, f"has in {place} a region with {len(given)} results, and {use.results} are wanted"
        if graph._holder is not node:
            yield node, f"has in {place} a region that another node has"


def _late_inputs(node: Node, value: Any) -> Iterator[Fault]:
    found: list[Node] = []
    find_nodes(value, found, Node)
    for used in found:
        if used._order >= node._order:
            yield node, f"`{used._name}` was used before it has been defined"


def _target_faults(graph: Graph) -> Iterator[Fault]:
    sound: dict[str, set[str]] = {"call_module": set(), "get_attr": set()}
    places: dict[str, Any] = {"": graph.owning_module}
    for node in graph.nodes:
        known = sound.get(node._op)
        if known is not None and node._target not in known:
            fault = _unresolved(places, node._op, node._target)
            if fault is None:
                known.add(node._target)
            else:
                yield node, fault


def _attribute(owner: Any, name: str) -> Any:
    """Return an attribute; for a module, what is registered in it is looked up without its `__getattr__`."""
    state = getattr(owner, "__dict__", None)
    if state is not None:
        modules = state.get("_modules")
        if modules is not None and name in modules:
            return modules[name]
    return getattr(owner, name, _MISSING)


_MISSING = object()


def _unresolved(places: dict[str, Any], op: str, target: str) -> str | None:
    """Return what is wrong with a target, or None; `places` remembers the modules on the way."""
    found = places.get(target, _MISSING)
    if found is _MISSING:
        found, seen = places[""], ""
        for atom in target.split("."):
            path = f"{seen}.{atom}" if seen else atom
            inner = places.get(path, _MISSING)
            if inner is _MISSING:
                inner = places[path] = _attribute(found, atom)
            if inner is _MISSING:
                near = difflib.get_close_matches(atom, [name for name in dir(found) if name[:1] != "_"], 3)
                hint = f"; near: {', '.join(near)}" if near else ""
                where = seen or type(places[""]).__name__
                return f"{op} target {target} references nonexistent attribute {atom} of {where}{hint}"
            found, seen = inner, path
    if op == "call_module" and not callable(getattr(type(found), "forward", None)):
        return f"{op} target {target} does not reference an nn.Module"
    return None
