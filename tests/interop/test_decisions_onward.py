"""A captured decision, lowered, is one that torch's export, its compiler and ONNX keep: both ways in one program."""

from __future__ import annotations

import importlib.util
import io
from typing import Any

import pytest
import torch
from torch import nn

import symtrace as fx
from symtrace.passes import Pipeline

pytestmark = pytest.mark.interop


class Decides(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        if x.sum() > 0:
            y = self.first(x)
        elif x.min() < -10:
            y = torch.tanh(x)
        else:
            y = self.second(x)
        return torch.relu(y)


INPUTS = [torch.ones(2, 4), torch.full((2, 4), -0.5), torch.full((2, 4), -20.0)]


@pytest.fixture(scope="module")
def model() -> nn.Module:
    torch.manual_seed(0)
    return Decides().eval()


@pytest.fixture(scope="module")
def lowered(model: nn.Module) -> Any:
    captured = fx.capture(model)
    assert Pipeline("lower-control-flow")(captured).modified
    return captured


def assert_all_ways(run: Any, model: nn.Module) -> None:
    with torch.no_grad():
        for x in INPUTS:
            torch.testing.assert_close(run(x), model(x), rtol=1e-4, atol=1e-5)


def test_export_keeps_both_ways(model: nn.Module, lowered: Any) -> None:
    program = torch.export.export(lowered, (INPUTS[0],))
    assert "cond" in program.graph_module.code
    assert_all_ways(program.module(), model)


def test_the_compiler_keeps_both_ways_in_one_graph(model: nn.Module, lowered: Any) -> None:
    assert_all_ways(torch.compile(lowered, backend="eager", fullgraph=True), model)


def test_onnx_keeps_both_ways(model: nn.Module, lowered: Any) -> None:
    for needed in ("onnx", "onnxscript", "onnxruntime"):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed")
    import onnx
    import onnxruntime

    file = io.BytesIO()
    torch.onnx.export(lowered, (INPUTS[0],), dynamo=True).save(file)
    stored = onnx.load_from_string(file.getvalue())
    assert "If" in {node.op_type for node in stored.graph.node}
    session = onnxruntime.InferenceSession(file.getvalue(), providers=["CPUExecutionProvider"])

    def run(x: torch.Tensor) -> torch.Tensor:
        (out,) = session.run(None, {session.get_inputs()[0].name: x.numpy()})
        return torch.from_numpy(out)

    assert_all_ways(run, model)
