"""Running a module on fake tensors and keeping those that the nodes give."""

from __future__ import annotations

from typing import Any

import torch

from ..ir import Node, map_aggregate
from ..runtime import GraphModule
from ..values.fake import FakeTensorMode
from .shape_prop import ShapeProp

__all__ = ["FakeTensorProp"]


class FakeTensorProp(ShapeProp):
    """Runs a module without computing anything and notes in `meta["val"]` the fake tensor that each node gives.

    What `ShapeProp` notes is noted too. The module keeps its state, and parameters need not be fake.

    Args:
        module: Module to run.
        mode: Mode that the fake tensors belong to; by default a new one.

    Raises:
        ArgumentError: `module` is no GraphModule (ST112).

    >>> import symtrace
    >>> gm = symtrace.symbolic_trace(torch.nn.Linear(2, 3))
    >>> FakeTensorProp(gm).propagate(torch.ones(4, 2)).shape
    torch.Size([4, 3])
    """

    def __init__(self, module: GraphModule, mode: FakeTensorMode | None = None) -> None:
        super().__init__(module, FakeTensorMode() if mode is None else mode)

    def run_node(self, n: Node) -> Any:
        """Run a node and note what it gives.

        Raises:
            PassError: The node raises an error (ST234).
        """
        result = super().run_node(n)
        n.meta["val"] = map_aggregate(
            result, lambda value: value.detach() if isinstance(value, torch.Tensor) else value
        )
        return result

    def propagate_dont_convert_inputs(self, *args: Any) -> Any:
        """Run the module on inputs that are fake already.

        Args:
            *args: Inputs of the module.

        Returns:
            What the module returns.
        """
        with self.fake_mode:
            return self.run(*args)
