"""B11: pickling restores the graph that was stored; nothing is traced again."""

import copy
import io
import operator
import pickle

import pytest
import torch
from torch import nn

import symtrace as fx

from .support import shape_of


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.scale = nn.Parameter(torch.full((3,), 2.0))
        self.register_buffer("offset", torch.arange(3.0))

    def forward(self, x, *, bias=1.0):
        return self.fc(x).relu() * self.scale + self.offset - bias


ROUND_TRIPS = [lambda gm: pickle.loads(pickle.dumps(gm)), copy.deepcopy, copy.copy]


@pytest.mark.parametrize("trip", ROUND_TRIPS, ids=["pickle", "deepcopy", "copy"])
def test_graph_names_metadata_and_code_survive(trip):
    gm = fx.symbolic_trace(Net())
    for n in gm.graph.nodes:
        n.meta["origin_name"] = n.name
    next(n for n in gm.graph.nodes if n.name == "relu").name = "activation"
    back = trip(gm)
    assert shape_of(back.graph) == shape_of(gm.graph)
    assert [n.meta for n in back.graph.nodes] == [n.meta for n in gm.graph.nodes]
    assert back.code == gm.code
    assert back.graph is not gm.graph
    x = torch.randn(2, 3)
    assert torch.equal(back(x, bias=0.5), gm(x, bias=0.5))


@pytest.mark.parametrize("trip", ROUND_TRIPS, ids=["pickle", "deepcopy", "copy"])
def test_graphs_are_independent(trip):
    gm = fx.symbolic_trace(lambda x: torch.relu(x))
    back = trip(gm)
    next(n for n in back.graph.nodes if n.op == "call_function").target = torch.neg
    x = torch.tensor(-1.0)
    assert gm(x).item() == 0.0
    assert back(x).item() == 1.0


def graph_of(build):
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.output(build(graph, x))
    return fx.GraphModule(nn.Module(), graph)


def unused_write(graph, x):
    graph.call_function(operator.setitem, (x, 0, 9.0))
    return x


GRAPHS = {
    "iadd": lambda g, x: g.call_function(operator.iadd, (x, 1)),
    "dead node": lambda g, x: (g.call_function(torch.neg, (x,)), x)[1],
    "setitem": unused_write,
    "method on a size": lambda g, x: g.call_method("mul", (x, g.call_method("size", (x, 0)))),
    "infinity": lambda g, x: g.call_function(torch.clamp, (x,), {"max": float("inf")}),
    "dtype and device": lambda g, x: g.call_method("to", (x, torch.device("cpu"), torch.float64)),
    "slice": lambda g, x: g.call_function(operator.getitem, (x, (slice(None, 1), None, Ellipsis))),
    "aten": lambda g, x: g.call_function(torch.ops.aten.add.Tensor, (x, x)),
    "containers": lambda g, x: g.call_function(torch.cat, ([x, x],), {"dim": 0}),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_any_graph_comes_back(name):
    gm = graph_of(GRAPHS[name])
    back = pickle.loads(pickle.dumps(gm))
    assert shape_of(back.graph) == shape_of(gm.graph)
    a, b = torch.ones(2), torch.ones(2)
    assert torch.equal(gm(a), back(b))
    assert torch.equal(a, b)


def test_a_graph_alone_can_be_pickled():
    graph = fx.symbolic_trace(lambda x: torch.relu(x) + 1).graph
    assert shape_of(pickle.loads(pickle.dumps(graph))) == shape_of(graph)


CALLS = io.StringIO()


class Loud(nn.Module):
    def __init__(self):
        super().__init__()
        CALLS.write("init")

    def forward(self, x):
        CALLS.write("forward")
        return x + 1


def test_loading_runs_no_user_code():
    data = pickle.dumps(fx.symbolic_trace(Loud()))
    before = CALLS.getvalue()
    assert pickle.loads(data)(torch.ones(1)).item() == 2.0
    assert CALLS.getvalue() == before
