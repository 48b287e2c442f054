"""Linear layers in eight bits."""

import copy

import pytest
import torch
from torch import nn

from symtrace import symbolic_trace
from symtrace.passes import quantize_dynamic, quantize_weights
from symtrace.passes.quantize import Int8WeightLinear


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.head = nn.Linear(16, 32), nn.Linear(32, 4, bias=False)
        self.tied = nn.Linear(4, 4)

    def forward(self, x):
        return self.head(torch.relu(self.encoder(x))) @ self.tied.weight + self.tied.bias


X = torch.rand(5, 16)


@pytest.mark.parametrize("quantize", [quantize_dynamic, quantize_weights])
def test_results_are_near(quantize):
    torch.manual_seed(0)
    model = Net().eval()
    gm = symbolic_trace(model)
    result = quantize(gm)
    assert type(gm.get_submodule("encoder")) is nn.Linear
    kinds = [type(result.get_submodule(name)) for name in ("encoder", "head")]
    assert nn.Linear not in kinds
    assert len(set(kinds)) == 1
    with torch.no_grad():
        torch.testing.assert_close(result(X), model(X), atol=0.05, rtol=0.05)
        torch.testing.assert_close(copy.deepcopy(result)(X), result(X))
    result.graph.lint()


@pytest.mark.parametrize("quantize", [quantize_dynamic, quantize_weights])
def test_layers_can_be_chosen(quantize):
    assert type(quantize(Net().eval(), layers="enc*").get_submodule("head")) is nn.Linear
    assert type(quantize(Net().eval(), min_size=200).get_submodule("head")) is nn.Linear


def test_weights_take_a_byte_each():
    layer = Int8WeightLinear(torch.randn(8, 4), None)
    assert layer.weight.dtype == torch.int8
    assert torch.equal(layer.weight.abs().amax(dim=1), torch.full((8,), 127, dtype=torch.int8))
    assert torch.isfinite(Int8WeightLinear(torch.zeros(2, 2), None)(torch.ones(1, 2))).all()
