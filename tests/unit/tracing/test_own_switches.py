"""Roots whose class has a `train` or `__call__` of its own, or a `forward` on the instance."""

import copy

import torch
from torch import nn

import symtrace as fx


class FrozenNorm(nn.Module):
    """Keeps its batch norm in evaluation mode."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(2)
        self.drop = nn.Dropout(0.5)

    def train(self, mode=True):
        super().train(mode)
        self.norm.eval()
        return self

    def forward(self, x):
        return self.drop(self.norm(x))


def test_train_is_that_of_the_original():
    gm = fx.symbolic_trace(FrozenNorm())
    for module in (gm, copy.deepcopy(gm)):
        assert module.eval().train() is module
        assert module.training
        assert module.drop.training
        assert not module.norm.training
    outer = nn.Sequential(gm).train()
    assert not outer[0].norm.training


class Doubled(nn.Module):
    def forward(self, x):
        return x + 1

    def __call__(self, x):
        return super().__call__(x) * 2


def test_a_call_of_the_class_is_captured():
    model = Doubled()
    x = torch.randn(3)
    assert torch.equal(fx.symbolic_trace(model)(x), model(x))


def test_hooks_run_around_a_forward_on_the_instance():
    model = nn.Linear(2, 2)
    model.forward = lambda x: x - 1
    model.register_forward_hook(lambda module, args, result: result * 10)
    x = torch.randn(3, 2)
    assert torch.equal(fx.symbolic_trace(model)(x), model(x))
