"""Computing once, and now, what is the same at each call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from ..ir import Node, map_arg, needed_for
from ..rewrite.pattern import resolve
from ..runtime import Graph
from .const_fold import _constant_nodes
from .core import Context, Pass

__all__ = ["FoldConstants"]

_READS_DEFAULTS = frozenset(
    {"zeros", "ones", "full", "linspace", "logspace", "eye", "hann_window", "scalar_tensor"}
)


@dataclass(frozen=True)
class FoldConstants(Pass):
    """Put tensors in the place of computations that give the same at each call.

    Folded are computations from factories such as `torch.arange(8)` that nothing writes to and that are not
    returned. The tensors stay where they are: `to()` and `state_dict()` pass them by, as they do what a program makes
    itself. What depends on torch's default dtype is not folded.

    Attributes:
        parameters: Fold what is computed from parameters and buffers too. Values that are loaded later have no
            effect any more, and gradients do not flow to them: for inference only.
        max_elements: Leave alone results with more elements, so that the module does not grow without bounds.
    """

    name: ClassVar[str] = "const-fold"
    parameters: bool = False
    max_elements: int = 1 << 22

    def run(self, graph: Graph, ctx: Context) -> bool:
        """Fold them."""
        outside = self.parameters and ctx.is_region(graph) and (ctx.writes_outside or ctx.sets_attributes)
        const = _constant_nodes(
            graph, lambda node: self._is_skipped(node) or (outside and node.op in ("get_attr", "call_module"))
        )
        results = [n for n in const if n.op != "get_attr" and any(user not in const for user in n.users)]
        values: dict[Node, Any] = {}
        for node in _needed(const, results):
            try:
                values[node] = _compute(node, values, ctx)
            except Exception:  # it fails at each call too; let it
                continue
        changed = False
        for node in results:
            value = values.get(node)
            if type(value) is not torch.Tensor or value.numel() > self.max_elements:
                continue
            if not (value.layout == torch.strided and value.is_leaf):
                continue
            path = ctx.add_constant(f"_folded_{node.name}", value)
            with graph.inserting_before(node):
                constant = graph.create_node("get_attr", path, type_expr=node.type)
            constant.meta.update(node.meta)
            constant.spec, constant.origin = node.spec, node.origin
            node.replace_all_uses_with(constant, delete_user_cb=lambda user: user not in const)
            changed = True
        if changed:
            graph.eliminate_unused(lambda node: node in const)
            if self.parameters:
                ctx.specialise("parameters were folded")
        return changed

    def _is_skipped(self, node: Node) -> bool:
        if node.op == "get_attr":
            return not self.parameters
        if node.op == "call_module":
            return not self.parameters
        name = getattr(node.target, "__name__", "")
        return name in _READS_DEFAULTS and "dtype" not in node.kwargs and not node.all_input_nodes


def _needed(const: dict[Node, None], results: list[Node]) -> list[Node]:
    needed = needed_for(results)
    return [node for node in const if node in needed]


def _compute(node: Node, values: dict[Node, Any], ctx: Context) -> Any:
    args: Any = map_arg(node.args, values.__getitem__)
    kwargs: Any = map_arg(dict(node.kwargs), values.__getitem__)
    with torch.no_grad():
        if node.op == "get_attr":
            return resolve(ctx.module, node.target)
        if node.op == "call_module":
            return ctx.submodule(node)(*args, **kwargs)  # type: ignore[misc]
        if node.op == "call_method":
            return getattr(args[0], node.target)(*args[1:], **kwargs)
        return node.target(*args, **kwargs)
