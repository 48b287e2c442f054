"""From the options of a command to a captured module with shapes."""

from __future__ import annotations

import copy
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
    """Run a copy of `gm`, and note on the nodes of `gm` which shapes and dtypes they give."""
    import torch

    from ..passes.shape_prop import ShapeProp

    trial = copy.deepcopy(gm)
    arguments = copy.deepcopy(inputs)
    try:
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            ShapeProp(trial).run(*arguments.args, **arguments.kwargs)
    except Exception as error:
        cause = error.__cause__ if isinstance(error, SymtraceError) and error.__cause__ else error
        text = cause.diagnostic.message if isinstance(cause, SymtraceError) else str(cause)
        lines = [line.strip() for line in text.splitlines() if line.strip()] or [type(cause).__name__]
        raise UsageError("ST408", reason=lines[0], signature=_signature(program)) from error
    for node, tried in zip(gm.graph.nodes, trial.graph.nodes, strict=True):
        node.meta.update((key, tried.meta[key]) for key in ("tensor_meta", "type") if key in tried.meta)
