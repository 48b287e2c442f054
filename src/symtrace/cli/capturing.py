"""From the options of a command to a captured module with shapes."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from ..errors import SymtraceError, UsageError
from .inputs import Inputs, parse_inputs
from .output import progress
from .targets import load_program

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..runtime import GraphModule

__all__ = ["capture_target"]


def capture_target(
    target: str, tensors: Sequence[str] = (), expression: str | None = None
) -> tuple[GraphModule, Inputs]:
    """Load, capture and, when there are inputs, run the target once so that its nodes know their shapes.

    Raises:
        UsageError: The target or the inputs can't be used (ST401, ST403, ST404, ST408).
        TraceError: The program can't be captured.
    """
    with progress(f"loading {target}"):
        program = load_program(target)
        inputs = parse_inputs(tensors, expression)
    with progress(f"capturing {target}"):
        gm = _capture(program, inputs)
    if inputs:
        with progress(f"running {target}"):
            _record_values(gm, program, inputs)
    return gm, inputs


def _capture(program: Any, inputs: Inputs) -> GraphModule:
    from ..tracing import symbolic_trace
    from ..runtime import GraphModule

    if isinstance(program, GraphModule):
        return program
    return symbolic_trace(program)


def _signature(program: Any) -> str:
    try:
        return str(inspect.signature(getattr(program, "forward", program)))
    except (TypeError, ValueError):
        return "(...)"


def _record_values(gm: GraphModule, program: Any, inputs: Inputs) -> None:
    import torch

    from ..passes.shape_prop import ShapeProp

    try:
        with torch.no_grad():
            ShapeProp(gm).propagate(*inputs.args, **inputs.kwargs)
    except SymtraceError:
        raise
    except Exception as error:
        lines = [line for line in str(error).splitlines() if line.strip()] or [""]
        reason = f"{type(error).__name__}: {lines[0].strip()}"
        raise UsageError("ST408", reason=reason, signature=_signature(program)) from error
