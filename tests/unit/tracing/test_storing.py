"""Pickling a captured module stores none of the user's classes, so that loading it needs none of the user's code."""

import pickle

import torch
from torch import nn

import symtrace as fx


def make_model():
    class Settings:
        pass

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = nn.Linear(2, 2)
            self.act = nn.ReLU()

        def forward(self, x):
            return self.act(self.lin(x))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.ModuleList([Block(), Block()])
            self.head = nn.Sequential(Block(), nn.Linear(2, 1))
            self.settings = Settings()
            self.width = 2
            self.register_buffer("scale", torch.ones(1), persistent=False)

        def forward(self, x):
            for block in self.blocks:
                x = block(x)
            return self.head(x) * self.scale

    return Net()


def test_classes_that_no_one_could_import_are_no_hindrance():
    model = make_model()
    gm = fx.symbolic_trace(model)
    stored = pickle.dumps(gm)
    back = pickle.loads(stored)
    x = torch.randn(3, 2)
    assert torch.equal(back(x), model(x))
    assert back.code == gm.code
    assert [n.name for n in back.graph.nodes] == [n.name for n in gm.graph.nodes]
    assert list(back.state_dict()) == list(model.state_dict())
    assert back.width == 2
    assert not hasattr(back, "settings")


def test_containers_and_layers_keep_their_class():
    back = pickle.loads(pickle.dumps(fx.symbolic_trace(make_model())))
    assert type(back.blocks) is nn.ModuleList
    assert type(back.head) is nn.Sequential
    assert type(back.head[1]) is nn.Linear
    back.eval()
    assert not back.blocks[0].act.training


def test_the_original_class_is_imported_only_when_it_is_asked_for():
    gm = fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2)))
    back = pickle.loads(pickle.dumps(gm))
    assert "original_class" not in back.__dict__
    assert back.original_class is nn.Sequential


def test_a_tied_module_stays_tied():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(2, 2)
            self.b = self.a

        def forward(self, x):
            return self.b(self.a(x))

    back = pickle.loads(pickle.dumps(fx.symbolic_trace(Tied())))
    assert back.a is back.b
