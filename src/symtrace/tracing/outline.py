"""A function that the program gives to a function of torch: traced, then taken out into a graph of its own.

`torch.func.vmap(f)(x)` runs `f` on values that only exist while it runs. What `f` does is recorded in place, on values
that stand for its arguments, and moved into a module that one node calls. What it uses of the values outside are its
first inputs.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
import torch.utils._pytree as pytree  # the public home of pytrees, underscore and all (torch 2.13, 2.14)

from ..ir import Node, map_arg
from ..ops import program
from ..runtime import Graph, GraphModule
from . import hooks
from .arguments import ATOMS
from .blame import trace_error
from .outline_regions import all_nodes, read_outside
from .proxy import isinstance_proxy
from .since import last_node, nodes_since

if TYPE_CHECKING:
    from .watching import Watcher

__all__ = ["Outlined", "join", "outline", "outline_run", "rebuild"]


@dataclass(frozen=True)
class Outlined:
    """A function that is a graph of its own.

    Attributes:
        function: The node that reads it.
        captures: The nodes outside that it uses, which are its first arguments.
        result: What the function returned while it was traced.
    """

    function: Node
    captures: tuple[Node, ...]
    result: Any


@dataclass(frozen=True)
class _Piece:
    """What a function recorded, still in the graph.

    Attributes:
        nodes: All of it.
        moved: What is taken out; what is read from modules and from values outside stays.
        stand_ins: For its arguments.
        output: Its result, as an argument of a node.
        result: Its result.
    """

    nodes: list[Node]
    moved: list[Node]
    stand_ins: list[Node]
    output: Any
    result: Any


def outline(tracer: Watcher, function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Outlined:
    """Trace `function` on stand-ins for its arguments and take what it does out of the graph.

    Args:
        tracer: The tracer; its graph is where the function is called.
        function: The function.
        args: Its arguments; traced values and tensors in them, however nested, get stand-ins.
        kwargs: Its keyword arguments.

    Raises:
        TraceError: ST023, it assigns attributes; or whatever tracing it raises.
    """
    piece = _record(tracer, function, args, kwargs)
    captures = _outer_values(tracer, piece)
    return _take_out(tracer, piece, captures)


def join(
    tracer: Watcher, functions: tuple[Callable[..., Any], ...], args: Any
) -> tuple[list[Node], tuple[Node, ...], Any]:
    """Outline functions that take the same arguments, with the same captures for all.

    Returns:
        The nodes that read them, the captures, and what the first of them returned.
    """
    pieces = [_record(tracer, function, args, {}) for function in functions]
    captures = tuple(dict.fromkeys(node for piece in pieces for node in _outer_values(tracer, piece)))
    found = [_take_out(tracer, piece, captures) for piece in pieces]
    return [one.function for one in found], captures, found[0].result


def outline_run(
    tracer: Watcher, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Outlined | None, tuple[Node, ...]]:
    """Trace `function` on its arguments themselves, and take it out.

    Returns:
        Its result; the function that was taken out, or None if it does nothing; and the nodes of the traced arguments,
        which that function takes behind its captures.
    """
    tracer._read_attributes()
    nodes_given = [node for node in map(tracer.create_arg, args) if isinstance(node, Node)]
    if tracer.levels:
        nodes_given = list(map(tracer.levels[-1].local, nodes_given))
    given = tuple(dict.fromkeys(nodes_given))
    last = last_node(tracer.graph)
    held = dict(tracer._written)
    result = function(*args, **kwargs)
    nodes = _nodes_since(tracer, last)
    if not nodes:
        return result, None, given
    piece = _piece(tracer, nodes, [], result, held)
    captures = tuple(node for node in _outer_values(tracer, piece) if node not in given)
    outlined = _take_out(tracer, piece, (*captures, *given))
    return result, Outlined(outlined.function, captures, result), given


def rebuild(result: Any, value: Any) -> Any:
    """Return a traced value in the tuples, lists and dicts in which a function returned its results."""
    if type(result) in (tuple, list):
        return type(result)([rebuild(item, value[index]) for index, item in enumerate(result)])
    if type(result) is dict:
        return {key: rebuild(item, value[key]) for key, item in result.items()}
    return value


def _record(tracer: Watcher, function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> _Piece:
    tracer._read_attributes()
    leaves, spec = pytree.tree_flatten((tuple(args), kwargs))
    last = last_node(tracer.graph)
    stand_ins, given = [], []
    for leaf in leaves:
        if not (
            isinstance_proxy(leaf) or hooks.original_isinstance(leaf, torch.Tensor) or type(leaf) in ATOMS
        ):
            raise trace_error("ST017", kind=type(leaf).__qualname__)
        node = tracer.create_node("call_function", program.stand_in, (), {})
        stand_ins.append(node)
        given.append(leaf if type(leaf) in ATOMS else tracer.proxy(node))
    call_args, call_kwargs = pytree.tree_unflatten(given, spec)
    held = dict(tracer._written)
    result = function(*call_args, **call_kwargs)
    return _piece(tracer, _nodes_since(tracer, last), stand_ins, result, held)


def _nodes_since(tracer: Watcher, last: Node | None) -> list[Node]:
    nodes = nodes_since(tracer.graph, last)
    return nodes_since(tracer.graph, last) if read_outside(tracer, nodes) else nodes


def _piece(
    tracer: Watcher, nodes: list[Node], stand_ins: list[Node], result: Any, held: dict[Any, Any]
) -> _Piece:
    last = nodes[-1] if nodes else None
    output = tracer.create_arg(result)
    if nodes:  # with what the result itself was recorded as
        nodes = [*nodes, *nodes_since(tracer.graph, last)]
    for node in all_nodes(nodes):
        if node.target is program.write_attribute:
            what = "assigns, in a function that is given to a function of torch,"
            raise trace_error("ST023", attribute=str(node.args[1]), what=what)
    for key in [key for key in tracer._written if key not in held]:
        del tracer._written[key]  # read inside: it is read again outside
    return _Piece(nodes, _inside(tracer, nodes, stand_ins), stand_ins, output, result)


_METADATA = frozenset({"device", "dtype", "itemsize", "layout", "ndim", "shape"})


def _reads_what_stays(tracer: Watcher, node: Node) -> bool:
    """Tell whether a node reads what no operation inside can change: a module, a size, one of several results."""
    if node.op == "get_attr":
        return True
    if node.op != "call_function" or len(node.args) != 2:
        return False
    if node.target is getattr:
        return node.args[1] in _METADATA
    owner, key = node.args
    return (
        node.target is operator.getitem
        and type(key) in (int, str)
        and isinstance(owner, Node)
        and not issubclass(tracer.kind_of_node(owner), torch.Tensor)
    )


def _inside(tracer: Watcher, nodes: list[Node], stand_ins: list[Node]) -> list[Node]:
    """Return the nodes that have to run inside; others may be used outside, too."""
    inside = set(stand_ins)
    found = []
    for node in nodes:
        stays = inside.isdisjoint(node.all_input_nodes) and _reads_what_stays(tracer, node)
        if node not in inside and not stays:
            inside.add(node)
            found.append(node)
    return found


def _used_in(piece: _Piece) -> Iterator[Node]:
    for node in piece.moved:
        yield from node.all_input_nodes
    found: list[Node] = []
    map_arg(piece.output, lambda node: found.append(node) or node)  # type: ignore[func-returns-value]
    yield from found


def _outer_values(tracer: Watcher, piece: _Piece) -> tuple[Node, ...]:
    """Return what a piece uses of the graph around it; what is read from modules is read outside."""
    inside = {*piece.moved, *piece.stand_ins}
    outer = [node for node in _used_in(piece) if node not in inside]
    for node in piece.moved:
        if node.op == "call_module":
            outer.append(tracer._module_node(tracer.attribute(node.target)))
    return tuple(dict.fromkeys(outer))


def _take_out(tracer: Watcher, piece: _Piece, captures: tuple[Node, ...]) -> Outlined:
    inner = Graph()
    mapping: dict[Node, Node] = {}
    taken: set[str] = set()
    for node in captures:
        name = node.name
        while name in taken:  # by a node of another graph, around the one that is recorded
            name += "_"
        taken.add(name)
        mapping[node] = inner.placeholder(name)
    for number, node in enumerate(piece.stand_ins):
        mapping[node] = inner.placeholder(f"arg{number}")
    for node in piece.moved:
        if node.op == "call_module":
            module = mapping[tracer._module_node(tracer.attribute(node.target))]
            args, kwargs = map_arg((node.args, dict(node.kwargs)), mapping.__getitem__)
            copied = inner.create_node("call_function", program.call, (module, *args), kwargs, node.name)
        else:
            copied = inner.node_copy(node, mapping.__getitem__)
        mapping[node] = copied
    inner.output(map_arg(piece.output, mapping.__getitem__))
    for node in reversed(piece.moved):
        tracer.graph.erase_node(node)
    for node in piece.stand_ins:
        tracer.graph.erase_node(node)
    tracer._forget_nodes({*piece.moved, *piece.stand_ins})
    with hooks.tracing_as(None):
        path = tracer.get_fresh_qualname("_function_")
        tracer.graph.interned[path] = GraphModule({}, inner, "Function")
    function = tracer.create_node("get_attr", path, (), {})
    return Outlined(function, captures, piece.result)
