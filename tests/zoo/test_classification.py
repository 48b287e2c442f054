"""Every torchvision classification model: the graph agrees with torch.fx, the values with eager."""

from __future__ import annotations

import operator
from typing import Any

import pytest
import torch
import torch.fx
from torch import nn

import symtrace
from symtrace.ops.program import guard

from .weights import built

models = pytest.importorskip("torchvision.models")

pytestmark = pytest.mark.zoo

NAMES = models.list_models(module=models)
SIZES = {"inception_v3": 96, "maxvit_t": 224, "vit_h_14": 56}
"""Side of the input; 64 where nothing else is said."""


def build(name: str) -> tuple[nn.Module, torch.Tensor]:
    """Return the model with random weights, and an input."""
    side = SIZES.get(name, 64)
    options: dict[str, Any] = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
    if name.startswith("vit_"):
        options["image_size"] = side
    model = built(lambda: models.get_model(name, weights=None, **options)).eval()
    return model, torch.randn(1, 3, side, side)


BUFFER_EXPRESSIONS = {"maxvit_t"}
"""Models that compute with buffers alone: torch.fx folds that, see "Buffers are read at every call"."""

PLAIN = {operator.iadd: operator.add, operator.imul: operator.mul, operator.isub: operator.sub}


def comparable(gm: Any) -> list[tuple[str, str, Any]]:
    """Return op, name and target of each node, without the documented differences.

    These are: in-place operators count as the plain ones that torch.fx records ("In-place operators are recorded in
    place"); reads of training flags and guards on them are left out ("The training flag is read live").
    """
    rows = []
    for n in gm.graph.nodes:
        target, name = n.target, n.name
        if n.op == "get_attr" and target.split(".")[-1] == "training":
            continue
        if n.op == "call_function" and target is guard:
            continue
        if n.op == "call_function" and target in (*PLAIN, *PLAIN.values()):
            target, name = PLAIN.get(target, target), ""
        rows.append((n.op, name, target))
    return rows


@pytest.mark.parametrize("name", NAMES)
def test_model(name: str) -> None:
    model, x = build(name)
    ours = symtrace.symbolic_trace(model)
    with torch.no_grad():
        torch.testing.assert_close(ours(x), model(x), rtol=0, atol=0)
    if name not in BUFFER_EXPRESSIONS:
        assert comparable(ours) == comparable(torch.fx.symbolic_trace(model))
    assert list(ours.state_dict()) == list(model.state_dict())


@pytest.mark.parametrize("name", ["resnet18", "mobilenet_v3_small", "swin_t", "efficientnet_b0", "vit_b_16"])
def test_interpreter_gives_the_same(name: str) -> None:
    model, x = build(name)
    ours = symtrace.symbolic_trace(model)
    with torch.no_grad():
        torch.testing.assert_close(symtrace.Interpreter(ours).run(x), model(x), rtol=0, atol=0)


@pytest.mark.parametrize("name", ["resnet18", "efficientnet_b0", "swin_t", "convnext_tiny", "densenet121"])
def test_training_mode_follows(name: str) -> None:
    """Dropout and stochastic depth draw as in the original after a change of mode."""
    model, x = build(name)
    ours = symtrace.symbolic_trace(model)
    x = torch.cat([x, x + 1])
    for mode in (True, False):
        model.train(mode), ours.train(mode)
        torch.manual_seed(3)
        expected = model(x)
        torch.manual_seed(3)
        torch.testing.assert_close(ours(x), expected, rtol=0, atol=0)
