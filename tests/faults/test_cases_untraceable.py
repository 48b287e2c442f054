"""Cases C68 to C79: programs that today do not trace.

PYTEST_DONT_REWRITE: the programs have assert statements of their own, which must stay what they are.
"""

# ruff: noqa: PT017 - where a refusal is allowed, what it says is checked in the except block

import sys

import pytest
import torch
from torch import nn

import symtrace as fx


def pick(x):
    score = x.sum()
    if score > 0:
        return x * 2
    return x - 1


def loop(x):
    while x.sum() > 0:
        x = x - 1
    return x


def ternary(x):
    return x if x.max() > 0 else -x


def both(x):
    return x if x.sum() > 0 and x.min() < 0 else -x


def negated(x):
    return -x if not x.any() else x


def asserted(x):
    assert x.sum() > 0
    return x


def iterated(x):
    return sum(row for row in x)


CONTROL_FLOW = [
    (pick, "if score > 0"),
    (loop, "while x.sum() > 0"),
    (ternary, "x.max() > 0"),
    (both, "x.sum() > 0"),
    (negated, "not x.any()"),
    (asserted, "assert x.sum() > 0"),
    (iterated, "for row in x"),
]


@pytest.mark.parametrize(("f", "text"), CONTROL_FLOW, ids=[f.__name__ for f, _ in CONTROL_FLOW])
def test_c68_the_error_says_where_and_what(f, text):
    with pytest.raises(fx.TraceError) as caught:
        fx.symbolic_trace(f)
    message = str(caught.value)
    assert text in message
    assert f"{__name__.rsplit('.', 1)[-1]}.py:{caught.value.location.line}" in message
    assert caught.value.location.text in message
    assert len(caught.value.hints) >= 2
    assert caught.value.code.startswith("ST")


def test_c68_the_error_names_the_traced_values():
    with pytest.raises(fx.TraceError) as caught:
        fx.symbolic_trace(pick)
    message = str(caught.value)
    assert "gt" in message
    assert "sum" in message
    assert "x" in message


class Gray(nn.Module):
    def forward(self, x):
        if x.dim() == 3:
            x = x.unsqueeze(0)
        if x.size(1) != 1:
            x = x.mean(1, keepdim=True)
        return x


class Rank(nn.Module):
    def forward(self, x):
        if len(x.shape) == 4 and x.shape[-1] > 2:
            return x.flatten(1)
        return x


class Types(nn.Module):
    def forward(self, x):
        if x.dtype == torch.float32 and x.device.type == "cpu":
            return x * 2
        return x


def _eager_or_guard(gm, m, x):
    try:
        out = gm(x)
    except fx.errors.GuardError as error:
        assert error.location is not None
        assert "if " in str(error)
        return
    assert torch.equal(out, m(x))


@pytest.mark.parametrize("make", [Gray, Rank, Types], ids=lambda c: c.__name__)
def test_c69_decisions_on_shapes_and_types(make):
    m, example = make(), torch.ones(2, 3, 4, 4)
    gm = fx.capture(m, (example,))
    for x in (example, torch.rand(5, 3, 4, 4), torch.rand(2, 3, 6, 6)):
        assert torch.equal(gm(x), m(x))
    for x in (
        torch.rand(3, 4, 4),
        torch.rand(2, 1, 4, 4),
        torch.rand(2, 3, 4, 2),
        torch.rand(2, 3, 4, 4).double(),
    ):
        _eager_or_guard(gm, m, x)


def heads_ok(x):
    s = (*x.size()[:-1], 2, 3)
    return x.view(s)


def heads_star(x):
    s = x.size()[:-1] + (2, 3)  # noqa: RUF005
    return x.view(*s)


def heads_unpacked(x):
    b, t, _ = x.shape
    return x.view(b, t, 2, 3)


def star_reshape(x):
    return x.reshape(*x.shape[:2], 3, -1)


@pytest.mark.parametrize("f", [heads_ok, heads_star, heads_unpacked, star_reshape], ids=lambda f: f.__name__)
def test_c70_shapes_as_arguments(f):
    gm = fx.capture(f, (torch.zeros(4, 5, 6),))
    for size in ((4, 5, 6), (2, 3, 6), (1, 7, 6)):
        x = torch.rand(size)
        assert torch.equal(gm(x), f(x))


FACTORIES = {
    "zeros((n, 3))": lambda x: torch.zeros((x.shape[0], 3)),
    "arange(n)": lambda x: torch.arange(x.shape[0]),
    "zeros(n, 3)": lambda x: torch.zeros(x.shape[0], 3),
    "randn(n, 3)": lambda x: torch.randn(x.shape[0], 3),
    "tensor(n)": lambda x: torch.tensor(x.shape[0]),
    "Size([n, 2])": lambda x: x.new_zeros(torch.Size([x.shape[0], 2])),
}


@pytest.mark.parametrize("name", FACTORIES)
def test_c72_factories_with_traced_sizes(name):
    f = FACTORIES[name]
    gm = fx.symbolic_trace(f)
    for n in (2, 5):
        x = torch.ones(n)
        torch.manual_seed(1)
        expected = f(x)
        torch.manual_seed(1)
        assert torch.equal(gm(x), expected)


def test_c74_item_assignment():
    def f(x):
        y = x.clone()
        y[:, 0] = 0
        return y

    gm = fx.symbolic_trace(f)
    gm.graph.eliminate_dead_code()
    assert gm(torch.ones(2, 2)).tolist() == [[0.0, 1.0], [0.0, 1.0]]


class Picks(nn.Module):
    def pick(self, x):
        return x if x.sum() > 0 else -x

    @staticmethod
    def pick_static(x):
        return x if x.sum() > 0 else -x

    @classmethod
    def pick_class(cls, x):
        return x if x.sum() > 0 else -x

    def forward(self, x):
        return self.pick(x)


def build_nested():
    @fx.wrap
    def inner(x):
        return x if x.sum() > 0 else -x

    return inner


def test_c76_a_method_may_be_wrapped_or_is_refused_by_wrap():
    try:
        fx.wrap(Picks.pick)
    except Exception as error:
        assert "wrap" in str(error)
    else:
        assert fx.symbolic_trace(Picks())(torch.tensor(-1.0)).item() == 1.0
    assert fx.symbolic_trace(lambda x: x + 1)(torch.tensor(1.0)).item() == 2.0


def test_c76_a_nested_function_may_be_wrapped():
    inner = build_nested()
    assert fx.symbolic_trace(lambda x: inner(x))(torch.tensor(-1.0)).item() == 1.0
    assert fx.symbolic_trace(lambda x: x + 1)(torch.tensor(1.0)).item() == 2.0


@pytest.mark.parametrize("bad", [3, None, object()])
def test_c76_what_cannot_be_wrapped_is_refused_at_once(bad):
    with pytest.raises((TypeError, ValueError, RuntimeError)):
        fx.wrap(bad)
    assert fx.symbolic_trace(lambda x: x + 1)(torch.tensor(1.0)).item() == 2.0


class InlineReLU(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(2, 2)

    def forward(self, x):
        return nn.ReLU()(self.lin(x))


class InlineSequential(InlineReLU):
    def forward(self, x):
        return nn.Sequential(self.lin, nn.Tanh())(x)


class InlineLinear(InlineReLU):
    def forward(self, x):
        layer = nn.Linear(2, 2, bias=False)
        layer.weight = self.lin.weight
        return layer(x)


@pytest.mark.parametrize("make", [InlineReLU, InlineSequential, InlineLinear], ids=lambda c: c.__name__)
def test_c77_layers_made_in_forward(make):
    m = make()
    try:
        gm = fx.symbolic_trace(m)
    except fx.TraceError as error:
        assert any(name in str(error) for name in ("ReLU", "Tanh", "Linear"))
        assert error.location is not None
        return
    x = torch.randn(3, 2)
    assert torch.equal(gm(x), m(x))


def test_c77_the_plain_one_traces():
    m = InlineReLU()
    x = torch.randn(3, 2)
    assert torch.equal(fx.symbolic_trace(m)(x), m(x))


def equal_size(x):
    assert x.shape[0] == 2
    return x + 1


def with_message(x):
    assert x.shape[0] == 2, "two rows, please"
    return x + 1


def truth(x):
    assert x.any()
    return x + 1


@pytest.mark.parametrize(
    ("f", "bad"),
    [
        (equal_size, torch.zeros(3)),
        (with_message, torch.zeros(3)),
        (truth, torch.zeros(2)),
    ],
)
def test_c79_asserts_are_traced(f, bad):
    tracer = fx.Tracer()
    tracer.trace_asserts = True
    graph = tracer.trace(f)
    assert any(n.target is torch._assert for n in graph.nodes), sys.version_info
    gm = fx.GraphModule(nn.Module(), graph)
    assert torch.equal(gm(torch.ones(2)), torch.full((2,), 2.0))
    with pytest.raises(AssertionError, match="two rows" if f is with_message else None):
        gm(bad)
    gm.graph.eliminate_dead_code()
    with pytest.raises(AssertionError):
        gm(bad)
