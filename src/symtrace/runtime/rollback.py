"""Undoes what a call has changed before one of its guards refused it."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from ..analysis import Decisions, EffectAnalysis
from ..ir import Graph, Node, regions_of
from ..ops import effects, program
from .touched import Touched, checks, is_quiet_in_evaluation, touched_by

__all__ = ["LateGuards", "Rollback"]


class LateGuards:
    """Which guards of a graph are checked after something may have changed, in the modes that its modules are in.

    Args:
        graph: The graph.
        module_of: Gives the module of a `call_module` target.

    Cost: linear in the graph, once.
    """

    def __init__(self, graph: Graph, module_of: Any) -> None:
        self._always = False
        self._in_training: list[nn.Module] = []
        self._flags: list[nn.Module] = []
        self._graph = graph
        self._module_of = module_of
        self._touched: Touched | None = None
        if not any(map(checks, graph.nodes)):  # as in most graphs: effects are not looked up for nothing
            return
        analysis = EffectAnalysis(graph, any_mode=True)
        owners: dict[int, nn.Module] = {}
        quiet = _Quiet(graph, analysis, module_of, owners)
        changing: list[nn.Module] = []
        has_changed = by_flags = False
        for node in graph.nodes:
            if node.op in ("placeholder", "get_attr", "output"):
                continue
            if checks(node):
                self._always = self._always or has_changed or bool(regions_of(node))
                self._in_training = list(changing)
                self._flags = list(owners.values()) if by_flags else []
                continue
            if has_changed or not _changes(node, analysis):
                continue
            module = module_of(node.target) if node.op == "call_module" else None
            if module is not None and is_quiet_in_evaluation(module):
                changing.append(module)
            elif quiet.holds(node):
                by_flags = True
            else:
                has_changed = True

    def exist(self) -> bool:
        """Tell whether there are any as the modules are switched now."""
        return (
            self._always
            or any(owner.training for owner in self._flags)
            or any(part.training for module in self._in_training for part in module.modules())
        )

    def rollback(self, module: nn.Module, arguments: Any) -> Rollback:
        """Return what undoes a call that is about to be made.

        Args:
            module: The module that is called.
            arguments: Its arguments.
        """
        if self._touched is None:
            self._touched = touched_by(self._graph, self._module_of)
        return Rollback(module, arguments, self._touched.tensors(module, arguments, self._module_of))


class _Quiet:
    """Which nodes change nothing as long as the modules whose training flags the graph reads are not training.

    Args:
        graph: The graph.
        analysis: Its effects.
        module_of: Gives the module at a path.
        owners: Receives the modules whose flags are read.
    """

    def __init__(
        self, graph: Graph, analysis: EffectAnalysis, module_of: Any, owners: dict[int, nn.Module]
    ) -> None:
        def flag(node: Node) -> bool | None:
            path, _, name = str(node.target).rpartition(".")
            owner = module_of(path) if name == "training" else None
            if not isinstance(owner, nn.Module) or not isinstance(owner.training, bool):
                return None
            owners[id(owner)] = owner
            return False

        self._decisions = Decisions(graph, (lambda node: None) if analysis.sets_attributes else flag)

    def holds(self, node: Node) -> bool:
        """Tell whether a node changes nothing then."""
        use = self._decisions.taken.get(node)
        if use is not None:
            inner = EffectAnalysis(use.region.graph, any_mode=True)
            return not any(_changes(part, inner) for part in use.region.graph.nodes)
        if node.op != "call_function" or regions_of(node):
            return False
        known = self._decisions.value
        return effects(node.op, node.target, known(node.args), known(dict(node.kwargs))).is_pure


_HARMLESS = (program.is_given, program.raise_error, program.new_error, program.text)
"""They are kept in their place, but leave everything as it is."""


def _changes(node: Node, analysis: EffectAnalysis) -> bool:
    """Tell whether a node changes what is there after the call: an assertion, or a write to a value of the program's
    own, does not.
    """
    if node.op in ("placeholder", "get_attr", "output") or node.target in _HARMLESS:
        return False
    regions = regions_of(node)
    if regions:
        return any(
            _changes(part, inner)
            for region in regions
            for inner in (EffectAnalysis(region.graph, any_mode=True),)
            for part in region.graph.nodes
        )
    effect = analysis.effect(node)
    if effect.random or effect.impure or effect.writes_state or effect.barrier:
        return True
    return None in analysis.writes(node)


class Rollback:
    """What a call may change: tensors of modules, attributes, tensors among its arguments, torch's random state.

    Args:
        module: The module that is called.
        arguments: Its arguments.
        tensors: Those that the call may write to; by default, all of the module and of the arguments.

    Cost: a copy of the tensors.
    """

    def __init__(self, module: nn.Module, arguments: Any, tensors: list[torch.Tensor] | None = None) -> None:
        self._tables = [
            (table, dict(table))
            for part in module.modules()
            for table in (
                part.__dict__,
                part.__dict__["_buffers"],
                part.__dict__["_parameters"],
                *_dicts(part),
            )
        ]
        if tensors is None:
            tensors = Touched(True).tensors(module, arguments, lambda path: None)
        with torch.no_grad():
            self._tensors = [(tensor, tensor.detach().clone()) for tensor in tensors]
        self._random = torch.get_rng_state()

    def undo(self) -> None:
        """Put everything back."""
        for table, before in self._tables:
            for key in table.keys() - before.keys():
                del table[key]
            table.update(before)
        with torch.no_grad():
            for tensor, copied in self._tensors:
                if not torch.equal(tensor, copied):
                    # Leaving inference mode would turn gradients on, so that it is entered only where it is wanted.
                    with torch.inference_mode() if tensor.is_inference() else torch.no_grad():
                        tensor.copy_(copied)
        torch.set_rng_state(self._random)


def _dicts(module: nn.Module) -> list[dict[str, Any]]:
    """Return the dicts of tensors and numbers, such as caches, that a program may fill: they are attributes."""
    return [
        value
        for name, value in module.__dict__.items()
        if type(value) is dict
        and name not in _TABLES
        and all(isinstance(one, _KEPT) for one in value.values())
    ]


_TABLES = frozenset(vars(nn.Module()))
_KEPT = (torch.Tensor, int, float)
