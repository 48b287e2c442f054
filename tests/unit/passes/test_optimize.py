"""`optimize`: the safe set, for training and for evaluation."""

import pytest
import torch
from torch import nn

from symtrace import optimize, symbolic_trace
from symtrace.testing import assert_equivalent

X = torch.rand(2, 3, 6, 6)


def model():
    layers = nn.Sequential(
        nn.Conv2d(3, 4, 3),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.Dropout(),
        nn.Identity(),
        nn.Conv2d(4, 4, 3),
        nn.Flatten(),
    )
    layers[1].running_mean.uniform_()
    layers[1].running_var.uniform_(0.5, 1)
    return layers


def kinds(gm):
    return [type(gm.get_submodule(n.target)) for n in gm.graph.nodes if n.op == "call_module"]


def test_for_evaluation():
    original = model().eval()
    gm = symbolic_trace(original)
    before = gm.code
    result = optimize(gm)
    assert kinds(result) == [nn.Conv2d, nn.ReLU, nn.Conv2d, nn.Flatten]
    assert gm.code == before
    with torch.no_grad():
        torch.testing.assert_close(result(X), original(X))
    assert isinstance(original[1], nn.BatchNorm2d)


def test_for_training_nothing_changes_but_identities():
    original = model()
    result = optimize(original)
    assert nn.Dropout in kinds(result)
    assert nn.Identity not in kinds(result)
    assert_equivalent(original, result, (X,), modes=[True, False])


def test_in_place():
    gm = symbolic_trace(model().eval())
    assert optimize(gm, inplace=True) is gm
    assert nn.BatchNorm2d not in kinds(gm)


def test_shapes_let_more_be_folded():
    original = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).eval()
    assert kinds(optimize(original)) == [nn.Linear, nn.BatchNorm1d]
    result = optimize(original, example_inputs=(torch.rand(2, 3),))
    assert kinds(result) == [nn.Linear]
    torch.testing.assert_close(result(X[0, 0, :, :3]), original(X[0, 0, :, :3]))


def test_another_pipeline():
    assert kinds(optimize(model().eval(), passes="remove-identity"))[-3:] == [
        nn.Dropout,
        nn.Conv2d,
        nn.Flatten,
    ]


@pytest.mark.parametrize("mode", [True, False])
def test_shared_layers_stay_as_they_are(mode):
    class Shared(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.norm = nn.Conv2d(3, 3, 1), nn.BatchNorm2d(3)

        def forward(self, x):
            return self.norm(self.conv(x)) + self.conv(x * 2)

    original = Shared().train(mode)
    assert_equivalent(original, optimize(original), (X,), state=mode, gradients=mode, rtol=1e-4, atol=1e-5)


class Pooled(nn.Module):
    def __init__(self, pool, channels=4):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4))
        self.pool, self.conv, self.norm = pool, nn.Conv2d(4, channels, 1), nn.BatchNorm2d(channels)
        self.last = nn.Sequential(nn.Conv2d(channels, 2, 1), nn.BatchNorm2d(2))

    def forward(self, x):
        y = nn.functional.interpolate(self.norm(self.conv(self.pool(self.first(x)))), 5)
        return self.last(y)


class Mean(nn.Module):
    def forward(self, x):
        return x.mean((2, 3), keepdim=True).relu()


@pytest.mark.parametrize(
    ("network", "left"),
    [(lambda: Pooled(nn.AdaptiveAvgPool2d(1)), 1), (lambda: Pooled(nn.AdaptiveMaxPool2d((1, 1))), 1),
     (lambda: Pooled(Mean()), 1), (lambda: Pooled(nn.Identity(), 1), 1), (lambda: Pooled(nn.AdaptiveAvgPool2d(2)), 0)],
)  # fmt: skip
@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
def test_layout_of_the_result_stays(network, left, layout):
    original = network().eval()
    result = optimize(original)
    assert kinds(result).count(nn.BatchNorm2d) == left
    x = X.contiguous(memory_format=layout)
    with torch.no_grad():
        expected, found = original(x), result(x)
    torch.testing.assert_close(found, expected)
    assert found.stride() == expected.stride()


def test_the_pass_folds_all_unless_told():
    gm = symbolic_trace(Pooled(nn.AdaptiveAvgPool2d(1)).eval())
    assert nn.BatchNorm2d not in kinds(optimize(gm, passes="fuse-conv-bn"))
