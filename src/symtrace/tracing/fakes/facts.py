"""What a program asks of the sizes and properties of a traced tensor."""

from __future__ import annotations

import operator
import warnings
from typing import TYPE_CHECKING, Any

import torch

from ...ir import Node
from ...ops import effects
from ...values import FakeTensor
from .. import hooks
from ..blame import trace_error
from ..guard_placement import switches_gradients
from .numbers import wrap_number
from .operations import Part

if TYPE_CHECKING:
    from ..tracer import Tracer as _Base
    from .evaluate import Evaluator
else:
    _Base = object

__all__ = ["ExampleFacts"]


class ExampleFacts(_Base):
    """Answers from the examples, with guards on what the answers rest on.

    Attributes:
        facts: What nodes give for the example, where data has no say in it.
        ranks: How many sizes the nodes have that read a shape.
    """

    facts: dict[Node, Any]
    ranks: dict[Node, int]
    _ranks_pinned: bool
    _sizes_pinned: bool
    _read_flags: list[Any]
    """Keys of `_parts` of what autograd tells of tensors, read since the last write."""
    _requires_grad: dict[str, bool | None]
    """What the program has switched `requires_grad` of tensors of the module to, by path; None where data has a say."""

    if TYPE_CHECKING:
        dynamic: Any
        _evaluator: Evaluator
        _inputs: list[Any]
        _parts: dict[Any, Node]
        sizes_of: Any

        def _guard(self, node: Node, value: Any) -> None: ...

        def track(self, value: Any, other: Any, source: Any, is_open: bool = False) -> Any:
            """Return a value of the run as the program gets it."""

    def shape_of(self, tensor: FakeTensor) -> Any:
        """Return the shape of a traced tensor, with traced sizes; a traced list if data decides how many there are."""
        self.pin_rank(tensor)
        node = self.create_arg(tensor)
        key = (id(self.graph), node, "shape")
        shape = self._parts.get(key)
        if shape is None:
            shape = self._parts[key] = self.create_node("call_function", getattr, (node, "shape"), {})
        with hooks.unwatched():
            sizes, others = tensor.shape, self._evaluator.other(tensor).shape
        if len(others) != len(sizes):
            return self.sizes_of(tensor, shape)
        if others == sizes:
            self.facts[shape] = sizes
        self.ranks[shape] = len(sizes)
        if self.dynamic is False and others == sizes:
            self._pin_sizes()
            return sizes
        return hooks.real_size(
            [
                wrap_number(self, Part(shape, operator.getitem, index), size, others[index])
                for index, size in enumerate(sizes)
            ]
        )

    def pin_rank(self, tensor: FakeTensor) -> None:
        """Have the number of dimensions of a tensor checked: it follows from those of the inputs."""
        if not self._ranks_pinned:
            self._ranks_pinned = True
            for given in self._inputs:
                self._guard_rank(given)

    def _pin_sizes(self) -> None:
        """Have every size of every input checked: all others that the data does not decide follow from them."""
        if self._sizes_pinned:
            return
        self._sizes_pinned = True
        for given in self._inputs:
            with hooks.unwatched():
                sizes = tuple(given.shape)
            node = self.create_node("call_function", getattr, (self.create_arg(given), "shape"), {})
            self._guard(self.create_node("call_function", tuple, (node,), {}), sizes)

    def _guard_rank(self, tensor: FakeTensor) -> None:
        with hooks.unwatched():
            rank = tensor.dim()
        self._guard(self.create_node("call_method", "dim", (self.create_arg(tensor),), {}), rank)

    def pin_absence(self, tensor: FakeTensor, name: str) -> Any:
        """Return a property of a tensor of which programs ask whether it is there, and have that checked."""
        with hooks.unwatched(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of `grad` where there is none
            value = getattr(tensor, name)
            if name == "grad" and self._ran_backward and value is None:
                value = tensor  # which has a gradient like itself, if any came to it
        read = self.create_node("call_function", getattr, (self.create_arg(tensor), name), {})
        self._guard(self.create_node("call_function", operator.is_, (read, None), {}), value is None)
        if not hooks.original_isinstance(value, torch.Tensor):
            return value
        like = self._evaluator.fresh(value)
        with hooks.unwatched():
            gradient = like.detach()
        return self.track(gradient, None, read)

    def _property_of_held(self, tensor: Any, name: str) -> Any:
        """Return a property of a tensor of the module, and have it checked."""
        path = self._paths.tensors.get(id(tensor))
        if name == "requires_grad" and path in self._requires_grad:
            if (written := self._requires_grad[path]) is None:
                raise trace_error("ST023", attribute=name, what="changes, as the data decides, and reads")
            return written
        read = self.pin_absence if name in ("grad", "grad_fn") else self.pin_property
        return read(tensor, name)

    def _on_node(self, kind: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        super()._on_node(kind, target, args, kwargs)
        if self._read_flags:  # what writes to a tensor may have it require gradients
            effect = effects(kind, target, args, kwargs)
            if effect.mutates or effect.impure:
                for key in self._read_flags:
                    self._parts.pop(key, None)
                self._read_flags.clear()
        if switches_gradients(target, args) and type(args[0]) is Node:
            held = (self.outer_of(args[0]) if self.levels else args[0]) or args[0]
            given = (*args[1:], *kwargs.values(), target != "detach_")
            value = given[1 if target is setattr else 0]
            if held.op == "get_attr":
                self._requires_grad[held.target] = value if type(value) is bool and not self.levels else None

    def pin_property(self, tensor: FakeTensor, name: str) -> Any:
        """Return a property of a tensor that the program is specialised to."""
        with hooks.unwatched():
            value = getattr(tensor, name)
        node = self.create_arg(tensor)
        key = (id(self.graph), node, name)
        if key not in self._parts:
            self._parts[key] = self.create_node("call_function", getattr, (node, name), {})
            self._guard(self._parts[key], value)
            self.facts[self._parts[key]] = value
            if name in ("requires_grad", "is_leaf"):
                self._read_flags.append(key)
        return value
