"""What depends on parameters alone is computed once."""

import copy

import torch
from torch import nn

from symtrace import symbolic_trace
from symtrace.experimental.const_fold import get_unique_attr_name_in_module, split_const_subgraphs


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.rand(2))
        self.b = nn.Parameter(torch.rand(2), requires_grad=False)
        self.lin = nn.Linear(2, 2)

    def forward(self, x, y):
        a = self.w + self.b
        return x + a * 2 - a, self.lin(x + y), self.w


def targets(gm):
    return [getattr(n.target, "__name__", n.target) for n in gm.graph.nodes if n.op.startswith("call")]


def check(module, *args):
    folded = split_const_subgraphs(module)
    for _ in range(2):
        expected, actual = module(*args), folded(*args)
        pairs = zip(expected, actual, strict=True) if isinstance(expected, tuple) else [(expected, actual)]
        assert all(torch.equal(a, b) for a, b in pairs)
    return folded


def test_several_results():
    folded = check(Net(), torch.rand(2), torch.rand(2))
    assert targets(folded.const_subgraph_module) == ["add", "mul"]
    assert targets(folded) == ["getitem", "getitem", "add", "sub", "add", "lin"]
    assert isinstance(getattr(folded, folded.fx_const_folded_attrs_name), nn.ParameterList)
    folded.graph.lint()


def test_one_result_and_copies():
    class One(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.rand(2))

        def forward(self, x):
            return x * torch.sigmoid(self.w)

    module = One()
    folded = check(module, torch.rand(2))
    assert targets(folded) == ["mul"]
    x = torch.rand(2)
    assert torch.equal(copy.deepcopy(folded)(x), module(x))
    with torch.no_grad():
        module.w.add_(1)
    folded.run_folding()
    assert torch.equal(folded(x), module(x))


def test_nothing_to_fold():
    folded = check(nn.Sequential(nn.Linear(2, 2), nn.ReLU()), torch.rand(2))
    assert folded.const_subgraph_module is None


def test_writes_are_never_folded():
    class Tick(nn.Module):
        def __init__(self):
            super().__init__()
            self.t = nn.Parameter(torch.zeros(1), requires_grad=False)

        def forward(self, x):
            return x + self.t.add_(1)

    class Counted(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("n", torch.zeros(1))
            self.w = nn.Parameter(torch.ones(1))

        def forward(self, x):
            before = self.n * 2
            self.n.add_(1)
            return x + before

    class Fresh(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(1), requires_grad=False)

        def forward(self, x):
            y = self.w * 2
            y.add_(x)
            return y

    z = torch.zeros(1)
    for module, expected in ((Tick(), [1, 2, 3]), (Counted(), [0, 2, 4])):
        folded = split_const_subgraphs(copy.deepcopy(symbolic_trace(module)))
        assert [folded(z).item() for _ in range(3)] == expected
    folded = split_const_subgraphs(Fresh())
    assert [folded(torch.ones(1)).item() for _ in range(3)] == [3, 3, 3]


def test_random_draws_are_never_folded():
    class Noisy(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.full((64,), 0.5))

        def forward(self, x):
            return x + torch.bernoulli(self.w)

    folded = split_const_subgraphs(Noisy())
    assert not torch.equal(folded(torch.zeros(64)), folded(torch.zeros(64)))


def test_skipped_nodes_stay():
    folded = split_const_subgraphs(Net(), skip_folding_node_fn=lambda node: node.name == "mul")
    assert targets(folded.const_subgraph_module) == ["add"]


def test_names():
    module = nn.Linear(1, 1)
    assert get_unique_attr_name_in_module(module, "weight") == "weight_1"
    assert get_unique_attr_name_in_module(module, "a.b") == "a_b"
    assert get_unique_attr_name_in_module(module, "0") == "_0"
