"""Finding the nodes on which two ways to run a program differ, under the spellings of `torch.fx`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ..ir import Node
from ..rewrite.sources import check_graph_module
from ..runtime import GraphModule
from .errors import PartitionError
from .minimize import Search, minimize

__all__ = [
    "FxNetMinimizerBadModuleError",
    "FxNetMinimizerResultMismatchError",
    "FxNetMinimizerRunFuncError",
]

Compare = Callable[[Any, Any, Any], "tuple[float, bool]"]


class FxNetMinimizerBadModuleError(Exception):
    """A part of the program can't be made a module."""


class FxNetMinimizerRunFuncError(Exception):
    """One of the two ways to run a part raised."""


class FxNetMinimizerResultMismatchError(Exception):
    """The two ways to run a part give different results."""


@dataclass
class _MinimizerSettingBase:
    """Settings of a minimiser.

    Attributes:
        traverse_method: `"binary"` halves the program; `"sequential"` runs every node by itself.
        find_all: With `"sequential"`, go on after the first node that differs.
    """

    traverse_method: str = "binary"
    find_all: bool = False


class _MinimizerBase:
    """Finds the nodes on which two ways to run a program differ. Subclasses define `run_a` and `run_b`.

    Args:
        module: The program; it is left as it is.
        sample_input: Arguments of one call.
        compare_fn: Called with both results and the names of the outputs; returns a number and whether they agree.
        settings: Settings.
    """

    def __init__(
        self,
        module: GraphModule,
        sample_input: Sequence[Any],
        compare_fn: Compare,
        settings: _MinimizerSettingBase | None = None,
        *_: Any,
    ) -> None:
        check_graph_module(module, "module")
        self.module = module
        self.sample_input = sample_input
        self.compare_fn = compare_fn
        self.settings = settings or _MinimizerSettingBase()

    def run_a(self, mod: GraphModule, inputs: Any, report_idx: int = -1) -> Any:
        """Run a module in the way that is right."""
        raise RuntimeError("run_a() is not implemented.")

    def run_b(self, mod: GraphModule, inputs: Any, report_idx: int = -1) -> Any:
        """Run a module in the way that may be wrong."""
        raise RuntimeError("run_b() is not implemented.")

    def minimize(self, *_: Any) -> set[Node]:
        """Return the nodes on which the two ways differ; no nodes if they agree.

        Raises:
            FxNetMinimizerBadModuleError: The traverse method is unknown.
        """
        if self.settings.traverse_method == "binary":
            return self._binary()
        if self.settings.traverse_method == "sequential":
            return self._sequential()
        raise FxNetMinimizerBadModuleError(f"unknown traverse method {self.settings.traverse_method!r}")

    def _agree(self, actual: Any, expected: Any) -> bool:
        return bool(self.compare_fn(expected, actual, ("output",))[1])

    def _binary(self) -> set[Node]:

        try:
            found = minimize(
                self.module, self.sample_input, self.run_b, reference=self.run_a, compare=self._agree
            )
        except PartitionError as error:
            if error.code != "ST246":
                raise
            return set()
        return set(found.nodes)

    def _sequential(self) -> set[Node]:

        search = Search(self.module, self.run_b, self.run_a, self._agree)
        with torch.no_grad():
            search.record(self.sample_input)
        found: set[Node] = set()
        for node in search.nodes:
            if search.failure([node]) is not None:
                found.add(node)
                if not self.settings.find_all:
                    break
        return found
