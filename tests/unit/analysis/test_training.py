"""Layers in evaluation mode keep the order that matters when they are trained later."""

import copy

import pytest
import torch
from torch import nn

from symtrace import symbolic_trace
from symtrace.analysis import EffectAnalysis, effect_edges
from symtrace.partition import PartitionError
from symtrace.passes import Pipeline, split_module


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop, self.other, self.norm = nn.Dropout(), nn.Dropout(), nn.BatchNorm1d(3)
        self.linear, self.norm_2 = nn.Linear(3, 3), nn.BatchNorm1d(3)


class Drops(Layers):
    def forward(self, x):
        return self.drop(x), self.other(x), self.drop(x)


class Normalises(Layers):
    def forward(self, x):
        return self.norm(x), self.norm(x * 2), self.norm_2(x)


def edges(gm):
    return {(first.name, second.name) for first, second in effect_edges(gm.graph)}


def test_draws_stay_in_order():
    assert edges(symbolic_trace(Drops().eval())) == {("drop", "other"), ("other", "drop_1")}


def test_statistics_of_one_layer_stay_in_order():
    assert edges(symbolic_trace(Normalises().eval())) == {("norm", "norm_1")}


def test_a_call_may_not_move_past_its_like():
    for model in (Drops(), Normalises()):
        gm = symbolic_trace(model.eval())
        nodes = [node for node in gm.graph.nodes if node.op == "call_module"]
        analysis = EffectAnalysis(gm.graph)
        assert not analysis.may_move(nodes[1], nodes[0], ())
        assert not analysis.may_move(nodes[0], nodes[2], ())
    assert analysis.may_move(nodes[2], nodes[0], ())  # another layer


def test_a_split_that_would_exchange_draws_is_refused():
    gm = symbolic_trace(Drops().eval())
    with pytest.raises(PartitionError):
        split_module.split_module(gm, None, lambda node: 0 if node.target == "drop" else 1)


class Between(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))

    def forward(self, x):
        return self.block(x), self.block(x * 2), self.block(x * 3)


def test_outlining_keeps_statistics():
    model = Between().eval()
    gm = symbolic_trace(model)
    place = {node: index // 2 for index, node in enumerate(gm.graph.nodes)}
    gm = split_module.split_module(gm, None, place.__getitem__)
    Pipeline("outline{path=block}")(gm)
    x = torch.rand(4, 3)
    model, gm = copy.deepcopy(model).train(), gm.train()
    model(x), gm(x)
    norms = [part for part in gm.modules() if isinstance(part, nn.BatchNorm1d)]
    assert all(torch.allclose(part.running_mean, model.block[1].running_mean) for part in norms)
