"""Putting the graph of a called module in the place of the call."""

from __future__ import annotations

import fnmatch
import operator
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import nn

from ..errors import TraceError
from ..ir import Node, all_graphs, map_arg, regions_of
from ..ops.module_effects import is_hooked
from ..runtime import Graph, GraphModule
from .core import Context, Pass

__all__ = ["InlineModules"]


@dataclass(frozen=True)
class InlineModules(Pass):
    """Put what a called module does in the place of the call: what `split_module` and partitioners have split.

    Modules with hooks stay calls. The modules and parameters stay where they are.

    Attributes:
        modules: Only modules whose path matches this pattern of the shell.
        trace: Capture modules that have no graph yet, other than the layers of `torch.nn`; those that can't be
            captured stay calls.
    """

    name: ClassVar[str] = "inline"
    modules: str = "*"
    trace: bool = False

    def run(self, graph: Graph, ctx: Context) -> bool:
        """Inline them, also those that an inlined graph calls."""
        changed = False
        stack = list(reversed(graph.nodes))  # nodes of regions that come with an inlined graph join it
        while stack:
            node = stack.pop()
            inner = self._graph_of(node, ctx)
            values = None if inner is None else _bound(node, inner)
            if inner is None or values is None:
                continue
            stack.extend(reversed(_inline(node, inner, values)))
            changed = True
        return changed

    def _graph_of(self, node: Node, ctx: Context) -> Graph | None:
        module = ctx.submodule(node)
        if module is None or is_hooked(module) or not fnmatch.fnmatchcase(node.target, self.modules):
            return None
        if isinstance(module, GraphModule):
            return module.graph
        if not self.trace or type(module).__module__.startswith(("torch.nn.", "torch.ao.")):
            return None
        return _traced(module, node, ctx)


def _traced(module: nn.Module, node: Node, ctx: Context) -> Graph | None:
    from ..tracing import symbolic_trace

    try:
        traced = symbolic_trace(module)
    except TraceError as error:
        ctx.remark(node, f"it can't be captured: {error.code}")
        return None
    if traced.graph.interned:
        ctx.remark(node, "it holds values from outside of it")
        return None
    return traced.graph


def _bound(node: Node, inner: Graph) -> dict[Node, Any] | None:
    """Return what the inputs of a graph are in a call; None if that can't be told."""
    left, named = list(node.args), dict(node.kwargs)
    values: dict[Node, Any] = {}
    for given in inner.nodes:
        if given.op != "placeholder":
            break
        target = str(given.target)
        if target.startswith("*"):
            return None
        if given.kind != "keyword_only" and left:
            values[given] = left.pop(0)
        elif given.kind != "positional_only" and target in named:
            values[given] = named.pop(target)
        elif given.args:
            values[given] = given.args[0]
        else:
            return None
    return None if left or named else values


def _inline(node: Node, inner: Graph, values: dict[Node, Any]) -> list[Node]:
    """Copy a graph in front of the call, give the users of the call its results, and return the copies."""
    made = []
    graph = node.graph
    with graph.inserting_before(node):
        for part in inner.nodes:
            if part.op in ("placeholder", "output"):
                continue
            if part.op in ("get_attr", "call_module"):
                copied = graph.create_node(
                    part.op,
                    f"{node.target}.{part.target}" if part.target else node.target,
                    map_arg(part.args, values.__getitem__),
                    map_arg(dict(part.kwargs), values.__getitem__),
                    type_expr=part.type,
                )
                copied.meta.update(part.meta)
                copied.spec, copied.origin = part.spec, part.origin
            else:
                copied = graph.node_copy(part, values.__getitem__)
                made += _moved_regions(copied, node.target)
            values[part] = copied
            made.append(copied)
    result: Any = map_arg(inner.output_node().args[0], values.__getitem__)
    _give(node, result)
    graph.erase_node(node)
    return made


def _moved_regions(node: Node, prefix: str) -> list[Node]:
    """Let the regions of a node find at `prefix` what they refer to; return the nodes in them."""
    inside = [n for region in regions_of(node) for graph in all_graphs(region.graph) for n in graph.nodes]
    for part in inside:
        if part.op in ("get_attr", "call_module"):
            part.target = f"{prefix}.{part.target}" if part.target else prefix
    return inside


def _give(node: Node, result: Any) -> None:
    """Let the users of a node take a result, which may be nested."""
    if isinstance(result, Node):
        node.replace_all_uses_with(result)
        return
    for user in list(node.users):
        picks = user.op == "call_function" and user.target is operator.getitem and user.args[0] is node
        if picks and not isinstance(user.args[1], Node | slice) and _has(result, user.args[1]):
            _give(user, result[user.args[1]])
            user.graph.erase_node(user)
        else:
            user.args = map_arg(user.args, lambda n: result if n is node else n)
            user.kwargs = map_arg(dict(user.kwargs), lambda n: result if n is node else n)


def _has(result: Any, key: Any) -> bool:
    try:
        result[key]
    except (LookupError, TypeError):
        return False
    return True
