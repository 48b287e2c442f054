"""Printed forms of nodes and graphs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from .._base.qualified import qualified_name, type_text
from .region import regions_of

if TYPE_CHECKING:
    from .graph import Graph
    from .node import Node

__all__ = ["format_arg", "format_graph", "format_node", "graph_lines", "target_text"]


def target_text(target: Any) -> str:
    """Return the dotted name of a target, as the printed graph shows it."""
    if isinstance(target, str):
        return target
    module = getattr(target, "__module__", None)
    name = getattr(target, "__name__", None)
    if name is not None and module == "builtins":
        return f"builtins.{name}"
    return qualified_name(target)


def format_arg(value: Any) -> str:
    """Return an argument as the printed graph shows it: nodes get a percent sign, strings no quotes."""
    custom = getattr(type(value), "_custom_fx_repr_fn", None)
    if custom is not None:
        return str(custom(value))
    if isinstance(value, list):
        return f"[{', '.join([format_arg(item) for item in value])}]"
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        items = ", ".join([format_arg(item) for item in value])
        return f"({items},)" if len(value) == 1 else f"({items})"
    if isinstance(value, dict):
        return f"{{{', '.join([f'{key}: {format_arg(item)}' for key, item in value.items()])}}}"
    # A node is known by its attributes, so that printing stays free of an import cycle.
    return f"%{value}" if hasattr(value, "all_input_nodes") else str(value)


def format_node(
    node: Node,
    placeholder_names: list[str] | None = None,
    maybe_return_typename: list[str] | None = None,
    include_tensor_metadata: bool = False,
) -> str:
    """Return one line for `node`; see `Node.format_node`."""
    annotation = "" if node.type is None else f"{type_text(node.type)} "
    head = f"%{node.name} : {annotation}[num_users={len(node._user_list())}]"
    if include_tensor_metadata:
        head += _tensor_text(node)
    if node.op == "placeholder":
        if placeholder_names is not None:
            suffix = f" : {type_text(node.type)}" if node.type is not None else ""
            placeholder_names.append(f"{node.target}{suffix}")
        default = f"(default={node.args[0]})" if node.args else ""
        return f"{head} = placeholder[target={node.target}]{default}"
    if node.op == "get_attr":
        return f"{head} = get_attr[target={node.target}]"
    if node.op == "output":
        if node.type is not None and maybe_return_typename:
            maybe_return_typename[0] = f" -> {type_text(node.type)}"
        return f"return {node.args[0] if node.args else None}"
    args, kwargs = format_arg(node.args), format_arg(node.kwargs)
    return f"{head} = {node.op}[target={target_text(node.target)}](args = {args}, kwargs = {kwargs})"


def _tensor_text(node: Node) -> str:
    value: Any = node.meta.get("val", node.meta.get("tensor_meta"))
    if value is None:
        return ""
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        return ""
    shape = ", ".join(str(size) for size in value.shape)
    device = f" {value.device}" if hasattr(value, "device") else ""
    return f" ({value.dtype}[{shape}]{device})"


def graph_lines(graph: Graph, *, include_tensor_metadata: bool = False) -> Iterator[str]:
    """Yield the lines of the printed graph, without line ends; the whole text is never held."""
    parameters: list[str] = []
    returns = [""]
    for node in graph.nodes:
        if node.op == "placeholder":
            format_node(node, parameters)
        elif node.op == "output":
            format_node(node, None, returns)
    yield f"graph({', '.join(parameters)}){returns[0]}:"
    for _, line in _body(graph, "    ", include_tensor_metadata):
        yield line


def _body(graph: Graph, indent: str, tensors: bool) -> Iterator[tuple[Node | None, str]]:
    """Yield a line for each node, and for what is in its regions; those have no node."""
    for node in graph.nodes:
        yield node, f"{indent}{format_node(node, include_tensor_metadata=tensors)}"
        if node.op == "call_function" and len(node.args) > 3:
            for number, region in enumerate(regions_of(node)):
                names = ", ".join(inner.name for inner in region.graph.nodes if inner.op == "placeholder")
                yield None, f"{indent}    region {number}({names}):"
                for inner, line in _body(region.graph, f"{indent}        ", tensors):
                    if inner is None or inner.op != "placeholder":
                        yield None, line


def format_graph(graph: Graph, marks: Iterable[tuple[Node, str]] = ()) -> str:
    """Return the printed graph, with remarks under the nodes they are about.

    Args:
        graph: The graph.
        marks: Pairs of a node and a one-line remark.
    """
    remarks: dict[Node, list[str]] = {}
    for node, remark in marks:
        remarks.setdefault(node, []).append(remark)
    if not remarks:
        return "\n".join(graph_lines(graph))
    lines = [next(graph_lines(graph))]
    for about, line in _body(graph, "    ", False):
        lines.append(line)
        if about is not None:
            lines.extend(f"    ^^^ {remark}" for remark in remarks.get(about, ()))
    return "\n".join(lines)
