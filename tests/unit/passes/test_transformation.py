"""Rewrites as classes."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from symtrace import symbolic_trace
from symtrace.errors import PatternError
from symtrace.passes import GraphModuleTransformation


class ConvReLU(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)

    def forward(self, x):
        return torch.relu(self.conv(x))


class ScaleToShift(GraphModuleTransformation):
    def pattern(self):
        return lambda x: torch.relu(x * 2)

    def replace(self, node, matches):
        return node.graph.call_function(torch.add, (matches[0], 1))


def test_every_match_is_replaced_and_the_module_left_alone():
    gm = symbolic_trace(lambda x: torch.relu(F.relu(x * 2).mul(2)))
    before = gm.code
    result = ScaleToShift()(gm)
    assert gm.code == before
    result.graph.lint()
    assert torch.equal(result(torch.zeros(2)), torch.full((2,), 2.0))


def test_a_module_may_be_added():
    class Gelu(GraphModuleTransformation):
        def pattern(self):
            return nn.ReLU()

        def replace(self, node, matches):
            node.graph.owning_module.add_submodule("gelu", nn.GELU())
            return node.graph.call_module("gelu", (matches[0],))

    gm = symbolic_trace(nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
    result = Gelu()(gm)
    x = torch.rand(3, 2)
    assert torch.equal(result(x), F.gelu(gm.get_submodule("0")(x)))
    assert not hasattr(gm, "gelu")


def test_the_node_itself_leaves_a_match_alone():
    class Never(ScaleToShift):
        def replace(self, node, matches):
            return node

    gm = symbolic_trace(lambda x: torch.relu(x * 2))
    assert Never()(gm).code == gm.code


def test_metadata_goes_on():
    gm = symbolic_trace(lambda x: torch.relu(x * 2))
    gm.graph.node("relu").meta["mark"] = 7
    assert ScaleToShift()(gm).graph.node("add").meta["mark"] == 7


@pytest.mark.parametrize("value", [None, 3])
def test_what_is_no_node_is_refused(value):
    class Wrong(ScaleToShift):
        def replace(self, node, matches):
            return value

    with pytest.raises(PatternError, match="ST207"):
        Wrong()(symbolic_trace(lambda x: torch.relu(x * 2)))


def test_writes_are_not_crossed():
    def program(x):
        y = x * 2
        x.add_(1)
        z = x * 2
        return torch.relu(y) + torch.relu(z)

    result = ScaleToShift()(symbolic_trace(program))
    x = torch.zeros(2)
    assert torch.equal(result(x.clone()), torch.full((2,), 3.0))  # x + 1 in front of the write, and behind it


def test_layers_match_by_class_and_configuration():
    class Fuse(GraphModuleTransformation):
        def pattern(self):
            return ConvReLU()

        def replace(self, node, matches):
            (conv,) = (used for used in node.all_input_nodes)
            return node.graph.call_function(torch.tanh, (conv,))

    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Conv2d(2, 2, 3), nn.ReLU())
    result = Fuse()(symbolic_trace(net))
    assert [n.name for n in result.graph.nodes] == ["input_1", "_0", "tanh", "_2", "_3", "output"]
