"""The passes that are safe for any program, in a good order."""

from __future__ import annotations

import copy
from typing import Any

from ..rewrite.sources import graph_of
from ..runtime import GraphModule
from .pipeline import Pipeline

__all__ = ["EVALUATION", "TRAINING", "optimize"]

TRAINING = "cse,dce,remove-identity"
"""What `optimize` does to a module in training mode."""

EVALUATION = (
    "specialize-evaluation,remove-dropout,remove-identity,fuse-conv-bn{keep-layout=true},fuse-conv-scale,"
    "fuse-conv-conv,cse,dce"
)
"""What `optimize` does to a module in evaluation mode."""


def optimize(
    model: Any,
    *,
    evaluation: bool | None = None,
    passes: str | None = None,
    example_inputs: tuple[Any, ...] | None = None,
    inplace: bool = False,
) -> GraphModule:
    """Return a faster module that means the same.

    In evaluation mode dropout and identities go, batch normalisations, constant factors and pointwise convolutions
    are folded into the convolutions in front of them, equal computations are done once and dead ones not at all.
    The result is for evaluation then, and warns when it is switched to training. In training mode only what is right in
    either mode is done. Folding rounds otherwise than the original, as far as floating point does; all else is exact.

    Args:
        model: A GraphModule; any other module or function is captured first.
        evaluation: Optimise for evaluation; by default, if the model is in evaluation mode.
        passes: Text of a pipeline to run instead.
        example_inputs: Arguments of a call. Shapes are found out with them, which lets more be folded.
        inplace: Change the GraphModule itself; else it is left as it is, and modules that are not changed are copied.

    Raises:
        TraceError: The model can't be captured.
        PassError: A pass failed; the model is as it was.

    >>> import torch
    >>> model = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 1), torch.nn.BatchNorm2d(2), torch.nn.Dropout()).eval()
    >>> len(list(optimize(model).graph.nodes))
    3
    """
    if isinstance(model, GraphModule):
        gm = model if inplace else copy.deepcopy(model)
    else:
        _, traced = graph_of("model", model)
        assert isinstance(traced, GraphModule)
        gm = traced
    if example_inputs is not None:
        _note_shapes(gm, example_inputs)
    if passes is None:
        in_evaluation = not gm.training if evaluation is None else evaluation
        passes = EVALUATION if in_evaluation else TRAINING
    result = Pipeline(passes)(gm).graph_module
    assert isinstance(result, GraphModule)
    return result


def _note_shapes(gm: GraphModule, inputs: tuple[Any, ...]) -> None:
    """Find out shapes on a copy, so that neither state nor random numbers are touched."""
    import torch

    from .shape_prop import ShapeProp

    trial = copy.deepcopy(gm)
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        ShapeProp(trial).propagate(*copy.deepcopy(inputs))
    for node, tried in zip(gm.graph.nodes, trial.graph.nodes, strict=True):
        node.meta.update((key, tried.meta[key]) for key in ("tensor_meta", "type") if key in tried.meta)
