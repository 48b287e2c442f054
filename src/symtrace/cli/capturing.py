"""From the options of a command to a captured module with shapes."""

from __future__ import annotations

import copy
import inspect
import traceback
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError, SymtraceError, TraceError, UsageError
from .inputs import Inputs, parse_inputs
from .options import TargetOptions
from .output import progress
from .targets import load_program

if TYPE_CHECKING:
    from ..runtime import GraphModule

__all__ = ["capture_target"]


def capture_target(target: str, options: TargetOptions) -> tuple[GraphModule, Inputs]:
    """Load, capture and, when there are inputs, run the target once so that its nodes know their shapes.

    Raises:
        UsageError: The target, its configuration or the inputs can't be used (ST401, ST403, ST404, ST408, ST410).
        TraceError: The program can't be captured.
    """
    with progress(f"loading {target}"):
        program = load_program(target, options.config)
        inputs = parse_inputs(options.tensors, options.expression)
    with progress(f"capturing {target}"):
        gm = _capture(target, program, inputs)
    if inputs:
        with progress(f"running {target}"):
            _record_values(gm, program, inputs)
    return gm, inputs


def _capture(target: str, program: Any, inputs: Inputs) -> GraphModule:
    import symtrace  # the public doors, which also honour what other packages have told torch.fx

    if isinstance(program, symtrace.GraphModule):
        return program
    arguments = copy.deepcopy(inputs)
    try:
        if not inputs:
            return symtrace.symbolic_trace(program)
        return symtrace.capture(program, arguments.args, arguments.kwargs)
    except TraceError:
        raise
    except ArgumentError as error:
        if not inputs:
            raise UsageError("ST401", target=target, reason=error.diagnostic.message) from error
        raise _refused_inputs(program, error) from error
    except Exception as error:  # whatever the program itself raises
        if inputs:
            raise _refused_inputs(program, error) from error
        reason = f"it raised {type(error).__name__}: {_first_line(error)} {_place(error)}"
        raise UsageError("ST401", target=target, reason=reason) from error


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f"(line {frames[-1].lineno} of {frames[-1].filename})" if frames else ""


def _first_line(error: BaseException) -> str:
    text = error.diagnostic.message if isinstance(error, SymtraceError) else str(error)
    return next((line.strip() for line in text.splitlines() if line.strip()), type(error).__name__)


def _refused_inputs(program: Any, error: BaseException) -> UsageError:
    return UsageError("ST408", reason=_first_line(error), signature=_signature(program))


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
        raise _refused_inputs(program, cause) from error
    for node, tried in zip(gm.graph.nodes, trial.graph.nodes, strict=True):
        node.meta.update((key, tried.meta[key]) for key in ("tensor_meta", "type") if key in tried.meta)
