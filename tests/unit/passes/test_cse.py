"""Equal computations are done once; others are not touched."""

import pytest
import torch
from torch import nn

from symtrace import GraphModule, capture, symbolic_trace
from symtrace.errors import ArgumentError
from symtrace.passes import Pipeline
from symtrace.passes.dialect.common.cse_pass import CSEPass, get_CSE_banned_ops
from symtrace.runtime import Graph

aten = torch.ops.aten


def count(model, *banned):
    gm = symbolic_trace(model)
    before = len(gm.graph.nodes)
    result = CSEPass(set(banned) or None)(gm)
    assert len(gm.graph.nodes) == before
    result.graph_module.graph.lint()
    merged = before - len(result.graph_module.graph.nodes)
    assert result.modified == (merged > 0)
    return merged


class Twice(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x) + self.layer(x)


def written_between(x):
    y = x.clone()
    a = torch.sin(y)
    y.add_(1)
    return a + torch.sin(y)


def written_after(x):
    a, b = torch.sin(x), torch.sin(x)
    a.add_(1)
    return a + b


def no_grad_between(x):
    a = torch.sin(x)
    with torch.no_grad():
        b = torch.sin(x)
    return a + b


@pytest.mark.parametrize(
    ("model", "merged"),
    [
        (lambda x: torch.sin(x) + torch.sin(x), 1),
        (lambda x: torch.sin(x) + x.sin(), 1),
        (lambda x: torch.sum(x, 0) + torch.sum(x, dim=0), 1),
        (lambda x: (torch.sin(x) + x.sin()) * (torch.sin(x) - x.sin()), 3),
        (lambda x: torch.cos(torch.sin(x)) + torch.cos(torch.sin(x)), 2),
        (lambda x: (x + 1) * (x + 1.0), 0),
        (lambda x: (x + 1) * (x + True), 0),
        (lambda x: torch.sin(x) + torch.cos(x), 0),
        (lambda x: torch.rand(2) + torch.rand(2), 0),
        (lambda x: torch.bernoulli(x) + torch.bernoulli(x), 0),
        (lambda x: (torch.sin(x), torch.sin(x)), 0),
        (lambda x: x[0] + x[0], 1),
        (lambda x: x[1:] + x[1:], 1),
        (written_between, 0),
        (written_after, 0),
        (no_grad_between, 0),
        (Twice(nn.Tanh()), 1),
        (Twice(nn.Linear(2, 2)), 1),
        (Twice(nn.Dropout()), 0),
        (Twice(nn.ReLU(inplace=True)), 0),
        (Twice(nn.BatchNorm1d(2)), 0),
    ],
)
def test_what_is_merged(model, merged):
    assert count(model) == merged


def test_banned_operators():
    def build():
        graph = Graph()
        x = graph.placeholder("x")
        a, b = (graph.call_function(aten.sin.default, (x,)) for _ in range(2))
        graph.output(graph.call_function(aten.add.Tensor, (a, b)))
        return GraphModule({}, graph)

    assert CSEPass()(build()).modified
    assert not CSEPass({aten.sin})(build()).modified
    assert not CSEPass({aten.sin.default})(build()).modified
    assert {aten.rand, aten.bernoulli} <= get_CSE_banned_ops()


def test_result_computes_the_same_and_keeps_the_module():
    module = Twice(nn.Linear(2, 2))
    gm = symbolic_trace(module)
    result = CSEPass()(gm).graph_module
    x = torch.rand(3, 2)
    assert torch.equal(result(x), module(x))
    assert result.state_dict().keys() == module.state_dict().keys()


def test_modules_of_torch_fx_are_refused():
    import torch.fx

    with pytest.raises(ArgumentError, match="from_torch_fx"):
        CSEPass()(torch.fx.symbolic_trace(lambda x: x + 1))


def test_what_a_region_returns_may_be_written_to():
    def program(x):
        if x.sum() > 0:
            first, second = x.sin(), x.sin()
            product = second * x
        else:
            first, product = x * 1, x * 2
        first.relu_()
        return product

    gm = capture(program)
    x = torch.rand(3, requires_grad=True)
    assert not Pipeline("cse")(gm).modified
    assert not CSEPass()(gm).modified
    gm(x).sum().backward()  # the product has kept what it needs
    assert x.grad is not None


def test_what_a_region_returns_is_merged_where_nothing_writes():
    gm = capture(lambda x: x.sin() + x.sin() if x.sum() > 0 else x)
    assert Pipeline("cse")(gm).modified
