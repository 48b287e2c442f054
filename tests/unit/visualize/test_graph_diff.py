"""Differences of graphs, as text and as data."""

import copy

import torch
from torch import nn

from symtrace import diff, symbolic_trace
from symtrace.passes import optimize


def net():
    return symbolic_trace(
        nn.Sequential(
            nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2), nn.ReLU(), nn.Conv2d(2, 2, 1), nn.Dropout()
        ).eval()
    )


def test_equal_graphs_have_no_difference():
    gm = net()
    for other in (gm, copy.deepcopy(gm)):
        found = diff(gm, other)
        assert not found
        assert str(found) == "nodes: no difference"


def test_names_of_nodes_are_no_difference():
    left, right = (symbolic_trace(f) for f in (lambda x: torch.relu(x) + 1, lambda y: torch.relu(y) + 1))
    right.graph.node("relu").name = "other"
    found = diff(left, right)
    assert [(a.name, b.name) for a, b in found.changed] == [("x", "y")]  # which callers see
    assert (found.removed, found.added, found.moved) == ((), (), ())


def test_what_an_optimisation_did():
    gm = net()
    found = diff(gm, optimize(gm))
    assert [n.name for n in found.removed] == ["_1", "_4"]
    assert not found.added
    assert [a.name for a, _ in found.changed] == ["_2", "output"]
    assert [line.split(":")[0] for line in found.modules] == ["~ 0", "- 1", "- 4"]
    text = str(found)
    assert text.splitlines()[0] == "nodes: 2 removed, 2 changed; modules: 3 differ"
    assert "- _1 = BatchNorm2d(_0)\n- _2 = ReLU(_1)\n+ _2 = ReLU(_0)" in text


def test_unchanged_stretches_are_left_out():
    def program(last):
        def run(x):
            for _ in range(30):
                x = torch.sin(x)
            return last(x)

        return symbolic_trace(run)

    found = diff(program(torch.relu), program(torch.tanh))
    assert len(str(found).splitlines()) == 8
    assert "@ ... 29 nodes" in str(found)


def test_moves_are_told_from_changes():
    gm = symbolic_trace(lambda x: (torch.sin(x), torch.cos(x)))
    other = copy.deepcopy(gm)
    other.graph.node("sin").prepend(other.graph.node("cos"))
    found = diff(gm, other)
    assert (found.removed, found.added, found.changed) == ((), (), ())
    assert len(found.moved) == 1
    assert found.summary == "nodes: 1 moved"


def test_other_weights_and_settings_are_told():
    gm = net()
    other = copy.deepcopy(gm)
    with torch.no_grad():
        other.get_submodule("0").weight.add_(1)
    other.get_submodule("1").eps = 1e-3
    assert diff(gm, other).modules == (
        "~ 0: other values of weight",
        "~ 1: BatchNorm2d(2, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True) -> "
        "BatchNorm2d(2, eps=0.001, momentum=0.1, affine=True, bias=True, track_running_stats=True)",
    )


def test_a_deep_graph_is_compared():
    def chain(count):
        def run(x):
            for _ in range(count):
                x = -x
            return x

        return symbolic_trace(run)

    assert len(diff(chain(5000), chain(5001)).added) == 1
