"""Splitting into stages."""

import time

import pytest
import torch
from torch import nn

from symtrace import GraphModule, symbolic_trace
from symtrace.errors import ArgumentError
from symtrace.partition.errors import PartitionError
from symtrace.passes.split_module import split_module
from symtrace.passes.split_utils import getattr_recursive, setattr_recursive, split_by_tags
from symtrace.runtime import Graph


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.param = nn.Parameter(torch.rand(3, 4))
        self.linear = nn.Linear(4, 5)

    def forward(self, x, y):
        z = self.linear(x + self.param).clamp(min=0.0, max=1.0)
        w = self.linear(y).clamp(min=0.0, max=1.0)
        return z + w


def by_turns(count):
    state = iter(range(10**6))
    return lambda node: next(state) % count


def calls(module):
    return [node.target for node in module.graph.nodes if node.op == "call_module"]


def check_same(before, after, *args):
    expected, actual = before(*args), after(*args)
    assert torch.equal(expected, actual)


def test_stages_are_modules_that_compute_the_same():
    gm = symbolic_trace(Net())
    text = str(gm.graph)
    names = {}
    parts = split_module(gm, None, by_turns(3), qualname_map=names)
    parts.graph.lint()
    assert calls(parts) == ["submod_0", "submod_1", "submod_2"]
    assert names == {"submod_0.linear": "linear", "submod_1.linear": "linear"}
    assert parts.submod_0.linear is gm.linear
    assert str(gm.graph) == text
    check_same(gm, parts, torch.rand(3, 4), torch.rand(3, 4))


def test_stages_have_the_form_of_fx():
    parts = split_module(symbolic_trace(Net()), None, by_turns(3))
    assert [n.name for n in parts.submod_0.graph.nodes] == ["x", "param", "y", "add", "linear", "output"]
    assert [n.name for n in parts.graph.nodes if n.op == "get_attr"] == ["param"]
    assert str(parts.graph.output_node().args[0]) == "submod_2"


def test_names():
    gm = symbolic_trace(Net())
    affixed = split_module(gm, None, lambda node: 7, partition_affix="pp")
    assert calls(affixed) == ["submod_pp_7"]
    kept = split_module(gm, None, by_turns(3), keep_original_node_name=True)
    assert "linear_1" in [n.name for n in kept.submod_0.graph.nodes]
    plain = split_module(gm, None, by_turns(3), keep_original_input_name=False)
    assert [n.name for n in plain.submod_0.graph.nodes][:3] == ["arg_0", "arg_1", "arg_2"]
    tuples = split_module(gm, None, by_turns(3), tuple_return=True)
    assert isinstance(tuples.submod_2.graph.output_node().args[0], tuple)
    check_same(gm, tuples, torch.rand(3, 4), torch.rand(3, 4))


def test_stage_names_avoid_attributes():
    class Taken(nn.Module):
        def __init__(self):
            super().__init__()
            self.submod_1 = nn.Parameter(torch.full((1,), 3.0))

        def forward(self, x):
            return torch.relu(x) * self.submod_1

    gm = symbolic_trace(Taken())
    parts = split_module(gm, None, lambda node: 0 if node.name == "relu" else 1)
    assert calls(parts) == ["submod_0", "submod_1_1"]
    check_same(gm, parts, torch.ones(1))


def test_writes_keep_their_place_among_the_stages():
    def model(x):
        a = x.clone()
        a.add_(1)
        return a * 2

    gm = symbolic_trace(model)
    stage = {"clone": 0, "add_": 1, "mul": 2}
    parts = split_module(gm, None, lambda node: stage[node.name])
    assert calls(parts) == ["submod_0", "submod_1", "submod_2"]
    check_same(gm, parts, torch.zeros(1))
    late = {"clone": "c", "add_": "b", "mul": "a"}
    parts = split_module(gm, None, lambda node: late[node.name])
    assert calls(parts) == ["submod_c", "submod_b", "submod_a"]
    check_same(gm, parts, torch.zeros(1))


def test_random_draws_keep_their_order():
    def model(x):
        return torch.rand(2) + x, torch.rand(2) * x

    gm = symbolic_trace(model)
    parts = split_module(gm, None, lambda node: {"rand": 1, "add": 1, "rand_1": 0, "mul": 0}[node.name])
    assert calls(parts) == ["submod_1", "submod_0"]


def test_rings_are_refused():
    gm = symbolic_trace(lambda x: torch.sin(torch.cos(torch.relu(x))))
    with pytest.raises(RuntimeError, match="cycle exists between partitions") as caught:
        split_module(gm, None, lambda node: {"relu": 0, "cos": 1, "sin": 0}[node.name])
    assert caught.value.code == "ST220"

    def model(x):
        a = torch.sin(x)
        x.add_(1)
        return a + torch.cos(x)

    with pytest.raises(RuntimeError, match="ST220"):
        split_module(symbolic_trace(model), None, lambda node: {"add_": 1}.get(node.name, 0))


def test_metadata_defaults_and_structure_survive():
    def model(x, n=3):
        return {"k": (x * n, x)}

    gm = symbolic_trace(model)
    for node in gm.graph.nodes:
        node.meta["here"] = node.name
    parts = split_module(gm, None, lambda node: 0)
    assert parts(torch.ones(1))["k"][0] == 3
    assert [n.meta["here"] for n in parts.submod_0.graph.nodes if n.op == "call_function"] == ["mul"]
    assert parts.graph.output_node().meta["here"] == "output"
    assert next(n for n in parts.graph.nodes if n.op == "call_module").meta["here"] == "mul"


def test_modules_of_torch_fx_are_refused():
    import torch.fx

    with pytest.raises(ArgumentError, match="from_torch_fx"):
        split_module(torch.fx.symbolic_trace(lambda x: x + 1), None, lambda node: 0)


def test_splitting_costs_linear_time():
    def build(count):
        graph = Graph()
        value = graph.placeholder("x")
        for _ in range(count):
            value = graph.call_function(torch.neg, (value,))
        graph.output(value)
        return GraphModule({}, graph)

    def seconds(count):
        gm = build(count)
        number = {node: index // 10 for index, node in enumerate(gm.graph.nodes)}
        start = time.perf_counter()
        split_module(gm, None, number.__getitem__)
        return time.perf_counter() - start

    assert min(seconds(4000) for _ in range(4)) < 12 * min(seconds(1000) for _ in range(4))


class Tagged(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(2))
        self.lin = nn.Linear(2, 2)
        self.sub = nn.Module()
        self.sub.b = nn.Parameter(torch.ones(2))

    def forward(self, x):
        a = self.lin(x) + self.w
        b = a * self.w
        return torch.relu(b) + self.sub.b, a


def tagged(first):
    gm = symbolic_trace(Tagged())
    for node in gm.graph.nodes:
        if node.op.startswith("call"):
            node.tag = "a" if node.name in first else "b"
    return gm


@pytest.mark.parametrize("return_tuple", [False, True])
def test_tags_make_components(return_tuple):
    gm = tagged({"lin", "add", "mul"})
    parts, paths = split_by_tags(gm, ["a", "b"], return_fqn_mapping=True, return_tuple=return_tuple)
    parts.graph.lint()
    assert calls(parts) == ["a", "b"]
    assert paths == {"lin": "a.lin", "w": "a.w", "sub.b": "b.sub.b"}
    x = torch.rand(2)
    assert all(torch.equal(p, q) for p, q in zip(gm(x), parts(x), strict=True))


def test_wrong_tags_are_refused():
    gm = tagged({"lin", "add", "mul"})
    with pytest.raises(RuntimeError, match="`relu` has the tag 'b'"):
        split_by_tags(gm, ["a"])
    with pytest.raises(RuntimeError, match="order must be >="):
        split_by_tags(gm, ["b", "a"])


def test_attributes_by_path():
    module = nn.Module()
    setattr_recursive(module, "a.b.weight", nn.Parameter(torch.ones(1)))
    assert getattr_recursive(module, "a.b.weight") is module.a.b.weight
    assert getattr_recursive(module, "a.c") is None


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Parameter(torch.rand(3)), nn.Parameter(torch.rand(3))
        self.register_buffer("offset", torch.rand(3))

    def forward(self, x):
        return ((x * self.first).relu() * self.second + self.first) + self.offset


def test_attributes_that_one_stage_reads_belong_to_it_if_wanted():
    gm = symbolic_trace(Scaled())
    place = {node: index for index, node in enumerate(gm.graph.nodes)}
    split = split_module(gm, None, lambda node: place[node] // 4, own_attributes=True)
    assert sorted(split.state_dict()) == ["first", "submod_1.second", "submod_2.offset"]
    x = torch.rand(2, 3)
    assert torch.equal(split(x), gm(x))
    assert split.get_parameter("submod_1.second") is gm.second


def test_a_ring_of_stages_is_explained():
    gm = symbolic_trace(lambda x: x.sin().cos().tan())
    with pytest.raises(PartitionError, match="`tan` takes `cos`"):
        split_module(gm, None, lambda node: {"cos": 1}.get(node.name, 0))
