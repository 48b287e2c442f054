"""B6: training flags, random draws and state changes happen at every call; no proxy stays behind."""

# ruff: noqa: PT017 - where a refusal is allowed, what it says is checked in the except block

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import symtrace as fx


class Dropout(nn.Module):
    def forward(self, x):
        return F.dropout(x, 0.5, self.training)


class KeywordDropout(nn.Module):
    def forward(self, x):
        return F.dropout(x, training=self.training)


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))
        self.register_buffer("var", torch.ones(3))

    def forward(self, x):
        return F.batch_norm(x, self.mean, self.var, training=self.training)


class NestedFlag(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Dropout(), KeywordDropout()

    def forward(self, x):
        return self.first(x) + self.second(x)


@pytest.mark.parametrize("make", [Dropout, KeywordDropout, Norm, NestedFlag], ids=lambda c: c.__name__)
@pytest.mark.parametrize("traced_in", [True, False])
def test_training_flag_is_read_live(make, traced_in):
    model = make().train(traced_in)
    gm = fx.symbolic_trace(model)
    x = torch.arange(12.0).view(4, 3)
    for mode in (False, True, False):
        model.train(mode), gm.train(mode)
        torch.manual_seed(0)
        expected = model(x)
        torch.manual_seed(0)
        assert torch.equal(gm(x), expected)


def test_one_submodule_alone_may_change_its_mode():
    model = NestedFlag()
    gm = fx.symbolic_trace(model)
    model.first.eval(), gm.first.eval()
    x = torch.ones(20)
    torch.manual_seed(0)
    expected = model(x)
    torch.manual_seed(0)
    assert torch.equal(gm(x), expected)


DRAWS = [
    lambda x: x + torch.rand(3),
    lambda x: x * torch.randn(3, dtype=torch.float64),
    lambda x: x + torch.randint(0, 9, (3,)),
    lambda x: x[torch.randperm(3)],
    lambda x: x + torch.empty(3).uniform_(),
    lambda x: x * torch.bernoulli(torch.full((3,), 0.5)),
    lambda x: x + torch.normal(torch.zeros(3), torch.ones(3)),
]


@pytest.mark.parametrize("program", DRAWS)
def test_each_call_draws_as_eager_does(program):
    gm = fx.symbolic_trace(program)
    x = torch.arange(3.0)
    torch.manual_seed(3)
    expected = [program(x) for _ in range(3)]
    torch.manual_seed(3)
    assert all(torch.equal(gm(x), e) for e in expected)


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1
        return x * self.n


class CounterLongForm(Counter):
    def forward(self, x):
        self.n = self.n + 1
        return x * self.n


class BufferCounter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.zeros(()))

    def forward(self, x):
        self.n += 1
        return x * self.n


class Cached(nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = None

    def forward(self, x):
        self.cache = x
        return x * 2


@pytest.mark.parametrize("make", [Counter, CounterLongForm, BufferCounter, Cached], ids=lambda c: c.__name__)
def test_state_changes_are_repeated_or_refused(make):
    model, eager = make(), make()
    try:
        gm = fx.symbolic_trace(model)
    except fx.TraceError as error:
        assert error.location is not None
        assert "self." in error.location.text
        return
    x = torch.ones(2)
    for _ in range(3):
        assert torch.equal(gm(x), eager(x))
    for name, value in vars(eager).items():
        if not name.startswith("_"):
            kept = getattr(gm, name)
            assert torch.equal(kept, value) if isinstance(value, torch.Tensor) else kept == value
    assert all(torch.equal(model(x), fresh) for fresh in [make()(x)]), (
        "the original must start from its own state"
    )


class Collects(nn.Module):
    def __init__(self):
        super().__init__()
        self.cache: list[torch.Tensor] = []

    def forward(self, x):
        self.cache.append(x)
        return x + len(self.cache)


class Remembers(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen: dict[str, torch.Tensor] = {}

    def forward(self, x):
        self.seen["last"] = x
        return x


@pytest.mark.parametrize("make", [Collects, Remembers], ids=lambda c: c.__name__)
def test_containers_of_the_module_never_hold_a_proxy(make):
    model = make()
    with pytest.raises(fx.TraceError) as caught:
        fx.symbolic_trace(model)
    assert caught.value.location is not None
    held = vars(model).get("cache", vars(model).get("seen"))
    assert len(held) == 0
