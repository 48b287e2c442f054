"""Cases C32 to C38: copying, saving, loading."""

import copy
import operator
import pickle

import pytest
import torch
from torch import nn

import symtrace as fx

COPIES = [copy.copy, copy.deepcopy, lambda gm: pickle.loads(pickle.dumps(gm))]
each_copy = pytest.mark.parametrize("make", COPIES, ids=["copy", "deepcopy", "pickle"])


@each_copy
def test_c32_a_copy_has_a_graph_of_its_own(make):
    gm = fx.symbolic_trace(lambda x: torch.relu(x))
    dup = make(gm)
    assert dup.graph is not gm.graph
    assert dup.graph.owning_module is dup
    for n in dup.graph.nodes:
        if n.op == "call_function":
            n.target = torch.neg
    dup.recompile(), gm.recompile()
    t = torch.tensor(-1.0)
    assert gm(t).item() == 0.0
    assert dup(t).item() == 1.0


@each_copy
def test_c32_a_copy_keeps_parameters_as_copying_promises(make):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(1))

        def forward(self, x):
            return x * self.w

    gm = fx.symbolic_trace(Net())
    dup = make(gm) if make is not COPIES[2] else copy.deepcopy(gm)
    shared = dup.w is gm.w
    assert shared == (make is copy.copy)


@each_copy
def test_c34_metadata_is_not_shared(make):
    gm = fx.symbolic_trace(lambda x: torch.relu(x))
    n = list(gm.graph.nodes)[1]
    n.meta["passes"] = ["a"]
    dup = make(gm)
    copied = list(dup.graph.nodes)[1].meta
    copied["new"] = 1
    assert "new" not in n.meta
    if make is not copy.copy:
        copied["passes"].append("b")
        assert n.meta["passes"] == ["a"]


def test_c34_a_deep_copy_of_a_graph_alone():
    graph = fx.symbolic_trace(lambda x: torch.relu(x)).graph
    n = list(graph.nodes)[1]
    n.meta["passes"] = ["a"]
    dup = copy.deepcopy(graph)
    list(dup.nodes)[1].meta["passes"].append("b")
    assert n.meta["passes"] == ["a"]


INPLACE = [operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ipow]


@pytest.mark.parametrize("op", INPLACE, ids=lambda f: f.__name__)
@each_copy
def test_c35_in_place_operators_stay_in_place(op, make):
    g = fx.Graph()
    x = g.placeholder("x")
    g.output(g.call_function(op, (x, 3)))
    gm = fx.GraphModule(nn.Module(), g)
    back = make(gm)
    a, b = torch.full((1,), 2.0), torch.full((1,), 2.0)
    gm(a), back(b)
    assert a.item() == b.item() != 2.0


def _zeros(g, x):
    n = g.call_method("size", (x, 0))
    return g.call_function(torch.zeros, (n, 3))


def _setitem(g, x):
    g.call_function(operator.setitem, (x, 0, 9.0))
    return x


def _size_arithmetic(g, x):
    n = g.call_function(getattr, (x, "shape"))
    first = g.call_function(operator.getitem, (n, 0))
    return g.call_function(torch.arange, (g.call_function(operator.mul, (first, 2)),))


def _truth(g, x):
    return g.call_function(operator.not_, (g.call_method("any", (x,)),))


@pytest.mark.parametrize("build", [_zeros, _setitem, _size_arithmetic, _truth], ids=lambda f: f.__name__)
@each_copy
def test_c37_any_valid_graph_comes_back(build, make):
    g = fx.Graph()
    g.output(build(g, g.placeholder("x")))
    gm = fx.GraphModule(nn.Module(), g)
    actual, expected = make(gm)(torch.ones(2)), gm(torch.ones(2))
    assert type(actual) is type(expected)
    assert torch.equal(torch.as_tensor(actual), torch.as_tensor(expected))


@each_copy
def test_c38_names_and_metadata_survive(make):
    gm = fx.symbolic_trace(lambda x: torch.neg(torch.relu(x)))
    nodes = list(gm.graph.nodes)
    nodes[1].meta["quant"] = "int8"
    nodes[1].name = "conv_block_act"
    gm.recompile()
    back = list(make(gm).graph.nodes)[1]
    assert back.name == "conv_block_act"
    assert dict(back.meta).get("quant") == "int8"


def test_c38_metadata_that_cannot_be_pickled_does_not_stop_it():
    gm = fx.symbolic_trace(lambda x: torch.relu(x))
    n = list(gm.graph.nodes)[1]
    n.meta["good"], n.meta["bad"] = 1, lambda: None
    back = pickle.loads(pickle.dumps(gm))
    assert list(back.graph.nodes)[1].meta.get("good") == 1
