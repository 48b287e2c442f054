"""What a program asks of its inputs beside sizes and content: what class they are of, what was put on them.

Callers may give a parameter for a tensor, a float for an int, or one tensor twice. What the examples answer is
checked at each call.
"""

from __future__ import annotations

import operator
import sys
import typing
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from ...ir import Node
from ...ops import program
from ...values import FakeTensor
from .. import hooks
from ..arguments import ATOMS
from ..blame import data_dependent, trace_error
from ..frames import is_internal
from ..kinds import class_matches, names_tensor_type
from .lists import TracedList
from .numbers import _Traced
from .operations import PURE_NUMBERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..tracer import Tracer as _Base
else:
    _Base = object

__all__ = ["InputQuestions"]

_STAND_INS = ("torch._subclasses", "torch._functorch", "torch.fx")
"""Where classes are defined whose tensors stand for others: programs ask for them to find out who runs them."""


class InputQuestions(_Base):
    """Answers for the examples themselves, with guards."""

    _originals: dict[int, Any]
    """Examples, by the identity of the fake tensor that stands for one."""

    if TYPE_CHECKING:
        _asked_class: set[Node]
        _given: dict[Node, Any]
        _parts: dict[Any, Node]
        _sources: dict[int, Any]
        ranks: dict[Node, int]
        _guard: Callable[[Node, Any], None]
        node_of: Callable[[Any], Node]
        refuse_several: Callable[..., None]
        as_proxy: Callable[[Any], Any]

    def note_example(self, fake: FakeTensor, example: torch.Tensor) -> None:
        """Remember which example a fake tensor stands for."""
        self._originals[id(fake)] = example
        if type(example) is nn.Parameter:
            fake._is_param = True  # type: ignore[attr-defined]  # which `isinstance` looks at

    def guard_container(self, source: Any, example: Any) -> None:
        """Have the class of an input checked that is a container: programs ask for it out of sight."""
        self._guard(self._call_node(program.container_class, (self.node_of(source),)), type(example))

    def _patch(self, patches: hooks.PatchSet, function: Any) -> None:
        super()._patch(patches, function)
        patches.patch(torch.Tensor, "__getattr__", lambda before: _missing_attribute)

    # ------------------------------------------------------------------ classes

    def _on_isinstance(self, value: Any, classes: Any) -> bool:
        """What `isinstance` says of a value whose own class is none of those asked for."""
        if issubclass(type(value), _Traced):
            answer = hooks.original_isinstance(value._value, classes)
            self.refuse_several(value, classes, answer)
            if _is_programs_question() and self._is_given_number(value):
                self._check(hooks.original_isinstance, value, _flat(classes), answer)
            return answer
        if type(value) is TracedList:
            return class_matches(value.kind, classes)
        if type(value) is FakeTensor:
            return _is_programs_question() and self._fake_is(value, classes, True)
        return not issubclass(type(value), torch.Tensor) and super()._on_isinstance(value, classes)

    def _on_fake_isinstance(self, value: Any, classes: Any) -> bool:
        """What `isinstance` says of a fake tensor that is of one of the classes asked for."""
        return self._fake_is(value, classes, _is_programs_question())

    def _fake_is(self, value: Any, classes: Any, is_asked: bool) -> bool:
        kinds, example = _flat(classes), self._originals.get(id(value))
        if example is None:
            answer = issubclass(torch.Tensor, kinds) or any(_has_type(value, kind) for kind in kinds)
        else:
            answer = hooks.original_isinstance(example, kinds)
        self.refuse_several(value, kinds, answer)
        if not is_asked or (example is None and not any(map(names_tensor_type, kinds))):
            return answer
        is_any = answer and issubclass(torch.Tensor, kinds)
        if not is_any and any(map(_is_of_tensors, kinds)):
            self._check(hooks.original_isinstance, value, kinds, answer)
        else:
            source = self._sources[id(value)]
            if hooks.original_isinstance(source, Node):
                self._asked_class.add(source)
            else:
                self._check(hooks.original_isinstance, value, (torch.Tensor,), True)
        return answer

    def type_of(self, value: Any) -> type:
        """Answer `type(value)`."""
        answer = super().type_of(value)
        example = self._originals.get(id(value))
        if example is not None:
            answer = torch.Tensor if type(example) is FakeTensor else type(example)
        if example is not None or (issubclass(type(value), _Traced) and self._is_given_number(value)):
            self._check(type, value, (), answer)
        return answer

    def _on_callable(self, value: Any) -> bool:
        """What `callable` says of a traced value."""
        is_number = issubclass(type(value), _Traced) and self._is_given_number(value)
        if _is_programs_question() and (is_number or id(value) in self._originals):
            self._check(hooks.original_callable, value, (), False)
        return super()._on_callable(value)

    def _is_given_number(self, number: Any) -> bool:
        """Tell whether a number rests on inputs that are numbers: those of sizes are of one class always."""
        stack = [self.node_of(number._source)]
        while stack:
            node = stack.pop()
            if node.op == "placeholder":
                outer = self.outer_of(node)
                if outer is not None:
                    stack.append(outer)
                elif not hooks.original_isinstance(self._given.get(node), torch.Tensor):
                    return True
            elif node not in self.ranks and (node.target in PURE_NUMBERS or node.target is getattr):
                stack.extend(node.all_input_nodes)
        return False

    # ------------------------------------------------------------------ attributes and identity

    def _on_missing_attribute(self, tensor: Any, name: str) -> Any:
        """What a tensor gives for an attribute that tensors do not have."""
        if id(tensor) in self._originals and not name.startswith("__") and not is_internal(sys._getframe(2)):
            with hooks.unwatched():
                value = getattr(self._originals[id(tensor)], name, hooks.MISSING)
            if value is hooks.MISSING:
                self._check(hasattr, tensor, (name,), False)
            elif type(value) in ATOMS:
                self._check(getattr, tensor, (name, program.UNASSIGNED), value)
                return value
            else:
                reason = f"the program reads `{name}`, which was put on a tensor before"
                self.refusal = trace_error("ST024", reason=reason)
                raise self.refusal
        raise _no_attribute(tensor, name)

    def check_distinct(self, one: Any, other: Any) -> None:
        """Have it checked that two inputs are two objects, of which the program has asked that.

        Raises:
            DataDependentError: ST013, in the examples they are one.
        """
        examples = [self._originals.get(id(value)) for value in (one, other)]
        if examples[0] is None or examples[1] is None:
            return
        if examples[0] is examples[1]:
            self.refusal = data_dependent(self.as_proxy(one), "is", "ST013")
            raise self.refusal
        self._check(operator.is_, one, (self.create_arg(other),), False)

    def _check(self, question: Any, value: Any, rest: tuple[Any, ...], answer: Any) -> None:
        """Have the answer to a question checked at each call."""
        node = self.create_arg(value)
        key = (id(self.graph), node, question, rest)
        if key not in self._parts:
            args = (node, rest) if question is hooks.original_isinstance else (node, *rest)
            self._parts[key] = self._call_node(question, args)
            self._guard(self._parts[key], answer)


def _is_programs_question() -> bool:
    """Tell whether it is the program that asks, by `isinstance`, `callable` or `torch.is_tensor`, rather than torch."""
    frame = sys._getframe(3)
    if frame.f_code is torch.is_tensor.__code__ and frame.f_back is not None:
        frame = frame.f_back
    return not is_internal(frame)


def _missing_attribute(self: torch.Tensor, name: str) -> Any:
    tracer: Any = hooks.active_tracer()
    if hooks.original_isinstance(tracer, InputQuestions):
        return tracer._on_missing_attribute(self, name)
    raise _no_attribute(self, name)


def _no_attribute(tensor: Any, name: str) -> AttributeError:
    return AttributeError(
        f"'{type(tensor).__name__}' object has no attribute '{name}'", name=name, obj=tensor
    )


def _flat(classes: Any) -> tuple[Any, ...]:
    """Return the classes of an `isinstance` as a flat tuple."""
    if hooks.original_isinstance(classes, tuple):
        return tuple(item for part in classes for item in _flat(part))
    return tuple(item for part in typing.get_args(classes) for item in _flat(part)) or (classes,)


def _has_type(tensor: torch.Tensor, kind: Any) -> bool:
    """Tell whether a tensor is of a class such as `torch.FloatTensor`, which stands for a dtype and a device."""
    with hooks.unwatched():
        return names_tensor_type(kind) and (kind.dtype, kind.is_cuda, kind.layout) == (
            tensor.dtype, tensor.is_cuda, tensor.layout,
        )  # fmt: skip


def _is_of_tensors(kind: Any) -> bool:
    """Tell whether some tensors are of a class, and others not."""
    return names_tensor_type(kind) or (
        hooks.original_isinstance(kind, type)
        and issubclass(kind, torch.Tensor)
        and not kind.__module__.startswith(_STAND_INS)
    )
