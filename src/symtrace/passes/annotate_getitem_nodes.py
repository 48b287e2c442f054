"""Annotating the items that are taken out of annotated containers."""

from __future__ import annotations

import operator
import typing
from typing import Any

from ..ir import Graph, all_graphs

__all__ = ["annotate_getitem_nodes"]


def annotate_getitem_nodes(graph: Graph) -> None:
    """Give each `operator.getitem` node the type that the annotation of its container tells.

    Args:
        graph: The graph; it is changed. Nodes whose container has no annotation, or no such item, stay as they are.

    >>> import torch, symtrace
    >>> graph = symtrace.Graph()
    >>> pair = graph.placeholder("pair", tuple[torch.Tensor, int])
    >>> item = graph.call_function(operator.getitem, (pair, 0))
    >>> annotate_getitem_nodes(graph)
    >>> item.type
    <class 'torch.Tensor'>
    """
    for node in (node for inner in all_graphs(graph) for node in inner.nodes):
        if node.op != "call_function" or node.target is not operator.getitem or len(node.args) != 2:
            continue
        container, index = node.args
        found = _item_type(getattr(container, "type", None), index)
        if found is not None:
            node.type = found


def _item_type(container: Any, index: Any) -> Any:
    if isinstance(container, type) and issubclass(container, tuple) and hasattr(container, "_fields"):
        types: tuple[Any, ...] = tuple(
            typing.get_type_hints(container).get(name) for name in container._fields
        )
    else:
        origin, types = typing.get_origin(container), typing.get_args(container)
        if origin is list and types and type(index) is int:
            return types[0]
        if origin is dict and len(types) == 2:
            return types[1]
        if origin is not tuple:
            return None
        if len(types) == 2 and types[1] is ... and type(index) is int:
            return types[0]
    return types[index] if type(index) is int and -len(types) <= index < len(types) else None
