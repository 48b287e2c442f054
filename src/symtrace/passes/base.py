"""What a pass is: a function of a module that says whether it changed it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

from torch import nn

__all__ = ["PassBase", "PassResult"]


class PassResult(NamedTuple):
    """Result of a pass.

    Attributes:
        graph_module: The module after the pass.
        modified: Whether the pass changed anything.
    """

    graph_module: nn.Module
    modified: bool


class PassBase(ABC):
    """A pass with conditions before and after. Subclasses define `call`; instances are called with a
    module.
    """

    def __call__(self, graph_module: nn.Module) -> PassResult | None:
        """Check the precondition, run the pass, and check the postcondition on its result.

        Args:
            graph_module: Module to run the pass on.
        """
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module if result is None else result.graph_module)
        return result

    @abstractmethod
    def call(self, graph_module: nn.Module) -> PassResult | None:
        """Run the pass.

        Args:
            graph_module: Module to run the pass on.
        """

    def requires(self, graph_module: nn.Module) -> None:  # noqa: B027
        """Raise unless `graph_module` is fit for the pass.

        Args:
            graph_module: The module before the pass.
        """

    def ensures(self, graph_module: nn.Module) -> None:  # noqa: B027
        """Raise unless the pass has done what it should.

        Args:
            graph_module: The module that the pass returned.
        """
