"""Values that are known while tracing: of constants, of examples, and of the shapes of parameters."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import torch

from ..ir import Node, map_arg
from ..ops import effects
from ..values import DirectMode, FakeTensor, FakeTensorMode, outside_modes
from .hooks import unwatched

if TYPE_CHECKING:
    from .recording import TracerBase

__all__ = ["Known", "Unknown"]


class Unknown(Exception):
    """The value of a node can't be told without running the program on real inputs."""


class Known:
    """Works out the values of nodes on demand, and whether they rest on something that a call may change.

    Constants are computed for real. Parameters, buffers and example inputs are fake tensors: shapes, dtypes and devices
    are known, their content is not.

    Args:
        tracer: Gives the examples and the module.
    """

    def __init__(self, tracer: TracerBase) -> None:
        self._tracer = tracer
        self._mode: FakeTensorMode | None = None
        self._values: dict[Node, tuple[Any, bool]] = {}
        self._unknown: set[Node] = set()

    def value(self, node: Node) -> tuple[Any, bool]:
        """Return the value of `node`, and whether it holds only for calls like the example.

        Raises:
            Unknown: The value depends on inputs, state or random numbers.

        Cost: the part of the graph that `node` depends on, once.
        """
        stack = [node]
        while stack:
            current = stack[-1]
            if current in self._values:
                stack.pop()
                continue
            if current in self._unknown:
                raise Unknown
            missing = [used for used in current.all_input_nodes if used not in self._values]
            if missing and current.op not in ("placeholder", "get_attr"):
                stack.extend(missing)
                continue
            try:
                with unwatched(), torch.no_grad():
                    self._values[current] = self._compute(current)
            except Exception as error:  # whatever an operator raises on fake values, the answer is not known
                self._unknown.update(stack)
                raise Unknown from error
            stack.pop()
        return self._values[node]

    def _compute(self, node: Node) -> tuple[Any, bool]:
        if node.op == "placeholder":
            example = self._tracer.examples.get(node, _NONE)
            if example is _NONE:
                raise Unknown
            return self._fake(example), True
        if node.op == "get_attr":
            value = self._tracer.attribute(node.target)
            if isinstance(value, torch.Tensor):
                return self._fake(value), False
            if type(value) is dict and self._tracer.keeps_control_flow:
                raise Unknown  # the program fills it
            return value, True
        if node in self._tracer.examples:  # what holds around the program, such as whether gradients are on
            return self._tracer.examples[node], True
        module = self._tracer.attribute(node.target) if node.op == "call_module" else None
        effect = effects(node.op, node.target, node.args, node.kwargs, module)
        if not effect.is_pure or any(self._is_written(used) for used in (node, *node.all_input_nodes)):
            raise Unknown
        asked = _asked(node)
        if asked in _OF_AUTOGRAD:
            return self._told_by_held(node.all_input_nodes[0], asked), True
        assumed = asked in _CHANGING or any(self._values[used][1] for used in node.all_input_nodes)
        args = map_arg(node.args, lambda used: self._values[used][0])
        kwargs = map_arg(node.kwargs, lambda used: self._values[used][0])
        with self._fake_mode():
            return self._call(node, module, _thaw(args), dict(kwargs)), assumed

    def _told_by_held(self, read: Node, asked: str) -> Any:
        """Return what a tensor of the module tells of autograd; of others it depends on the modes of the call."""
        held = self._tracer.attribute(read.target) if read.op == "get_attr" else None
        if asked not in ("grad", "grad_fn", "is_leaf", "requires_grad") or self._tracer._runs_backward():
            raise Unknown
        answer = getattr(held, asked) if isinstance(held, torch.Tensor) else _NONE
        if answer is not None and type(answer) is not bool:
            raise Unknown
        return answer

    def _call(self, node: Node, module: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        with nullcontext() if _has_fakes((args, kwargs)) else outside_modes():
            if node.op == "call_method":
                return getattr(args[0], node.target)(*args[1:], **kwargs)
            if node.op == "call_module":
                return module(*args, **kwargs)
            return node.target(*args, **kwargs)

    @staticmethod
    def _is_written(node: Node) -> bool:
        return any(effects(user.op, user.target, user.args, user.kwargs).mutates for user in node.users)

    def _fake_mode(self) -> FakeTensorMode:
        if self._mode is None:
            self._mode = DirectMode(allow_non_fake_inputs=True)
        return self._mode

    def _fake(self, value: Any) -> Any:
        mode = self._fake_mode()
        return torch.utils._pytree.tree_map_only(
            torch.Tensor, lambda t: t if type(t) is FakeTensor else mode.from_tensor(t), value
        )


_NONE = object()
_OF_AUTOGRAD = frozenset({
    "_base", "_version", "grad", "grad_fn", "is_inference", "is_leaf", "output_nr", "requires_grad", "retains_grad",
})  # fmt: skip
"""What tensors tell of how they were computed."""

_CHANGING = frozenset({
    "device", "dtype", "element_size", "get_device", "is_complex", "is_contiguous", "is_cpu", "is_cuda",
    "is_floating_point", "is_pinned", "is_shared", "itemsize", "layout", "requires_grad", "stride", "type",
})  # fmt: skip
"""What tensors of a module tell that `to`, `half`, `requires_grad_` and the like change."""


def _asked(node: Node) -> str:
    """Return the name of what a node asks a tensor for, if it does."""
    if node.target is getattr and len(node.args) > 1:
        return str(node.args[1])
    return str(node.target) if node.op == "call_method" else getattr(node.target, "__name__", "")


def _thaw(args: Any) -> Any:
    return tuple(list(item) if isinstance(item, list) else item for item in args)


def _has_fakes(value: Any) -> bool:
    return any(type(leaf) is FakeTensor for leaf in torch.utils._pytree.tree_leaves(value))
