"""Cases C43 to C48: pattern rewriting."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import symtrace as fx

from .support import targets


def pattern(x):
    return torch.sin(x) * 2


def write_between(x):
    a = torch.sin(x)
    x.add_(1)
    return a * 2


def write_through_a_view(x):
    a = torch.sin(x)
    x.view(-1).zero_()
    return a * 2


def write_by_setitem(x):
    a = torch.sin(x)
    x[0] = 3.0
    return a * 2


def write_by_function(x):
    a = torch.sin(x)
    F.relu(x, inplace=True)
    return a * 2


def write_by_augmented_assignment(x):
    a = torch.sin(x)
    x -= 1
    return a * 2


WRITES = [
    write_between,
    write_through_a_view,
    write_by_setitem,
    write_by_function,
    write_by_augmented_assignment,
]


@pytest.mark.parametrize("f", WRITES, ids=lambda f: f.__name__)
def test_c43_a_read_is_not_moved_past_a_write(f):
    gm = fx.symbolic_trace(f)
    fx.replace_pattern(gm, pattern, lambda x: torch.sin(x) * 2)
    a, b = torch.full((1,), 0.5), torch.full((1,), 0.5)
    assert torch.equal(gm(a), f(b))
    assert torch.equal(a, b)


def test_c43_without_a_write_it_matches():
    gm = fx.symbolic_trace(lambda x: pattern(x) + 1)
    assert len(fx.replace_pattern(gm, pattern, pattern)) == 1


def test_c43_a_write_to_something_else_does_not_matter():
    def f(x):
        a = torch.sin(x)
        y = torch.zeros(1)
        y.add_(1)
        return a * 2 + y

    gm = fx.symbolic_trace(f)
    assert len(fx.replace_pattern(gm, pattern, pattern)) == 1
    assert torch.equal(gm(torch.ones(1)), f(torch.ones(1)))


class Pool(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.pool = nn.MaxPool1d(k)

    def forward(self, x):
        return self.pool(x)


def _layer(make):
    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = make()

        def forward(self, x):
            return self.layer(x)

    return Layer()


def test_c45_other_settings_do_not_match():
    gm = fx.symbolic_trace(Pool(4))
    x = torch.arange(8.0).view(1, 1, 8)
    assert fx.replace_pattern(gm, Pool(2), lambda x: F.max_pool1d(x, 2)) == []
    assert gm(x).flatten().tolist() == [3.0, 7.0]


def test_c45_equal_settings_match():
    gm = fx.symbolic_trace(Pool(4))
    x = torch.arange(8.0).view(1, 1, 8)
    assert len(fx.replace_pattern(gm, Pool(4), lambda x: F.max_pool1d(x, 4))) == 1
    assert targets(gm, "call_module") == []
    assert gm(x).flatten().tolist() == [3.0, 7.0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda: nn.AvgPool1d(2), lambda: nn.AvgPool1d(4)),
        (lambda: nn.LeakyReLU(0.1), lambda: nn.LeakyReLU(0.5)),
        (lambda: nn.Softmax(dim=0), lambda: nn.Softmax(dim=1)),
        (lambda: nn.ReLU(inplace=False), lambda: nn.ReLU(inplace=True)),
        (lambda: nn.Dropout(0.1), lambda: nn.Dropout(0.9)),
        (lambda: nn.Flatten(0), lambda: nn.Flatten(1)),
    ],
)
def test_c45_settings_count_for_every_layer(one, other):
    gm = fx.symbolic_trace(_layer(one))
    assert fx.replace_pattern(gm, _layer(other), lambda x: torch.neg(x)) == []
    assert len(fx.replace_pattern(gm, _layer(one), lambda x: torch.neg(x))) == 1


def hits(model, wanted, **options):
    return len(fx.replace_pattern(fx.symbolic_trace(model), wanted, lambda x: torch.neg(x), **options))


def test_c46_spelling_that_always_matches():
    assert hits(lambda x: torch.flatten(x, 1), lambda x: torch.flatten(x, start_dim=1)) == 1
    assert hits(lambda x: torch.cumsum(x, 0), lambda x: torch.cumsum(x, dim=0)) == 1
    assert hits(lambda x: x.relu(), lambda x: torch.relu(x)) == 1
    assert hits(lambda x: torch.relu(x), lambda x: x.relu()) == 1
    assert hits(lambda x: torch.flatten(x), lambda x: torch.flatten(x, 0)) == 1


NORMALIZED = [
    (lambda x: F.relu(x), lambda x: torch.relu(x)),
    (lambda x: x + 1, lambda x: torch.add(x, 1)),
    (lambda x: 1 + x, lambda x: x + 1),
    (lambda x: torch.ones(1) + x, lambda x: x + torch.ones(1)),
    (lambda x: x.mul(2), lambda x: x * 2),
    (lambda x: 2 * x, lambda x: torch.mul(x, 2)),
]


@pytest.mark.parametrize(("model", "wanted"), NORMALIZED)
def test_c46_spelling_that_matches_when_normalised(model, wanted):
    assert hits(model, wanted, normalize=True) == 1


def test_c46_other_values_never_match():
    for options in ({}, {"normalize": True}):
        assert hits(lambda x: torch.flatten(x, 2), lambda x: torch.flatten(x, start_dim=1), **options) == 0
        assert hits(lambda x: x - 1, lambda x: 1 - x, **options) == 0
        assert hits(lambda x: x + 2, lambda x: torch.add(x, 1), **options) == 0
        assert hits(lambda x: torch.add(x, 1, alpha=2), lambda x: x + 1, **options) == 0
        assert hits(lambda x: F.relu(x, inplace=True), lambda x: torch.relu(x), **options) == 0


def test_c48_replacements_inherit_metadata():
    gm = fx.symbolic_trace(lambda x: torch.relu(x))
    for n in gm.graph.nodes:
        n.meta["shape"] = (4,)
    fx.replace_pattern(gm, lambda x: torch.relu(x), lambda x: torch.neg(x))
    assert [(n.name, n.meta.get("shape")) for n in gm.graph.nodes] == [
        ("x", (4,)),
        ("neg", (4,)),
        ("output", (4,)),
    ]


def test_c48_matched_and_replacing_metadata_are_independent():
    gm = fx.symbolic_trace(lambda x: torch.relu(x) + torch.relu(x + 1))
    for n in gm.graph.nodes:
        n.meta["tag"] = n.name
    fx.replace_pattern(gm, lambda x: torch.relu(x), lambda x: torch.neg(x))
    assert [n.meta["tag"] for n in gm.graph.nodes if n.target is torch.neg] == ["relu", "relu_1"]
