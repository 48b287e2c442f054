"""Computes, on fake tensors, what an operation gives for the example, and for data other than that of the example."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
import torch.utils._pytree as pytree  # the public home of pytrees, underscore and all (torch 2.13, 2.14)

from ...values import DATA_DEPENDENT, DirectMode, FakeTensor, fake_on, outside_modes
from ..frames import untraced
from ..hooks import real_size, unwatched
from ..proxy import Proxy
from .lists import TracedList
from .numbers import _Traced
from .results import Results

__all__ = ["Contradiction", "Evaluator", "Undecided"]

_PLAIN = frozenset({int, float, str, bool, complex, type(None), torch.dtype, torch.device, type(...)})


class Undecided(Exception):
    """The result is a value that only the data decides, and no fake tensor."""


class Contradiction(Exception):
    """An operation fails on sizes or numbers that were made up for what only the data decides."""


class Evaluator:
    """Holds the fake tensors that stand for the example inputs and for the tensors of the module.

    A tensor whose sizes the data decides has a second fake tensor, of the sizes it could have with other data. What is
    computed from it is computed for both, so that each size is known to depend on data or not to.

    Args:
        results: What was computed before.

    Attributes:
        mode: The fake mode.
        has_ranks: Whether there is a tensor that with other data has another number of dimensions.
        has_failed: Whether the latest call failed with other data.
    """

    def __init__(self, results: Results) -> None:
        self._results = results
        self.mode = DirectMode(allow_non_fake_inputs=True)
        self._real: dict[int, torch.Tensor] = {}
        self._fakes: dict[int, tuple[torch.Tensor, FakeTensor]] = {}
        self._others: dict[int, Any] = {}
        self._kept: list[Any] = []
        self.has_ranks = self.has_failed = False

    # ------------------------------------------------------------------ stand-ins

    def stand_in(self, tensor: torch.Tensor, device: torch.device | None = None) -> FakeTensor:
        """Return the fake tensor that stands for a real one, always the same one."""
        found = self._fakes.get(id(tensor))
        if found is None:
            with unwatched():
                fake = fake_on(self.mode, tensor, device)
            found = self._fakes[id(tensor)] = (tensor, fake)
            self._real[id(fake)] = tensor
        return found[1]

    def module(self, module: Any) -> Callable[..., Any]:
        """Return what calls a module that is one node, without writing to its buffers.

        The fake mode runs what has no fake tensor among its arguments for real, as the counter of a batch norm.
        """
        if isinstance(module, torch.jit.ScriptModule):
            return module  # type: ignore[no-any-return]
        tensors = dict(module.named_buffers())
        tensors.update((name, value) for name, value in module.named_parameters() if value.is_meta)
        if not tensors:
            return module  # type: ignore[no-any-return]
        stand_ins: dict[str, torch.Tensor] = {name: self.stand_in(tensor) for name, tensor in tensors.items()}
        return lambda *args, **kwargs: torch.func.functional_call(module, stand_ins, args, kwargs)

    def fresh(self, tensor: torch.Tensor, device: torch.device | None = None) -> FakeTensor:
        """Return a fake tensor for an example, which stands for no tensor of the module."""
        with unwatched():
            fake = fake_on(self.mode, tensor, device)
            if id(fake) in self._real or any(fake is kept for kept in self._kept):
                with self.mode, torch.no_grad():
                    copied: Any = fake.clone()
                    fake = copied.requires_grad_(tensor.requires_grad)
        self._kept.append(fake)
        return fake

    def real(self, fake: Any) -> torch.Tensor | None:
        """Return the tensor of the module that a fake tensor stands for."""
        return self._real.get(id(fake))

    def other(self, value: Any) -> Any:
        """Return what a value could be with other data."""
        if isinstance(value, _Traced):
            return value._other
        return self._others.get(id(value), value)

    def larger(self, tensor: FakeTensor, dims: Any) -> FakeTensor:
        """Return a fake tensor like `tensor` that is twice as large in some dimensions."""
        with unwatched(), self.mode, torch.no_grad():
            sizes = [size * 2 if index in dims or index - tensor.dim() in dims else size
                     for index, size in enumerate(tensor.shape)]  # fmt: skip
            other: Any = tensor.new_empty(sizes)
            other.requires_grad_(tensor.requires_grad)
        return other  # type: ignore[no-any-return]

    def keep_other(self, value: Any, other: Any) -> None:
        """Note other sizes of the tensors in a result."""
        with unwatched():
            self._keep_other(value, other)

    def _keep_other(self, value: Any, other: Any) -> None:
        if type(value) is FakeTensor:
            if type(other) is FakeTensor and other.shape != value.shape:
                self.has_ranks = self.has_ranks or other.dim() != value.dim()
                self._others[id(value)] = other
                self._kept.append(value)
        elif isinstance(value, list | tuple) and isinstance(other, list | tuple):
            for one, two in zip(value, other, strict=False):
                self._keep_other(one, two)
        elif isinstance(value, dict) and isinstance(other, dict):
            for key in value.keys() & other.keys():
                self._keep_other(value[key], other[key])

    def forget_rank(self, value: FakeTensor) -> None:
        """Take a tensor whose number of dimensions is checked for one that has them with other data, too."""
        with unwatched():
            if self.other(value).dim() != value.dim():
                del self._others[id(value)]

    def keep(self, value: Any) -> None:
        """Keep a value alive, which is known by its identity."""
        self._kept.append(value)

    # ------------------------------------------------------------------ arguments

    def _given(self, value: Any, for_other: bool, found: list[bool]) -> Any:
        """Return an argument as the operation takes it; `found` tells whether other data would change it."""
        cls = type(value)
        if cls in _PLAIN:
            return value
        if cls is FakeTensor:
            other = self._others.get(id(value))
            if other is None:
                return value
            found.append(True)
            return other if for_other else value
        if issubclass(cls, _Traced):
            if value.is_open:
                found.append(True)
            return value._other if for_other else value._value
        if cls is TracedList:
            found.append(True)
            items = [
                self._given(one, for_other, found) for one in (value.others if for_other else value.items)
            ]
            return items if value.kind is list else tuple(items)
        if issubclass(cls, Proxy):
            raise Undecided
        if issubclass(cls, torch.Tensor):
            return self.stand_in(value) if not issubclass(cls, FakeTensor) else value
        if cls is tuple or cls is list or cls is real_size:
            items = [self._given(item, for_other, found) for item in value]
            return items if cls is list else tuple(items)
        if cls is dict:
            return {key: self._given(item, for_other, found) for key, item in value.items()}
        if cls is slice:
            parts = [self._given(part, for_other, found) for part in (value.start, value.stop, value.step)]
            return slice(*parts)
        if hasattr(cls, "_fields") and issubclass(cls, tuple):
            return cls(*[self._given(item, for_other, found) for item in value])
        if cls in pytree.SUPPORTED_NODES:
            leaves, spec = pytree.tree_flatten(value)
            return pytree.tree_unflatten([self._given(leaf, for_other, found) for leaf in leaves], spec)
        return value

    # ------------------------------------------------------------------ calls

    def call(
        self,
        function: Callable[..., Any],
        args: Any,
        kwargs: Any,
        for_other: Callable[..., Any] | None = None,
        known: Any = None,
        state: tuple[torch.Tensor, ...] = (),
    ) -> tuple[Any, Any, bool]:
        """Return what a call gives for the example, what it could give with other data, and whether data decides.

        Args:
            function: Takes fake tensors and plain numbers.
            args: Arguments as the program gave them.
            kwargs: Keyword arguments.
            for_other: What to call for other data; the same if None.
            known: What the function is known by, if its results may be remembered; see `Results`.
            state: Tensors of the module that it reads then.

        Raises:
            Undecided: Only the data decides what it gives.
            Contradiction: It fails on what was made up for data.
        """
        found: list[bool] = []
        self.has_failed = False
        given = self._given(args, False, found)
        given_kwargs = self._given(kwargs, False, found) if kwargs else {}
        with unwatched(), untraced():
            try:
                value = self._results.call(self.mode, known, function, given, given_kwargs, state)
            except DATA_DEPENDENT:
                others = (self._given(args, True, []), self._given(kwargs, True, [])) if found else None
                return *self._guess(function, (given, given_kwargs), others), True
            except RuntimeError as error:
                if found:
                    raise Contradiction from error
                # There are operators whose fake kernel takes less than the real one.
                try:
                    value, _ = self._guess(function, (given, given_kwargs))
                except Undecided as undecided:
                    # What eager says of it is what the user knows.
                    if isinstance(undecided.__cause__, RuntimeError):
                        raise undecided.__cause__ from None
                    raise error from None
                return value, value, False
            if not found:
                return value, value, False
            try:
                others = self._given(args, True, []), self._given(kwargs, True, [])
                called = None if for_other else known
                other = self._results.call(self.mode, called, for_other or function, *others, state)
            except Exception:  # with other data it fails: then the sizes at hand are as good as any
                other, self.has_failed = value, True
        self.keep_other(value, other)
        return value, other, True

    def _guess(self, function: Callable[..., Any], given: Any, others: Any = None) -> tuple[Any, Any]:
        """Run an operation whose result only the data decides on data made up, so that results have two sizes.

        Args:
            function: The operation.
            given: Its arguments and keyword arguments.
            others: What these are with other data, if that is something else.
        """
        one = self._on_made_up(function, given, 2)
        two = self._on_made_up(function, others or given, 3)
        if _shapes(one) == _shapes(two):
            for few in (1, 0):
                if _shapes(one) != _shapes(third := self._on_made_up(function, given, few)):
                    two = third
                    break
        one, two = (
            pytree.tree_map_only(torch.Tensor, self.fresh, result) if _holds_tensors(result) else result
            for result in (one, two)
        )
        self.keep_other(one, two)
        return one, two

    @staticmethod
    def _on_made_up(function: Callable[..., Any], given: Any, few: int) -> Any:
        with outside_modes(), torch.no_grad():
            try:
                args, kwargs = pytree.tree_map_only(torch.Tensor, functools.partial(_made_up, few=few), given)
                return function(*args, **kwargs)
            except Exception as error:
                raise Undecided from error


def _shapes(value: Any) -> list[Any]:
    return [leaf.shape for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def _holds_tensors(value: Any) -> bool:
    return any(isinstance(leaf, torch.Tensor) for leaf in pytree.tree_leaves(value))


def _made_up(tensor: torch.Tensor, few: int) -> torch.Tensor:
    """Return a real tensor of the same kind, of whose elements `few` are not zero, and no two of these the same."""
    count = tensor.numel()
    flat = torch.zeros(count, dtype=torch.float64)
    first = few if count == 1 else 1  # a single number is to be another one, too
    flat[:few] = torch.arange(first, first + min(few, count), dtype=torch.float64)
    return flat.to(tensor.dtype).reshape(tuple(tensor.shape))
