"""Cases C49 to C56: splitting, fusing, common subexpressions, constant folding."""

import copy

import pytest
import torch
from torch import nn

import symtrace as fx

from .support import targets


def split(gm, stage):
    from symtrace.passes.split_module import split_module

    return split_module(gm, None, stage)


def _write_method(x):
    a = x.clone()
    a.add_(1)
    return a * 2


def _write_setitem(x):
    a = x.clone()
    a[0] = 5
    return a * 2


def _write_input(x):
    x.add_(1)
    return x * 2


def _write_between_reads(x):
    a = x.clone()
    b = a * 3
    a.zero_()
    return a * 2 + b


@pytest.mark.parametrize(
    "f", [_write_method, _write_setitem, _write_input, _write_between_reads], ids=lambda f: f.__name__
)
def test_c49_stages_keep_the_order_of_writes(f):
    gm = fx.symbolic_trace(f)
    position = {n.name: i for i, n in enumerate(gm.graph.nodes)}
    parts = split(copy.deepcopy(gm), lambda n: position[n.name])
    x, y = torch.ones(2), torch.ones(2)
    assert torch.equal(parts(x), gm(y))
    assert torch.equal(x, y)


def test_c49_stage_order():
    gm = fx.symbolic_trace(_write_method)
    stage = {"clone": 0, "add_": 1, "mul": 2}
    parts = split(gm, lambda n: stage[n.name])
    assert targets(parts, "call_module") == ["submod_0", "submod_1", "submod_2"]
    assert parts(torch.zeros(1)).item() == 2.0


class TakenParameter(nn.Module):
    def __init__(self):
        super().__init__()
        self.submod_1 = nn.Parameter(torch.full((1,), 3.0))

    def forward(self, x):
        return torch.relu(x) * self.submod_1


class TakenModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.submod_0 = nn.Linear(1, 1)

    def forward(self, x):
        return self.submod_0(torch.relu(x)) * 2


class TakenBuffer(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("submod_0", torch.full((1,), 4.0))

    def forward(self, x):
        return torch.relu(x) + self.submod_0


@pytest.mark.parametrize("make", [TakenParameter, TakenModule, TakenBuffer], ids=lambda c: c.__name__)
def test_c51_stage_names_avoid_existing_attributes(make):
    m = make()
    gm = fx.symbolic_trace(m)
    parts = split(gm, lambda n: 0 if n.name == "relu" else 1)
    x = torch.ones(1, 1)
    assert torch.equal(parts(x), m(x))


class SharedConvolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 1, 1)
        self.norm = nn.BatchNorm2d(1)

    def forward(self, x, y):
        return self.norm(self.conv(x)), self.conv(y)


class SharedNorm(SharedConvolution):
    def forward(self, x, y):
        return self.norm(self.conv(x)), self.norm(y)


class ReadResult(SharedConvolution):
    def forward(self, x, y):
        z = self.conv(x)
        return self.norm(z), z + y


class ReadParameter(SharedConvolution):
    def forward(self, x, y):
        return self.norm(self.conv(x)), y * self.conv.weight


class TwoNames(SharedConvolution):
    def __init__(self):
        super().__init__()
        self.alias = self.conv

    def forward(self, x, y):
        return self.norm(self.conv(x)), self.alias(y)


def _fuse(model):
    from symtrace.experimental.optimization import fuse

    return fuse(model)


def _settled(make):
    torch.manual_seed(0)
    m = make().eval()
    m.norm.running_mean.fill_(1.0)
    m.norm.running_var.fill_(4.0)
    return m


@pytest.mark.parametrize(
    "make", [SharedConvolution, SharedNorm, ReadResult, ReadParameter, TwoNames], ids=lambda c: c.__name__
)
def test_c53_what_is_shared_keeps_its_value(make):
    m = _settled(make)
    x = torch.ones(1, 1, 1, 1)
    for a, b in zip(m(x, x), _fuse(m)(x, x), strict=True):
        torch.testing.assert_close(a, b)


def test_c53_a_pair_used_once_is_fused():
    class Once(SharedConvolution):
        def forward(self, x):
            return self.norm(self.conv(x))

    m = _settled(Once)
    fused = _fuse(m)
    x = torch.ones(1, 1, 1, 1)
    torch.testing.assert_close(fused(x), m(x))
    assert len(targets(fused, "call_module")) == 1


aten = torch.ops.aten


def _noise(g, x):
    p, q = (g.call_function(aten.poisson.default, (x,)) for _ in range(2))
    return (g.call_function(aten.sub.Tensor, (p, q)),)


def _bernoulli(g, x):
    p, q = (
        g.call_function(aten.bernoulli.default, (g.call_function(aten.sigmoid.default, (x * 0,)),))
        for _ in range(2)
    )
    return (g.call_function(aten.sub.Tensor, (p, q)),)


def _written(g, x):
    a, b = (g.call_function(aten.clone.default, (x,)) for _ in range(2))
    g.call_function(aten.zero_.default, (a,))
    return a, b


def _written_through_a_view(g, x):
    a, b = (g.call_function(aten.clone.default, (x,)) for _ in range(2))
    view = g.call_function(aten.view.default, (a, [-1]))
    g.call_function(aten.zero_.default, (view,))
    return a, b


def _reads_around_a_write(g, x):
    y = g.call_function(aten.clone.default, (x,))
    a = g.call_function(aten.neg.default, (y,))
    g.call_function(aten.zero_.default, (y,))
    b = g.call_function(aten.neg.default, (y,))
    return a, b


def _cse(body):
    from symtrace.passes.dialect.common.cse_pass import CSEPass

    g = fx.Graph()
    g.output(body(g, g.placeholder("x")))
    return CSEPass()(fx.GraphModule(nn.Module(), g)).graph_module


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (_noise, [True]),
        (_written, [False, True]),
        (_written_through_a_view, [False, True]),
        (_reads_around_a_write, [True, False]),
    ],
)
def test_c54_draws_and_written_values_are_not_merged(body, expected):
    gm = _cse(body)
    assert [bool(t.any()) for t in gm(torch.full((64,), 50.0))] == expected


def test_c54_equal_pure_nodes_are_merged():
    def pure(g, x):
        a, b = (g.call_function(aten.neg.default, (x,)) for _ in range(2))
        return (g.call_function(aten.add.Tensor, (a, b)),)

    assert len(targets(_cse(pure), "call_function")) == 2


class Tick(nn.Module):
    def __init__(self):
        super().__init__()
        self.t = nn.Parameter(torch.zeros(1), requires_grad=False)

    def forward(self, x):
        return x + self.t.add_(1)


class TickFunction(Tick):
    def forward(self, x):
        return x + torch.add(self.t, 1, out=self.t)


class TickThenRead(Tick):
    def forward(self, x):
        self.t.add_(1)
        return x + self.t * 2


class DrawOfAParameter(Tick):
    def forward(self, x):
        return x + torch.bernoulli(self.t + 0.5)


def _fold(gm):
    from symtrace.experimental.const_fold import split_const_subgraphs

    return split_const_subgraphs(copy.deepcopy(gm))


@pytest.mark.parametrize("make", [Tick, TickFunction, TickThenRead], ids=lambda c: c.__name__)
def test_c56_writes_are_never_folded(make):
    gm = fx.symbolic_trace(make())
    folded, z, eager = _fold(gm), torch.zeros(1), make()
    expected = [eager(z).item() for _ in range(3)]
    assert [gm(z).item() for _ in range(3)] == expected
    assert [folded(z).item() for _ in range(3)] == expected


def test_c56_draws_are_never_folded():
    folded = _fold(fx.symbolic_trace(DrawOfAParameter()))
    assert len({folded(torch.zeros(1)).item() for _ in range(64)}) == 2


def test_c56_pure_expressions_are_folded():
    class Pure(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.full((1,), 3.0))

        def forward(self, x):
            return x + torch.neg(self.w) * 2

    folded = _fold(fx.symbolic_trace(Pure()))
    assert torch.neg not in targets(folded, "call_function")
    if hasattr(folded, "run_folding"):
        folded.run_folding()
    assert folded(torch.zeros(1)).item() == -6.0
