"""Assertions and annotations are recorded after a rewrite of the source."""

import pytest
import torch
from torch import nn

from symtrace import GraphModule, symbolic_trace
from symtrace.experimental.rewriter import AST_Rewriter, RewritingTracer
from symtrace.passes.graph_manipulation import get_size_of_all_nodes, replace_target_nodes_with
from symtrace.passes.param_fetch import lift_lowering_attrs_to_nodes

LIMIT = 10


class Inner(nn.Module):
    def forward(self, x):
        assert x.sum() < LIMIT, "too large"
        return x * 2


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.lin = nn.Linear(2, 2)

    def forward(self, x, *, scale: float = 1.0):
        y: torch.Tensor = x
        assert y.dim() == 1
        return self.lin(self.inner(y)) * scale


def test_assertions_of_all_modules_are_recorded():
    module = Outer()
    gm = GraphModule(module, RewritingTracer().trace(module))
    asserts = [n for n in gm.graph.nodes if n.target is torch._assert]
    assert [n.args[1] for n in asserts] == ["", "too large"]
    x = torch.ones(2)
    assert torch.equal(gm(x), module(x))
    with pytest.raises(AssertionError, match="too large"):
        gm(x * 100)
    assert "forward" not in vars(module)
    assert module._modules["inner"].forward.__func__ is Inner.forward


def test_annotations_reach_the_node():
    graph = RewritingTracer().trace(Outer())
    assert next(iter(graph.nodes)).type is torch.Tensor


def test_closures_and_defaults_are_kept():
    offset = torch.ones(1)

    def function(x, n=2, *, m=3):
        assert n > 0
        return x * n + m + offset

    made = AST_Rewriter().rewrite(function)
    assert made(torch.ones(1)) == function(torch.ones(1)) == 6
    offset = torch.zeros(1)
    assert made(torch.ones(1), m=0) == 2
    assert AST_Rewriter().rewrite(len) is len


def test_targets_are_replaced_everywhere():
    gm = symbolic_trace(lambda x: torch.neg(torch.neg(x)))
    replace_target_nodes_with(gm, "call_function", torch.neg, "call_function", torch.relu)
    assert [n.target for n in gm.graph.nodes][1:3] == [torch.relu, torch.relu]
    assert gm(torch.tensor(-1.0)) == 0


def test_sizes_and_settings_of_nodes():
    gm = symbolic_trace(nn.Sequential(nn.Linear(4, 3), nn.ReLU()))
    get_size_of_all_nodes(gm, [torch.rand(2, 4)])
    linear, relu = (n for n in gm.graph.nodes if n.op == "call_module")
    assert linear.size_bytes == (2 * 3 * 4, 2 * 3 * 4 + 15 * 4)
    assert relu.size_bytes == (24, 24)
    lift_lowering_attrs_to_nodes(gm)
    assert linear.attrs_for_lowering["weight"] is gm.get_submodule("0").weight
    assert relu.attrs_for_lowering == {"name": "torch.nn.modules.activation.ReLU", "inplace": False}
    with pytest.raises(TypeError, match="run ShapeProp first"):
        get_size_of_all_nodes(symbolic_trace(lambda x: x + 1))
