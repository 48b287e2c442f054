"""Undoes what a call has changed before one of its guards refused it."""

from __future__ import annotations

from typing import Any

import torch
import torch.utils._pytree as pytree  # the public home of pytrees, underscore and all (torch 2.13, 2.14)
from torch import nn

from ..ir import Graph
from ..ops import effects, program

__all__ = ["Rollback", "has_late_guards"]


def has_late_guards(graph: Graph, module_of: Any) -> bool:
    """Tell whether a guard is checked after something may have changed.

    Args:
        graph: The graph.
        module_of: Gives the module of a `call_module` target.

    Cost: linear in the graph.
    """
    may_have_changed = False
    for node in graph.nodes:
        if node.op in ("placeholder", "get_attr", "output"):
            continue
        if node.target is program.guard:
            if may_have_changed:
                return True
        elif not may_have_changed:
            module = module_of(node.target) if node.op == "call_module" else None
            may_have_changed = not effects(node.op, node.target, node.args, node.kwargs, module).is_pure
    return False


class Rollback:
    """What a call may change: buffers, attributes of modules, tensors among its arguments, torch's random state.

    Args:
        module: The module that is called.
        arguments: Its arguments.

    Cost: a copy of the buffers and of the arguments.
    """

    def __init__(self, module: nn.Module, arguments: Any) -> None:
        self._tables = [
            (table, dict(table))
            for part in module.modules()
            for table in (part.__dict__, part.__dict__["_buffers"], part.__dict__["_parameters"])
        ]
        with torch.no_grad():
            leaves = [leaf for leaf in pytree.tree_leaves(arguments) if isinstance(leaf, torch.Tensor)]
            self._tensors = [(tensor, tensor.detach().clone()) for tensor in [*module.buffers(), *leaves]]
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
