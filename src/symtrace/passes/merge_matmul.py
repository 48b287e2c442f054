"""Merging matrix products that share their right operand into one."""

from __future__ import annotations

import copy
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from ..analysis import EffectAnalysis
from ..ir import Node
from ..ops import pure
from ..rewrite.pattern import resolve
from ..runtime import Graph, GraphModule
from .core import Context, Pass

__all__ = ["MergeMatmul", "are_nodes_independent", "may_depend_on", "merge_matmul", "split_result_tensors"]


@pure
def split_result_tensors(result: torch.Tensor, inputs: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """Return the parts of a merged product that belong to each of the merged left operands.

    Args:
        result: The merged product.
        inputs: The left operands, in order.
    """
    return torch.split(result, [x.shape[0] for x in inputs])


def may_depend_on(a: Node, b: Node, search_depth: int = 6) -> bool:
    """Return whether the value of `a` depends on that of `b`.

    Args:
        a: Node that may depend on the other.
        b: Node that it may depend on.
        search_depth: Not used: the answer is exact, and costs what lies between the two nodes.
    """
    stack, seen = [a], {a}
    while stack:
        node = stack.pop()
        if node is b:
            return True
        for used in node.all_input_nodes:
            if used not in seen and used >= b:
                seen.add(used)
                stack.append(used)
    return False


def are_nodes_independent(nodes: Sequence[Node]) -> bool:
    """Return whether no node's value depends on that of another."""
    ordered = sorted(nodes)
    return not any(
        may_depend_on(later, earlier) for i, earlier in enumerate(ordered) for later in ordered[i + 1 :]
    )


def merge_matmul(gm: GraphModule) -> GraphModule:
    """Return a module in which `torch.matmul` calls with one right operand are merged into one call.

    Merged are products whose operands are known to be matrices, from `meta["tensor_meta"]` or, for
    parameters, from the module, that do not depend on each other, and between which nothing they read is
    written.

    Args:
        gm: Module to look at; it is left as it is.
    """
    merged = copy.deepcopy(gm)
    _merge_all(merged, merged.graph)
    return merged


def _merge_all(gm: GraphModule, graph: Graph) -> bool:
    groups: dict[object, list[Node]] = {}
    for node in graph.nodes:
        if (
            node.op == "call_function"
            and node.target in (torch.matmul, operator.matmul)
            and len(node.args) == 2
        ):
            right = node.args[1]
            if isinstance(right, Node) and isinstance(node.args[0], Node):
                key = right.target if right.op == "get_attr" else right
                groups.setdefault(key, []).append(node)
    changed = False
    for nodes in groups.values():
        products = [n for n in nodes if n.users and all(_is_matrix(gm, used) for used in n.all_input_nodes)]
        if len(products) > 1 and are_nodes_independent(products):
            changed = _merge(graph, products) or changed
    return changed


def _is_matrix(gm: nn.Module, node: Node) -> bool:
    if node.op == "get_attr":
        value = resolve(gm, node.target)
        return isinstance(value, torch.Tensor) and value.dim() == 2
    for key in ("tensor_meta", "val"):
        shape = getattr(node.meta.get(key), "shape", None)
        if shape is not None:
            return len(shape) == 2
    return False


def _merge(graph: Graph, products: list[Node]) -> bool:
    """Put one product in the place of the first of `products` that all left operands allow."""
    lefts = [node.args[0] for node in products]
    first_user = min(user for node in products for user in node.users)
    right = min(node.args[1] for node in products)
    last_input = max(node for node in (*lefts, right) if isinstance(node, Node))
    if last_input >= first_user:
        return False
    analysis = EffectAnalysis(graph)
    if not all(analysis.may_move(node, first_user, set(products)) for node in products):
        return False
    with graph.inserting_before(first_user):
        joined = graph.call_function(torch.cat, (lefts,))
        product = graph.call_function(torch.matmul, (joined, right))
        parts = graph.call_function(split_result_tensors, (product, lefts))
        results = [graph.call_function(operator.getitem, (parts, index)) for index in range(len(products))]
    for node, result in zip(products, results, strict=True):
        result.meta.update(node.meta)
        result.origin = node.origin
        node.replace_all_uses_with(result)
        graph.erase_node(node)
    return True


@dataclass(frozen=True)
class MergeMatmul(Pass):
    """Merge matrix products with one right operand into one product; see `merge_matmul`."""

    name: ClassVar[str] = "merge-matmul"

    def run(self, graph: Graph, ctx: Context) -> bool:
        """Merge them."""
        return _merge_all(ctx.module, graph)
