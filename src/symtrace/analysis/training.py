"""What layers do in training, for graphs of layers that are in evaluation mode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..ir import Node
from ..ops import Effect, effects

__all__ = ["TrainingOrder", "submodule"]


def submodule(owner: Any, target: str) -> Any:
    """Return what stands at a dotted path of `owner`, or None."""
    for atom in target.split("."):
        owner = getattr(owner, atom, None)
    return owner


class TrainingOrder:
    """Which calls keep their order so that draws and statistics stay the same when the layers are trained later.

    In evaluation mode dropout draws nothing and batch normalisation writes nothing. Both may run in any order with
    everything else, but not with their like: draws are taken one after the other, and statistics of one layer are
    averages in which the last call counts most.

    Args:
        known: The effects of the nodes of a graph in the mode that its layers are in.
    """

    def __init__(self, known: Mapping[Node, Effect]) -> None:
        self._effects = known
        self._roles: dict[Node, tuple[bool, frozenset[int]]] = {}

    def role(self, node: Node) -> tuple[bool, frozenset[int]]:
        """Return whether a node draws numbers in training, and the identities of the tensors that it then writes to."""
        known = self._roles.get(node)
        if known is None:
            known = self._roles[node] = self._role(node)
        return known

    def _role(self, node: Node) -> tuple[bool, frozenset[int]]:
        effect = self._effects[node]
        if node.op != "call_module":
            return effect.random, frozenset()
        module = submodule(node.graph.owning_module, node.target)
        if module is None:
            return effect.random, frozenset()
        trained = effects(node.op, node.target, node.args, node.kwargs, module, True)
        draws = trained.random or trained.impure
        if not (trained.writes_state or trained.impure):
            return draws, frozenset()
        return draws, frozenset(map(id, module.buffers()))

    def counts(self, node: Node) -> bool:
        """Return whether a node draws or writes in training."""
        draws, written = self.role(node)
        return draws or bool(written)

    def conflict(self, left: Node, right: Node) -> bool:
        """Return whether the order of two nodes matters in training."""
        (draws, written), (also, others) = self.role(left), self.role(right)
        return (draws and also) or bool(written & others)
