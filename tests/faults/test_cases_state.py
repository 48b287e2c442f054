"""Cases C01 to C20: state and effects at capture."""

# ruff: noqa: PT017 - where a refusal is allowed, what it says is checked in the except block

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import symtrace as fx

from .support import gradient, node, targets


class Noisy(nn.Module):
    def forward(self, x):
        return F.dropout(x, 0.5, self.training)


class AlphaNoisy(nn.Module):
    def forward(self, x):
        return (
            F.alpha_dropout(x, training=self.training)
            + F.feature_alpha_dropout(x[None, None], 0.5, self.training)[0, 0]
        )


class NotTraining(nn.Module):
    def forward(self, x):
        return F.dropout(x, 0.5, training=not self.training)


@pytest.mark.parametrize("make", [Noisy, AlphaNoisy], ids=lambda c: c.__name__)
@pytest.mark.parametrize("start", [True, False])
def test_c01_functional_dropout_follows_the_mode(make, start):
    m = make().train(start)
    gm = fx.symbolic_trace(m)
    for mode in (False, True):
        m.train(mode), gm.train(mode)
        torch.manual_seed(0)
        expected = m(torch.ones(6))
        torch.manual_seed(0)
        assert torch.equal(gm(torch.ones(6)), expected)


def test_c01_a_flag_in_a_python_expression_is_live_or_guarded():
    m = NotTraining().train()
    try:
        gm = fx.symbolic_trace(m)
    except fx.TraceError as error:
        assert "self.training" in error.location.text
        return
    gm.eval(), m.eval()
    torch.manual_seed(0)
    expected = m(torch.ones(6))
    torch.manual_seed(0)
    try:
        assert torch.equal(gm(torch.ones(6)), expected)
    except fx.errors.GuardError as error:
        assert "training" in str(error)


def mix(a):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        b = torch.mm(a, a)
    return b


def mix_layer(a):
    with torch.autocast(device_type="cpu", dtype=torch.bfloat16, enabled=True):
        b = F.linear(a, a)
    return b


@pytest.mark.parametrize("program", [mix, mix_layer], ids=lambda f: f.__name__)
def test_c03_autocast_is_kept(program):
    gm = fx.symbolic_trace(program)
    a = torch.ones(2, 2)
    assert gm(a).dtype is program(a).dtype is torch.bfloat16
    assert "autocast" in gm.code


class Snap(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        return v.round()

    @staticmethod
    def backward(ctx, g):
        return g


@pytest.mark.parametrize("f", [lambda x: Snap.apply(x) * 3, lambda x: Snap.apply(Snap.apply(x * 1) + x)])
def test_c04_straight_through_estimator(f):
    x = torch.tensor([0.4, 1.6])
    assert torch.equal(gradient(fx.symbolic_trace(f), x)[0], gradient(f, x)[0])


def accumulate(x):
    acc = torch.ones(1)
    acc.add_(x)
    return acc


def accumulate_literal(x):
    acc = torch.tensor([1.0])
    acc += x
    return acc


@pytest.mark.parametrize("f", [accumulate, accumulate_literal], ids=lambda f: f.__name__)
def test_c06_constants_are_made_anew(f):
    gm = fx.symbolic_trace(f)
    one = torch.tensor([1.0])
    assert [gm(one).item() for _ in range(3)] == [2.0, 2.0, 2.0]


class Ema(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("avg", torch.zeros(1))

    def forward(self, x):
        self.avg = self.avg * 0.5 + x.mean()
        return x - self.avg


class EmaInplace(Ema):
    def forward(self, x):
        self.avg.mul_(0.5).add_(x.mean())
        return x - self.avg


class EmaCopy(Ema):
    def forward(self, x):
        self.avg.copy_(self.avg * 0.5 + x.mean())
        return x - self.avg


class EmaNested(nn.Module):
    def __init__(self):
        super().__init__()
        self.ema = Ema()

    @property
    def avg(self):
        return self.ema.avg

    def forward(self, x):
        return self.ema(x)


@pytest.mark.parametrize("make", [Ema, EmaInplace, EmaCopy, EmaNested], ids=lambda c: c.__name__)
def test_c08_buffers_change_in_the_captured_module_only(make):
    m = make()
    before = m.avg
    try:
        gm = fx.symbolic_trace(m)
    except fx.TraceError as error:
        assert "self.avg" in error.location.text
        gm = None
    assert m.avg is before
    assert m.avg.item() == 0.0
    assert type(m(torch.ones(2))) is torch.Tensor
    if gm is None:
        return
    seen = []
    for _ in range(2):
        gm(torch.ones(2))
        seen.append(next(iter(gm.state_dict().values())).item())
    assert seen == [1.0, 1.5]


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("log_s", torch.zeros(1))

    def forward(self, x):
        return x * self.log_s.exp()


class ScaleFunction(Scale):
    def forward(self, x):
        return x * torch.exp(self.log_s)


class ScaleOperator(Scale):
    def forward(self, x):
        return x * torch.e ** (self.log_s + 0)


@pytest.mark.parametrize("make", [Scale, ScaleFunction, ScaleOperator], ids=lambda c: c.__name__)
def test_c10_expressions_of_buffers_are_not_folded(make):
    m = make()
    gm = fx.symbolic_trace(m)
    assert list(gm.state_dict()) == list(m.state_dict()) == ["log_s"]
    gm.load_state_dict({"log_s": torch.ones(1)}, strict=True)
    assert round(gm(torch.ones(1)).item(), 4) == 2.7183


class Shift(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(2, 2)

    def forward(self, x):
        return self.lin(x) + torch.tensor([1.0, 2.0])


class ShiftAttribute(Shift):
    def __init__(self):
        super().__init__()
        self.plain = torch.tensor([1.0, 2.0])

    def forward(self, x):
        return self.lin(x) + self.plain


CONSTANT = torch.tensor([1.0, 2.0])


class ShiftGlobal(Shift):
    def forward(self, x):
        return self.lin(x) + CONSTANT


@pytest.mark.parametrize("make", [Shift, ShiftAttribute, ShiftGlobal], ids=lambda c: c.__name__)
def test_c11_literals_are_no_state(make):
    m = make()
    gm = fx.symbolic_trace(m)
    assert list(gm.state_dict()) == list(m.state_dict())
    gm.load_state_dict(m.state_dict(), strict=True)
    x = torch.ones(2)
    assert torch.equal(gm(x), m(x))


@pytest.mark.parametrize(
    "draw",
    [
        lambda x: x + torch.rand(3),
        lambda x: x + torch.randn(3),
        lambda x: x + torch.rand((3,)),
        lambda x: x + torch.empty(3).uniform_(),
    ],
)
def test_c13_noise_is_drawn_at_each_call(draw):
    gm = fx.symbolic_trace(draw)
    z = torch.zeros(3)
    assert not torch.equal(gm(z), gm(z))
    torch.manual_seed(7)
    a = draw(z)
    torch.manual_seed(7)
    assert torch.equal(gm(z), a)


@pytest.mark.parametrize("check", [lambda x: isinstance(x, torch.Tensor), torch.is_tensor])
def test_c14_type_checks(check):
    def f(x):
        return x * 2 if check(x) else x

    assert fx.symbolic_trace(f)(torch.tensor(3.0)).item() == 6.0


def bump(x):
    y = x
    y += 1
    return x


def bump_multiply(x):
    x *= 2
    x -= 1
    return x


def bump_view(x):
    y = x[:1]
    y += 5
    return x


@pytest.mark.parametrize("f", [bump, bump_multiply, bump_view], ids=lambda f: f.__name__)
def test_c16_augmented_assignment_reaches_the_caller(f):
    a, b = torch.zeros(2), torch.zeros(2)
    ra = f(a)
    rb = fx.symbolic_trace(f)(b)
    assert torch.equal(ra, rb)
    assert torch.equal(a, b)


def _linear():
    m = nn.Linear(2, 2)
    with torch.no_grad():
        m.weight.fill_(1.0)
        m.bias.zero_()
    return m


def _forward_hook(m):
    m.register_forward_hook(lambda mod, inp, out: out * 10)


def _pre_hook(m):
    m.register_forward_pre_hook(lambda mod, inp: (inp[0] * 3,))


def _both(m):
    _forward_hook(m), _pre_hook(m)


@pytest.mark.parametrize("register", [_forward_hook, _pre_hook, _both], ids=lambda f: f.__name__)
def test_c18_hooks_on_the_root_run(register):
    m = _linear()
    register(m)
    gm = fx.symbolic_trace(m)
    x = torch.ones(2)
    assert torch.equal(gm(x), m(x))


def test_c18_hooks_on_inlined_and_leaf_modules_run():
    class Inner(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = _linear()

        def forward(self, x):
            return self.fc(x) + 1

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def forward(self, x):
            return self.inner(x)

    m = Outer()
    _forward_hook(m.inner), _pre_hook(m.inner.fc)
    gm = fx.symbolic_trace(m)
    x = torch.ones(2)
    assert torch.equal(gm(x), m(x))


def _write_method(y):
    y.mul_(0.0)


def _write_function(y):
    F.relu_(y)


def _write_out(y):
    torch.add(y, 5, out=y)


def _write_keyword(y):
    F.leaky_relu(y, -2.0, inplace=True)


@pytest.mark.parametrize(
    "writes",
    [
        [_write_method],
        [_write_function],
        [_write_out],
        [_write_keyword],
        [_write_method, _write_function, _write_out],
    ],
)
def test_c20_dead_code_elimination_keeps_writes(writes):
    def f(x):
        y = x.clone()
        for write in writes:
            write(y)
        torch.neg(x)
        return y

    gm = fx.symbolic_trace(f)
    gm.graph.eliminate_dead_code()
    gm.recompile()
    x = torch.tensor([-1.0, 1.0])
    assert torch.equal(gm(x), f(x))
    assert torch.neg not in targets(gm, "call_function")
    assert node(gm, "clone").users
