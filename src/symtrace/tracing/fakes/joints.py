"""What control flow asks of a tracer with examples: which values stand for one of several, and with which sizes."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
import torch.utils._pytree as pytree  # the public home of pytrees, underscore and all (torch 2.13, 2.14)

from ...ir import Node
from ...ops import program
from ...values import FakeTensor
from .. import hooks
from ..control_flow.levels import refusal
from ..joints import Joints, SeveralKinds
from ..optionals import NO_FACTS, Facts
from ..proxy import Proxy
from .lists import TracedList
from .numbers import NUMBERS, _Traced
from .operations import Part

if TYPE_CHECKING:
    from .evaluate import Evaluator

__all__ = ["ExampleJoints", "another"]

_RANK: dict[type, int] = {bool: 0, int: 1, float: 2, FakeTensor: 3}
"""Of two kinds of number, the higher one stands for a value that may be either."""


def another(number: Any) -> Any:
    """Return another number of the same kind, for one that data decides.

    An index or a size has to be another one within bounds: `x[:3]` and `x[:4]` may be the same.
    """
    if type(number) is bool:
        return not number
    is_within = type(number) is int and (number > 1 or number < 0)
    return number - 1 if is_within else number + 1


class ExampleJoints(Joints):
    """Makes the values that come out of regions: fake tensors and traced numbers."""

    if TYPE_CHECKING:
        _evaluator: Evaluator
        several: dict[int, Any]
        _alias: Callable[[Any], Any]
        _answer: Callable[[Any, type], tuple[Any, Any, bool]]
        node_of: Callable[[Any], Node]
        _follows: Callable[[Any], bool]
        _guard_rank: Callable[[FakeTensor], None]

        note_origin: Callable[..., None]
        track: Callable[..., Any]

    def is_open(self, value: Any) -> bool:
        """Tell whether only the run can say if a traced value is true."""
        if type(value) is FakeTensor:
            return self._answer(value, bool)[2] and not self._follows(self.create_arg(value))
        if type(value) is TracedList:
            return True
        if not issubclass(type(value), _Traced):
            return super().is_open(value)
        return bool(value.is_open) and not self._follows(value._source)

    def prefers_else(self, test: Any) -> bool:
        """Tell whether the example goes the second way."""
        return issubclass(type(test), _Traced) and not test._value

    def may_merge(self, one: Any, two: Any) -> bool:
        """Tell whether two values can be results of the two ways of one decision."""
        one, two = self._plain(one), self._plain(two)
        kinds = {type(one), type(two)}
        if kinds <= {FakeTensor, Proxy, *NUMBERS}:
            return True
        return kinds == {TracedList} and one.kind is two.kind

    def _are_alike(self, one: Any, two: Any, most: int = 1) -> bool:
        """Tell whether two tensors differ in no more than sizes, and have no more than `most` numbers of them."""
        if not type(one) is type(two) is FakeTensor:
            return False
        with hooks.unwatched():
            ranks = {
                value.dim() for tensor in (one, two) for value in (tensor, self._evaluator.other(tensor))
            }
            return one.dtype == two.dtype and one.device == two.device and len(ranks) <= most

    def _plain(self, value: Any) -> Any:
        kind = type(value)
        if issubclass(kind, torch.Tensor) and kind is not FakeTensor:
            return self._evaluator.stand_in(value)
        return value._value if issubclass(kind, _Traced) else value

    def may_be_bool(self, value: Any) -> bool:
        """Tell whether a traced value may be a bool of Python."""
        if id(value) in self.several:
            return True
        if issubclass(type(value), _Traced):
            return type(value._value) is bool
        return type(value) is not FakeTensor and super().may_be_bool(value)

    def is_bool(self, value: Any) -> bool:
        """Tell whether a traced value is known to be a bool."""
        return not (id(value) in self.several or self.is_optional(value)) and self.class_of(value) is bool

    def _is_several(self, value: Any) -> bool:
        return type(value) is SeveralKinds or id(value) in self.several

    def _note_several(self, value: Any) -> Any:
        self.several[id(value)] = value
        return value

    def refuse_several(self, value: Any, classes: Any = None, answer: bool = True) -> None:
        """Stop where the program asks for the class of a value that is of several, None among them.

        Args:
            value: The value.
            classes: Those of an `isinstance`.
            answer: What it answers for the value that is there.

        Raises:
            TraceError: ST033.
        """
        if id(value) in self.several:
            raise refusal(self, "asks for the class of a value that is of several, depending on the data")
        self.refuse_optional(value, classes, answer)

    def pass_on_several(self, given: Any, result: Any) -> None:
        """Note that a result is of several classes, if it is a number or a tensor depending on what was given."""
        if type(result) is not FakeTensor and not issubclass(type(result), _Traced):
            return
        leaves = pytree.tree_leaves(given)
        if any(id(leaf) in self.several for leaf in leaves) and not any(
            type(leaf) is FakeTensor and id(leaf) not in self.several for leaf in leaves
        ):
            self._note_several(result)

    def merged(self, one: Any, two: Any, node: Node, index: int) -> Any:
        """Return the value that is one of two, read from a result of a node."""
        if self._is_several(one) or self._is_several(two):
            one, two = (value.sample if type(value) is SeveralKinds else value for value in (one, two))
            return self._note_several(self._merged(one, two, node, index))
        value = self._merged(one, two, node, index)
        plain = self._plain(one), self._plain(two)
        is_number = type(plain[0]) in NUMBERS or type(plain[1]) in NUMBERS
        return self._note_several(value) if is_number and type(plain[0]) is not type(plain[1]) else value

    def _merged(self, one: Any, two: Any, node: Node, index: int) -> Any:
        one, two = self._plain(one), self._plain(two)
        source = Part(node, operator.getitem, index)
        if {type(one), type(two)} <= {FakeTensor, Proxy} and not self._are_alike(one, two, 2):
            return Proxy(self.node_of(source), self)
        if type(one) is not type(two):  # a number on one way, a tensor or another number on the other
            one = two = one if _RANK.get(type(one), 9) > _RANK.get(type(two), 9) else two
        if type(one) is FakeTensor:
            value = self._alias(one)
            self._evaluator.keep_other(value, self._other_of_merged(one, two))
            value = self.track(value, two, source)
            if self._evaluator.has_ranks:
                self.note_origin(value, (one, two), node)
            return value
        if type(one) in NUMBERS:
            return self.track(one, two if two != one else another(one), source, is_open=True)
        return self._renewed(one, self.node_of(source))

    def _other_of_merged(self, one: Any, two: Any) -> Any:
        """Return what a value that is one of two tensors could be with other data, if it is `one` for the example.

        That is what the other way gives with other data, unless it hides that the data decides sizes, or their number.
        """
        found = self._evaluator.other(two), two, self._evaluator.other(one)
        with hooks.unwatched():
            sizes = tuple(one.shape)

            def differing(other: Any) -> int:
                others = tuple(other.shape)
                if len(others) != len(sizes):
                    return len(sizes) + 1
                return sum(size != then for size, then in zip(sizes, others, strict=True))

            return max(found, key=differing)

    def renewed(self, sample: Any, node: Node) -> Any:
        """Return a traced value like `sample` that another node computes."""
        if type(sample) is SeveralKinds:
            return self._note_several(self.renewed(sample.sample, node))
        if id(sample) in self.several:
            return self._note_several(self._renewed(sample, node))
        return self._renewed(sample, node)

    def renewed_state(self, sample: Any, node: Node) -> Any:
        """Return a traced value like one that the program keeps from call to call, which a node reads."""
        value = self.renewed(sample, node)
        if type(value) is FakeTensor:
            self._guard_rank(value)  # the next call may find another there
        return value

    def _renewed(self, sample: Any, node: Node) -> Any:
        sample = self._plain(sample)
        if type(sample) is FakeTensor:
            value, other = self._alias(sample), self._evaluator.other(sample)
            self._evaluator.keep_other(value, other)
            value = self.track(value, other, node)
            if self._evaluator.has_ranks:
                self.note_origin(value, (sample, sample), node)
            return value
        if type(sample) in NUMBERS:
            return self.track(sample, another(sample), node, is_open=True)
        if type(sample) is TracedList:
            return TracedList(node, self, sample.items, sample.others, sample.kind)
        return Proxy(node, self)

    def joined(self, one: Any, two: Any) -> Any:
        """Return a sample for a place that holds either of two values."""
        if type(one) is SeveralKinds:
            joined = self.joined(one.sample, two)
            joined = joined.sample if type(joined) is SeveralKinds else joined
            return one if joined is one.sample else None if joined is None else SeveralKinds(joined)
        joined = self._joined(one, two)
        kinds = type(self._plain(one)), type(self._plain(two))
        is_number = kinds[0] in NUMBERS or kinds[1] in NUMBERS
        is_new = self._is_several(two) and not self._is_several(one)
        if joined is not None and ((is_number and kinds[0] is not kinds[1]) or is_new):
            return SeveralKinds(joined)
        return joined

    def _joined(self, one: Any, two: Any) -> Any:
        first, second = self._plain(one), self._plain(two)
        if not self.may_merge(one, two):
            return None
        if {type(first), type(second)} <= {FakeTensor, Proxy} and not self._are_alike(first, second):
            return one if type(one) is Proxy else Proxy(self.create_arg(one), self)
        if type(first) is not FakeTensor or type(second) is not FakeTensor:
            ranks = _RANK.get(type(first), 9), _RANK.get(type(second), 9)
            return one if ranks[0] >= ranks[1] else two
        with hooks.unwatched():
            others = self._evaluator.other(first).shape, self._evaluator.other(second).shape
            sizes = zip(first.shape, others[0], second.shape, others[1], strict=False)
            if all(size != other or size == then == then_other for size, other, then, then_other in sizes):
                return one
            value = self._alias(first)
            self._evaluator.keep_other(
                value, second if first.shape != second.shape else self._evaluator.other(second)
            )
        return value

    def item_of(self, value: Any, node: Node) -> Any:
        """Return the traced value of a node that stands for an item of a value."""
        if type(value) is TracedList:
            return self._fresh_item(value.items[0], node)
        if type(value) in (list, tuple):
            return self._fresh_item(value[0], node)
        if isinstance(value, range):
            return self.renewed(0, node)
        if type(value) is not FakeTensor:
            return Proxy(node, self)
        first, other, is_open = self._evaluator.call(lambda t: t.new_zeros(t.shape[1:]), (value,), {})
        with hooks.unwatched():
            if value.requires_grad:
                first.requires_grad_(True)
        return self.track(first, other, node, is_open)

    def _fresh_item(self, item: Any, node: Node) -> Any:
        if type(item) in (tuple, list):
            return type(item)(
                self._fresh_item(part, self.create_node("call_function", operator.getitem, (node, index), {}))
                for index, part in enumerate(item)
            )
        return self.renewed(item, node)

    def is_open_iterable(self, value: Any) -> bool:
        """Tell whether only the run can say how many items a value has."""
        if type(value) is TracedList:
            return True
        if type(value) is FakeTensor:
            with hooks.unwatched():
                other = self._evaluator.other(value)
                is_open = value.dim() > 0 < other.dim() and value.shape[0] != other.shape[0]
            return is_open and not self._follows(self.create_arg(value))
        return issubclass(type(value), Proxy)

    def samples_of(self, value: Any) -> list[Any]:
        """Return items like those of a traced list."""
        return list(value.items) if type(value) is TracedList else []

    def is_compared_open(self, value: Any) -> bool:
        """Tell whether only the run can say how a traced value compares with others."""
        if type(value) is FakeTensor and value.numel() != 1:
            return True  # which stops it at the run as well
        return self.is_open(value)

    def is_traced_list(self, value: Any) -> bool:
        """Tell whether a value is a list of the graph."""
        return type(value) is TracedList and value.kind is list

    def like(self, value: Any, node: Node) -> Any:
        """Return the traced list of as many items as a traced value has that a node stands for."""
        if type(value) is TracedList:
            return TracedList(node, self, value.items, value.others)
        return Proxy(node, self)

    def growing_list(self, items: list[Any], new: list[Any], facts: Facts = NO_FACTS) -> Any:
        """Return the traced value of a new list with some items, to which others like `new` will be added."""
        self.refuse_none_in(items)
        self.refuse_none_in(new, facts)
        node = self.create_node("call_function", program.new_list, (self.create_arg(items),), {})
        sample = (items or new)[0]
        return TracedList(node, self, [sample] * (len(items) + 2), [sample] * (len(items) + 3))

    def is_value(self, value: Any) -> bool:
        """Tell whether a value can be carried by the graph."""
        return self.is_traced(value) or type(value) in NUMBERS
