"""`TracedList`: a list that grows by as much as the data decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..proxy import Proxy

if TYPE_CHECKING:
    from ...ir import Node
    from ..recording import TracerBase

__all__ = ["TracedList"]


class TracedList(Proxy):
    """Stands for a list whose length only the run knows.

    Args:
        node: The node that makes it.
        tracer: Records.
        items: Items like those that it has; it is taken to have as many.
        others: Items like those that it could have with other data.
        kind: `list`, or `tuple`.
    """

    items: Any
    others: Any
    kind: type

    def __init__(self, node: Node, tracer: TracerBase, items: Any, others: Any, kind: type = list) -> None:
        super().__init__(node, tracer)
        object.__setattr__(self, "items", items)
        object.__setattr__(self, "others", others)
        object.__setattr__(self, "kind", kind)
