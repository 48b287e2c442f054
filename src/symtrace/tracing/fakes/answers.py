"""What a program gets that asks a traced number or tensor for a plain value: the example's, checked at each call."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import torch
import torch.utils._pytree as pytree  # the public home of pytrees, underscore and all (torch 2.13, 2.14)

from ...errors import TraceError
from ...ir import Node
from ...values import outside_modes
from .. import hooks
from ..blame import data_dependent, expression, here
from ..frames import user_frame
from ..shims import SHIMS
from ..state import Need, Restart
from ..tracer import Tracer
from ..watching import asks_for_flag
from .content import Content, NoContent
from .numbers import _Traced, wrap_number

if TYPE_CHECKING:
    from .evaluate import Evaluator

__all__ = ["ExampleAnswers"]


class ExampleAnswers(Tracer):
    """Answers questions for plain values."""

    if TYPE_CHECKING:
        dynamic: Any
        _evaluator: Evaluator
        _content: Content
        _guard: Callable[..., None]
        _is_pinned: Callable[[Node], bool]
        as_proxy: Callable[..., Any]
        node_of: Callable[..., Node]
        node_of_number: Callable[..., Node]

    def decide(self, number: Any) -> bool:
        """Answer `bool` of a traced number, and have the answer checked at each call.

        Raises:
            DataDependentError: ST012, the data decides it.
        """
        value = bool(number._value)
        node = self.node_of_number(number)
        if number.is_open and not self._follows(node):
            self.lift_asking()
            if not asks_for_flag(node):
                raise self._refuse(number, "bool", "ST012")
        if type(number._value) is not bool and not self._is_pinned(node):
            node = self.create_node("call_function", bool, (node,), {})
        self._guard(node, value)
        return value

    def _follows(self, source: Any) -> bool:
        """Tell whether a value that data decides is that of the examples, so that a guard settles it."""
        if self._real is None:
            return False
        node = self.node_of(source)
        return not asks_for_flag(node) and self._real.knows(node)

    def _as_given(self, node: Node, value: Any) -> Any:
        """Return what the real examples give where what was made up for data has other numbers or sizes."""
        if not self._follows(node):
            return value
        real = cast(Any, self._real).of(node)
        if _numbers_and_sizes(real) == _numbers_and_sizes(value):
            return value
        return pytree.tree_map_only(torch.Tensor, self._evaluator.fresh, real)

    def _settled(self, value: Any) -> Any:
        """Return a traced number that was pinned as a plain one."""
        return value._value if isinstance(value, _Traced) else value

    def pin(self, number: Any, asked_for: str) -> Any:
        """Return a traced number itself, and have it checked at each call.

        Raises:
            DataDependentError: ST013, the data decides it.
        """
        node = self.node_of_number(number)
        if number.is_open and not asks_for_flag(node) and not self._follows(node):
            self.lift_asking()
            raise self._refuse(number, asked_for, "ST013")
        self._guard(node, number._value)
        return number._value

    def to_identity(self, obj: Any, asked_for: str) -> Any:
        """Return the value itself, where an `is`, or a set or dict, looks at the object."""
        return self.pin(obj, asked_for) if isinstance(obj, _Traced) else super().to_identity(obj, asked_for)

    def _value_now(self, obj: Any) -> bool:
        return bool(obj._value) if isinstance(obj, _Traced) else super()._value_now(obj)

    def _refuse(self, number: Any, asked_for: str, code: str) -> Exception:
        refusal: TraceError = data_dependent(self.as_proxy(number), asked_for, code)
        if not isinstance(self.dynamic, bool):
            names = {name: None for dims in self.dynamic.values() for name in dims.values()}
            condition = expression(self.node_of_number(number))
            refusal = TraceError("ST032", location=here(3), asked_for=asked_for, condition=condition,
                                 names=", ".join(names))  # fmt: skip
        self.refusal = refusal
        return refusal

    def convert(self, number: Any, what: str) -> Any:
        """Answer `int` and `float` of a traced number, recording the conversion where the call can be seen."""
        frame = user_frame(2)
        if frame is not None and what in frame.f_code.co_names and what in SHIMS:
            need = Need.of(frame.f_globals, what)
            if need not in self._needs:
                raise Restart(need)
        return self.pin(number, what)

    def truth(self, tensor: Any) -> bool:
        """Answer `bool` of a traced tensor."""
        return self.decide(self.truth_of(tensor))

    def truth_of(self, tensor: Any) -> Any:
        """Return `bool(tensor)` as a traced bool, which is known where the tensor rests on sizes alone."""
        return self.number_of(tensor, bool, "bool")

    def number_of(self, tensor: Any, kind: type, asked_for: str) -> Any:
        """Return `kind(tensor)` of a tensor of one element."""
        value, other, is_open = self._answer(tensor, kind)
        node = self.create_node("call_function", kind, (self.create_arg(tensor),), {})
        if is_open:
            value = self._as_given(node, value)
        if (
            kind is not bool
            and self.keeps_control_flow
            and not self._has_content(tensor)
            and not self._follows(node)
        ):
            self.lift_asking()  # a fake tensor may know its number, but the next call has another
        number = wrap_number(cast(Any, self), node, value, other, is_open)
        return number if kind is bool else self.pin(number, asked_for)

    def _answer(self, tensor: Any, kind: type) -> tuple[Any, Any, bool]:
        """Return what a tensor of one element converts to, what it could with other data, and whether data decides."""
        try:
            content = self._content.of(self.create_arg(tensor))
            with hooks.unwatched(), outside_modes():
                value = kind(content)
        except NoContent:
            return self._evaluator.call(lambda t: kind(t.item()), (tensor,), {})
        return value, value, False

    def _has_content(self, tensor: Any) -> bool:
        """Tell whether sizes alone decide what is in a tensor."""
        try:
            self._content.of(self.create_arg(tensor))
        except NoContent:
            return False
        return True

    def list_of(self, tensor: Any) -> Any:
        """Answer `tolist`."""
        return self.call_method("tolist", (tensor,), {})

    def number_text(self, number: Any, spec: str) -> str:
        """Answer `format` of a traced number."""
        return format(self.to_shown(number), spec)

    def to_shown(self, number: Any) -> Any:
        """Return the value of a number for its text, which pins it unless the text is only shown."""
        if self._is_only_shown():
            return number._value
        return self.pin(number, "format")

    def tensor_text(self, tensor: Any) -> str:
        """Answer `repr` of a traced tensor."""
        if not self._is_only_shown():
            self.lift_text()
            raise data_dependent(self.as_proxy(tensor), "format", "ST013")
        return f"<{self.create_arg(tensor).name}>"


def _numbers_and_sizes(value: Any) -> list[Any]:
    return [
        tuple(leaf.shape) if isinstance(leaf, torch.Tensor) else leaf for leaf in pytree.tree_leaves(value)
    ]
