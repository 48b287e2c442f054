"""Which tensors the calls of a graph may write to, so that only these are copied before a call."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
import torch.utils._pytree as pytree  # the public home of pytrees, underscore and all (torch 2.13, 2.14)
from torch import nn

from ..analysis import EffectAnalysis
from ..ir import Graph, Node, all_graphs, regions_of
from ..ops import program
from ..ops.module_effects import module_effect
from ..ops.reach import reaches_only_arguments

__all__ = ["Touched", "checks", "is_quiet_in_evaluation", "tensors_of_module", "touched_by"]

_PLAIN = (torch.Tensor, list, tuple, dict)
_HARMLESS = (
    program.enter_mode,
    program.exit_mode,
    program.guard,
    program.is_given,
    program.raise_error,
    program.new_error,
    program.text,
)


@dataclass(frozen=True)
class Touched:
    """What a call may write to.

    Attributes:
        everything: Nothing is known of some call: it may be any tensor of any module.
        values: Paths of what the graph reads, all of which may be written to, as may the arguments; None if neither is.
        modules: Paths of modules that write to their own tensors, and whether they do so in training only.
    """

    everything: bool
    values: tuple[str, ...] | None = None
    modules: tuple[tuple[str, bool], ...] = ()

    def tensors(self, root: nn.Module, arguments: Any, module_of: Callable[[str], Any]) -> list[torch.Tensor]:
        """Return the tensors as they are now.

        Args:
            root: The module that is called.
            arguments: Its arguments.
            module_of: Gives what is at a path of it.
        """
        if self.everything:
            return [*tensors_of_module(root), *_leaves(arguments)]
        found: list[torch.Tensor] = []
        if self.values is not None:
            found += _leaves(arguments)
            for value in map(module_of, self.values):
                found += tensors_of_module(value) if isinstance(value, nn.Module) else _leaves(value)
        for path, only_training in self.modules:
            module = module_of(path)
            if not only_training or any(part.training for part in module.modules()):
                found += tensors_of_module(module)
        return found


def touched_by(graph: Graph, module_of: Callable[[str], Any]) -> Touched:
    """Return what the calls of a graph may write to before its last guard: what comes behind is not undone.

    Args:
        graph: The graph.
        module_of: Gives what is at a path of its module.

    Cost: linear.
    """
    values: dict[str, None] = {}
    modules: dict[str, bool] = {}
    writes = False
    for inner, nodes in _before_last_guard(graph):
        analysis = EffectAnalysis(inner, any_mode=True)
        for node in nodes:
            if node.op == "get_attr":
                if not all(_sets_attribute(node, user) for user in node.users):
                    values[node.target] = None
            elif node.op in ("placeholder", "output") or regions_of(node) or node.target in _HARMLESS:
                continue
            elif node.target is program.write_attribute and _is_module(node.args[0], module_of):
                continue  # tables of attributes are kept in any case
            elif node.target is operator.setitem and _is_dict(node.args[0], module_of):
                continue  # so are dicts of tensors, such as caches; no tensor is written to
            else:
                effect = analysis.effect(node)
                if effect.impure and _writes_to_new_only(node, analysis):
                    continue
                if effect.impure:
                    return Touched(True)
                if effect.writes_state:
                    modules[node.target] = is_quiet_in_evaluation(module_of(node.target))
                writes = writes or bool(effect.mutates and None in analysis.writes(node))
    return Touched(False, tuple(values) if writes else None, tuple(modules.items()))


def _before_last_guard(graph: Graph) -> Iterator[tuple[Graph, list[Node]]]:
    """Yield the graph and those of its regions, with the nodes that run before the last guard or along with it."""
    nodes = list(graph.nodes)
    while nodes and not checks(nodes[-1]):
        nodes.pop()
    yield graph, nodes
    for node in nodes:
        for region in regions_of(node):
            for inner in all_graphs(region.graph):
                yield inner, list(inner.nodes)


def checks(node: Node) -> bool:
    """Tell whether a node is a guard, or has regions with one.

    Args:
        node: The node.
    """
    if node.target is program.guard:
        return True
    if len(node.args) < 4:  # fewer than any node with regions has
        return False
    return any(
        inner.target is program.guard
        for region in regions_of(node)
        for graph in all_graphs(region.graph)
        for inner in graph.nodes
    )


def _writes_to_new_only(node: Node, analysis: EffectAnalysis) -> bool:
    """Tell whether a function of the program's can write to no more than what the calls before it have made."""
    if node.op != "call_function" or not reaches_only_arguments(node.target):
        return False
    if any(not isinstance(leaf, _GIVEN) for leaf in pytree.tree_leaves((node.args, dict(node.kwargs)))):
        return False
    seen: set[Node] = set()
    stack = node.all_input_nodes
    while stack:
        value = stack.pop()
        if value in seen:
            continue
        seen.add(value)
        effect = analysis.effect(value)
        if value.op in ("placeholder", "get_attr") or effect.impure or effect.mutates:
            return False
        if effect.returns_alias:
            if value.op == "call_module":
                return False
            stack += value.all_input_nodes
    return True


_GIVEN = (Node, int, float, complex, str, type(None), torch.dtype, torch.device)


def _sets_attribute(owner: Node, user: Node) -> bool:
    """Tell whether a use of a module is no more than an assignment to an attribute of it."""
    return user.target is program.write_attribute and user.args[0] is owner and owner not in user.args[1:]


def _is_module(value: Any, module_of: Callable[[str], Any]) -> bool:
    if not isinstance(value, Node) or value.op != "get_attr":
        return False
    return isinstance(module_of(value.target), nn.Module)


def _is_dict(value: Any, module_of: Callable[[str], Any]) -> bool:
    return isinstance(value, Node) and value.op == "get_attr" and type(module_of(value.target)) is dict


def is_quiet_in_evaluation(module: nn.Module) -> bool:
    """Tell whether calling a module changes nothing while none of it is training."""
    effect = module_effect(module, any_mode=True)
    draws = (nn.FractionalMaxPool2d, nn.FractionalMaxPool3d)  # in either mode
    return not (effect.impure or effect.mutates or any(isinstance(part, draws) for part in module.modules()))


def tensors_of_module(module: nn.Module) -> list[torch.Tensor]:
    """Return the tensors of a module and of those in it: buffers, parameters, what attributes and their lists hold."""
    held = [value for part in module.modules() for value in part.__dict__.values() if type(value) in _PLAIN]
    return [*module.buffers(), *_leaves(held)]


def _leaves(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]
