"""Running a module on an example and noting shapes and types of all values."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import torch

from ..ir import Node, map_aggregate
from ..ops.control_flow import cond, torch_cond, torch_while, while_loop
from ..rewrite.sources import check_graph_module
from ..runtime import GraphModule, Interpreter
from .errors import PassError

__all__ = ["ShapeProp", "TensorMetadata", "tensor_metadata"]


class TensorMetadata(NamedTuple):
    """What is known of a tensor without its values.

    Attributes:
        shape: Its shape.
        dtype: Its dtype.
        requires_grad: Whether gradients flow to it.
        stride: Its strides; `()` if its layout has none.
        memory_format: A memory format that it is contiguous in, or None.
        is_quantized: Whether it is quantised.
        qparams: Scheme, scale and zero point, and the axis if it is quantised per channel.
    """

    shape: torch.Size
    dtype: torch.dtype
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: torch.memory_format | None
    is_quantized: bool
    qparams: dict[str, Any]


_FORMATS = (torch.contiguous_format, torch.channels_last, torch.channels_last_3d)


def tensor_metadata(tensor: torch.Tensor, include_contiguity: bool = True) -> TensorMetadata:
    """Return what is known of a tensor without its values.

    Args:
        tensor: A tensor.
        include_contiguity: Find out its memory format.

    >>> tensor_metadata(torch.ones(2, 3)).shape
    torch.Size([2, 3])
    """
    strided = tensor.layout == torch.strided and not tensor.is_nested
    memory_format = None
    if include_contiguity and strided:
        memory_format = next((f for f in _FORMATS if tensor.is_contiguous(memory_format=f)), None)
    return TensorMetadata(
        tensor.shape,
        tensor.dtype,
        tensor.requires_grad,
        tensor.stride() if strided else (),
        memory_format,
        tensor.is_quantized,
        _quantisation(tensor) if tensor.is_quantized else {},
    )


_extract_tensor_metadata = tensor_metadata  # FX's spelling


def _quantisation(tensor: torch.Tensor) -> dict[str, Any]:
    scheme = tensor.qscheme()
    found: dict[str, Any] = {"qscheme": scheme}
    if scheme in (torch.per_tensor_affine, torch.per_tensor_symmetric):
        found["scale"] = tensor.q_scale()
        found["zero_point"] = tensor.q_zero_point()
    else:
        found["scale"] = tensor.q_per_channel_scales().tolist()
        found["zero_point"] = tensor.q_per_channel_zero_points().tolist()
        found["axis"] = tensor.q_per_channel_axis()
    return found


class ShapeProp(Interpreter):
    """Runs a module node by node and notes in `meta["tensor_meta"]` and `meta["type"]` what each gives.

    In regions too: of a decision the way that the inputs take, and of a loop the last round. With a fake mode, which
    has no values to decide by, both ways of a decision and one round.

    Args:
        gm: Module to run.
        fake_mode: A `FakeTensorMode`; then nothing is computed, and the module keeps its state.

    Raises:
        ArgumentError: `gm` is no GraphModule (ST112).
    """

    def __init__(self, gm: GraphModule, fake_mode: Any = None) -> None:
        check_graph_module(gm)
        module = gm
        if fake_mode is not None:
            tensors = {id(t): t for t in (*gm.parameters(), *gm.buffers(), *_plain_tensors(gm))}
            # What the memo holds already is not copied: the copy of the module has fake tensors in their
            # places.
            module = copy.deepcopy(gm, {key: fake_mode.from_tensor(t) for key, t in tensors.items()})
        super().__init__(module, graph=gm.graph)
        self.fake_mode = fake_mode

    def run_node(self, n: Node) -> Any:
        """Run a node and note what it gives.

        Raises:
            PassError: The node raises an error (ST234).
        """
        try:
            result = super().run_node(n)
        except Exception as error:
            text = f"{n.format_node()} with meta={n.meta}"
            raise PassError("ST234", node=text, reason=str(error)) from error
        tensors = False

        def note(value: Any) -> Any:
            nonlocal tensors
            if isinstance(value, torch.Tensor):
                tensors = True
                return tensor_metadata(value)
            return value

        noted = map_aggregate(result, note)
        if tensors:
            n.meta["tensor_meta"] = noted
        n.meta["type"] = type(result)
        return result

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a function; without values, both ways of a decision are run, and one round of a `while` loop.

        Raises:
            ValueError: The two ways, or two rounds, give values of different shapes or types.
        """
        if self.fake_mode is None or target not in (cond, torch_cond, while_loop, torch_while):
            return super().call_function(target, args, kwargs)
        if target in (cond, torch_cond) and isinstance(args[0], torch.Tensor):
            _, then, orelse, operands, else_operands = args
            results = self._run_region(then, *operands), self._run_region(orelse, *else_operands)
            return _agreed(*results, "the two ways of a decision")
        if target in (while_loop, torch_while):
            predicate, body, carried, operands = args
            if isinstance(predicate, torch.Tensor):
                _, *after = self._run_region(body, *carried, *operands)
                return _agreed(tuple(carried), tuple(after), "two rounds of a loop")
        return super().call_function(target, args, kwargs)

    def propagate(self, *args: Any) -> Any:
        """Run the module on example inputs; statistics and other buffers of the module are what they were.

        Args:
            *args: Inputs of the module.

        Returns:
            What the module returns.
        """
        if self.fake_mode is None:
            return self._run_and_restore(args)
        fakes = [self.fake_mode.from_tensor(a) if _is_real(a) else a for a in args]
        with self.fake_mode:
            return self.run(*fakes)

    def _run_and_restore(self, args: Any) -> Any:
        buffers = {id(b): (b, b.detach().clone()) for b in self.module.buffers()}
        try:
            return self.run(*args)
        finally:
            with torch.no_grad():
                for buffer, before in buffers.values():
                    if not torch.equal(buffer, before):
                        buffer.copy_(before)


def _agreed(one: Any, two: Any, what: str) -> Any:
    """Return one of two results without values, if they are alike."""

    def short(value: Any) -> Any:
        return (tuple(value.shape), value.dtype) if isinstance(value, torch.Tensor) else value

    left, right = map_aggregate(one, short), map_aggregate(two, short)
    if left != right:
        raise ValueError(f"{what} give different values: {left} and {right}")
    return one


def _is_real(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and not hasattr(value, "fake_mode")


def _plain_tensors(gm: torch.nn.Module) -> list[torch.Tensor]:
    """Return the tensors that modules hold as plain attributes."""
    return [v for module in gm.modules() for v in vars(module).values() if isinstance(v, torch.Tensor)]
