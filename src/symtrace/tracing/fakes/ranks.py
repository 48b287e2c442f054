"""Tensors that have one of two numbers of dimensions, as the data decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch.utils._pytree as pytree  # the public home of pytrees, underscore and all (torch 2.13, 2.14)

from ...values import FakeTensor
from .. import hooks
from .lists import TracedList
from .numbers import NUMBERS, wrap_number

if TYPE_CHECKING:
    from ...ir import Node
    from ..tracer import Tracer as _Base
    from .evaluate import Evaluator
else:
    _Base = object

__all__ = ["ExampleRanks"]

_UNKNOWN = object()
"""Where a list of numbers comes from that is as long as the data decides."""


class ExampleRanks(_Base):
    """Knows of which decision it depends how many dimensions a tensor has.

    What comes out of a decision has as many as one of the two ways gives it. What is computed from such tensors of one
    decision has one of two numbers as well, which are those for the example and for other data. From tensors of several
    decisions, or where an operation fails for one of the two, there may be any: that is checked at the run.

    Attributes:
        origins: The decisions, for tensors and lists of sizes.
    """

    origins: dict[int, Any]

    if TYPE_CHECKING:
        _evaluator: Evaluator
        _guard_rank: Any
        pin_rank: Any

    def rank_of(self, tensor: FakeTensor) -> Any:
        """Return the number of dimensions of a tensor, a traced number if data decides it."""
        self.pin_rank(tensor)
        if not self._has_two_ranks(tensor):
            with hooks.unwatched():
                return tensor.dim()
        node = self.create_node("call_method", "dim", (self.create_arg(tensor),), {})
        with hooks.unwatched():
            return wrap_number(self, node, tensor.dim(), self._evaluator.other(tensor).dim())

    def sizes_of(self, tensor: FakeTensor, shape: Node) -> Any:
        """Return the shape, which a node reads, of a tensor that has one of two numbers of dimensions."""
        with hooks.unwatched():
            sizes = TracedList(
                shape, self, list(tensor.shape), list(self._evaluator.other(tensor).shape), hooks.real_size
            )
        self._evaluator.keep(sizes)
        self.origins[id(sizes)] = self.origins.get(id(tensor), _UNKNOWN)
        return sizes

    def note_origin(self, value: Any, ways: tuple[Any, Any], origin: Any) -> None:
        """Note that the number of dimensions of a value depends on a decision.

        Args:
            value: What comes out of it.
            ways: What the ways give.
            origin: The decision.
        """
        if self._has_two_ranks(value):
            is_its_own = any(map(self._has_two_ranks, ways))
            self.origins[id(value)] = object() if is_its_own else origin

    def check_ranks(self, given: Any, result: Any) -> bool:
        """Have numbers of dimensions of results checked that are not known to follow from those of the arguments.

        Args:
            given: The arguments.
            result: What the operation gives.

        Returns:
            Whether something is known of the result.
        """
        origins = {id(origin): origin for leaf in pytree.tree_leaves(given) for origin in self._origins(leaf)}
        is_known = not origins or (
            len(origins) == 1 and id(_UNKNOWN) not in origins and not self._evaluator.has_failed
        )
        for leaf in pytree.tree_leaves(result):
            if type(leaf) is not FakeTensor:
                continue
            has_two = self._has_two_ranks(leaf)
            if has_two and (not origins or id(_UNKNOWN) in origins) and leaf is result:
                return False
            if has_two and origins and is_known:
                self.origins[id(leaf)] = next(iter(origins.values()))
            elif has_two or not is_known:
                self._guard_rank(leaf)
                self._evaluator.forget_rank(leaf)
        return True

    def _origins(self, leaf: Any) -> list[Any]:
        if type(leaf) is TracedList:
            if id(leaf) in self.origins:
                return [self.origins[id(leaf)]]
            return [_UNKNOWN] if any(type(item) in NUMBERS for item in leaf.items) else []
        return [self.origins.get(id(leaf), _UNKNOWN)] if self._has_two_ranks(leaf) else []

    def _has_two_ranks(self, value: Any) -> bool:
        if type(value) is not FakeTensor:
            return False
        other = self._evaluator.other(value)
        with hooks.unwatched():
            return other is not value and bool(value.dim() != other.dim())
