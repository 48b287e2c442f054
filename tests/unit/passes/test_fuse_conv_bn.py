"""Batch normalisation is folded into the layer in front of it where that is right."""

import pytest
import torch
from torch import nn

from symtrace import symbolic_trace
from symtrace.experimental.optimization import (
    UnionFind,
    extract_subgraph,
    fuse,
    matches_module_pattern,
    remove_dropout,
    replace_node_module,
)
from symtrace.passes.fuse_conv_bn import fuse_conv_bn
from symtrace.passes.shape_prop import ShapeProp


def settled(norm):
    with torch.no_grad():
        norm.running_mean.uniform_()
        norm.running_var.uniform_(0.5, 2)
        norm.weight.uniform_()
        norm.bias.uniform_()
    return norm


def calls(gm):
    return [type(gm.get_submodule(n.target)) for n in gm.graph.nodes if n.op == "call_module"]


@pytest.mark.parametrize(("conv", "norm", "dims"), [
    (nn.Conv1d, nn.BatchNorm1d, 1), (nn.Conv2d, nn.BatchNorm2d, 2), (nn.Conv3d, nn.BatchNorm3d, 3),
])  # fmt: skip
def test_pairs_are_fused(conv, norm, dims):
    model = nn.Sequential(conv(2, 3, 1), settled(norm(3)), nn.ReLU()).eval()
    before = {k: v.clone() for k, v in model.state_dict().items()}
    fused = fuse(model)
    assert calls(fused) == [conv, nn.ReLU]
    x = torch.rand(2, 2, *[4] * dims)
    assert torch.allclose(fused(x), model(x), atol=1e-6)
    assert all(torch.equal(v, before[k]) for k, v in model.state_dict().items())
    assert not any(isinstance(m, norm) for m in fused.modules())


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 1, 1)
        self.norm = settled(nn.BatchNorm2d(1))

    def forward(self, x, y):
        return self.norm(self.conv(x)), self.conv(y)


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 1, 1)
        self.other = self.conv
        self.norm = settled(nn.BatchNorm2d(1))

    def forward(self, x, y):
        return self.norm(self.conv(x)), self.other(y) * self.conv.weight.sum()


@pytest.mark.parametrize("model", [Two(), Tied()])
@pytest.mark.parametrize("inplace", [False, True])
def test_shared_layers_stay_as_they_are_elsewhere(model, inplace):
    x = torch.rand(1, 1, 2, 2)
    expected = model.eval()(x, x)
    fused = fuse(model, inplace=inplace)
    assert nn.BatchNorm2d not in calls(fused)
    for left, right in ((fused(x, x), expected), (model(x, x), expected)):
        assert all(torch.allclose(a, b, atol=1e-6) for a, b in zip(left, right, strict=True))


def hooked():
    conv = nn.Conv2d(1, 1, 1)
    conv.register_forward_hook(lambda *_: None)
    return conv


class Leaks(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 1, 1)
        self.norm = settled(nn.BatchNorm2d(1))

    def forward(self, x):
        y = self.conv(x)
        return self.norm(y) + y


@pytest.mark.parametrize(
    "model",
    [
        Leaks(),
        nn.Sequential(hooked(), settled(nn.BatchNorm2d(1))),
        nn.Sequential(nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1, track_running_stats=False)),
        nn.Sequential(nn.Conv2d(1, 1, 1), nn.ReLU(), nn.BatchNorm2d(1)),
        nn.Sequential(nn.Linear(2, 2), settled(nn.BatchNorm1d(2))),
    ],
)
def test_other_pairs_are_left_alone(model):
    gm = symbolic_trace(model.eval())
    text = str(gm.graph)
    assert fuse_conv_bn(gm) is False
    assert str(gm.graph) == text


def test_linear_layers_are_fused_where_the_rank_is_known():
    model = nn.Sequential(nn.Linear(2, 3), settled(nn.BatchNorm1d(3))).eval()
    gm = symbolic_trace(model)
    x = torch.rand(4, 2)
    ShapeProp(gm).propagate(x)
    assert fuse_conv_bn(gm) is True
    assert calls(gm) == [nn.Linear]
    assert torch.allclose(gm(x), model(x), atol=1e-6)


def test_training_mode_is_refused_and_nothing_changes():
    gm = symbolic_trace(nn.Sequential(nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1)))
    text = str(gm.graph)
    with pytest.raises(RuntimeError, match="Fusion only for eval") as caught:
        fuse_conv_bn(gm)
    assert caught.value.code == "ST235"
    assert str(gm.graph) == text


def test_dropout_is_removed():
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(), nn.ReLU())
    gm = remove_dropout(model)
    assert calls(gm) == [nn.Linear, nn.ReLU]
    x = torch.rand(2)
    assert torch.equal(gm(x), model.eval()(x))


def test_small_tools():
    gm = symbolic_trace(nn.Sequential(nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1)))
    modules = dict(gm.named_modules())
    conv, norm = (n for n in gm.graph.nodes if n.op == "call_module")
    assert matches_module_pattern((nn.Conv2d, nn.BatchNorm2d), norm, modules)
    assert not matches_module_pattern((nn.Linear, nn.BatchNorm2d), norm, modules)
    part = extract_subgraph(gm, [conv], list(conv.all_input_nodes), [conv])
    x = torch.rand(1, 1, 2, 2)
    assert torch.equal(part(x)[0], gm.get_submodule("0")(x))
    replace_node_module(norm, modules, nn.Identity())
    assert isinstance(gm.get_submodule("1"), nn.Identity)
    sets = UnionFind(4)
    for v in range(3):
        sets.make_set(v)
    sets.join(0, 1)
    assert sets.find(0) == sets.find(1) != sets.find(2)
    with pytest.raises(ValueError, match="make_set"):
        sets.find(3)
