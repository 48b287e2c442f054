"""What Python answers for a value without asking it, and what a program gets from outside of torch."""

import datetime
import functools
import itertools
import random
import threading
import time
from time import perf_counter

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.utils import parametrize

import symtrace as fx
from symtrace.testing import assert_equivalent

ONES = torch.ones(2)

OWN = random.Random(0)
NUMPY = np.random.default_rng(0)
NUMBERS = itertools.count()


# ---------------------------------------------------------------------- classes


@functools.singledispatch
def dispatched(x):
    return x


@dispatched.register
def _(x: torch.Tensor):
    return x * 2


def matches_class(x):
    match x:
        case torch.Tensor():
            return x * 2
        case _:
            return x


def matches_attributes(x):
    match x:
        case torch.Tensor(shape=shape):
            return x.view(shape) * 2
        case _:
            return x


class Checker:
    def is_plain(self, x):
        return type(x) is torch.Tensor


CHECKER = Checker()


@pytest.mark.parametrize("program", [
    lambda x: dispatched(x), matches_class, matches_attributes, lambda x: x * 2 if x.__class__ is torch.Tensor else x,
    lambda x: x * len(x.__class__.__name__), lambda x: x * 2 if CHECKER.is_plain(x) else x,
    lambda x: x * 2 if issubclass(type(x), torch.Tensor) else x,
])  # fmt: skip
def test_a_traced_value_has_the_class_of_a_tensor(program):
    gm = fx.symbolic_trace(program)
    assert_equivalent(program, gm, (torch.randn(2, 3),))
    assert [d.kind for d in gm.report] == ["assumption"]


def matches_sequence(x):
    match x:
        case [first, second]:
            return first + second
        case _:
            return x * 2


def matches_result(x):
    match x.split(1):
        case [first, second]:
            return first + second
        case _:
            return x * 2


def asks_in_helper(mode):
    return 2 if mode is not ... else 3


@pytest.mark.parametrize(("program", "code"), [
    (matches_sequence, "ST020"), (matches_result, "ST024"), (lambda x, mode: x * 2 if mode is True else x, "ST013"),
    (lambda x, mode: x * asks_in_helper(mode), "ST013"),
    (lambda x: x * 2 if isinstance(x, torch.FloatTensor) else x, "ST012"),
    (lambda x, dtype: x * 2 if dtype in {torch.float64} else x, "ST013"),
    (lambda x: x * len(f"{x}"), "ST013"),
])  # fmt: skip
def test_what_only_the_real_value_can_tell_is_refused(program, code):
    with pytest.raises(fx.TraceError) as caught:
        fx.symbolic_trace(program)
    assert caught.value.code == code
    assert caught.value.location is not None
    assert caught.value.location.file == __file__


def test_identity_with_a_value_that_is_given():
    gm = fx.symbolic_trace(lambda x, mode: x * 2 if mode is True else x, {"mode": True})
    assert gm(torch.ones(1), True) == 2
    with pytest.raises(fx.GuardError):
        gm(torch.ones(1), False)


@pytest.mark.parametrize(("program", "message"), [
    (lambda x, y: x * 2 if x is y else x + y, "`x` and `y` are not the same object"),
    (lambda pair: (lambda a, b: a + b)(*_two(pair)), "`pair` has 2 items"),
])  # fmt: skip
def test_what_is_taken_for_granted_is_listed(program, message):
    report = fx.symbolic_trace(program).report
    assert message in [d.message for d in report]
    assert all(d.location is not None for d in report)


def _two(pair):
    a, b = pair
    return a, b


# ---------------------------------------------------------------------- sources


def iterates(x):
    for number in NUMBERS:
        if number > 2:
            break
    return x * number


def starts_thread(x):
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()
    return x


def sets_precision(x):
    torch.set_float32_matmul_precision("medium")
    return x @ x


def sets_cudnn(x):
    torch.backends.cudnn.benchmark = True
    return x


class HasIterator(nn.Module):
    def __init__(self, iterator):
        super().__init__()
        self.iterator = iterator

    def forward(self, x):
        return x * next(self.iterator)


class ReadsTable(nn.Module):
    def forward(self, x):
        return x * 2 if self.__dict__["training"] else self.helper(x)

    def helper(self, x):
        return x


class WritesAndReadsTable(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("offset", torch.ones(2))

    def forward(self, x):
        self.offset = self.offset + 1
        return x + self._buffers["offset"]


@pytest.mark.parametrize("program", [
    lambda x: x * OWN.random(), lambda x: x * random.Random(0).random(), lambda x: x * OWN.randint(0, 5),
    lambda x: x * float(NUMPY.random()), lambda x: x * float(np.random.default_rng(0).random()),
    lambda x: x * next(NUMBERS), iterates, HasIterator(iter([1, 2, 3])), HasIterator(i for i in range(3)),
    starts_thread, sets_precision, sets_cudnn, ReadsTable(), WritesAndReadsTable(),
])  # fmt: skip
def test_what_is_not_the_same_at_each_call_is_refused(program, monkeypatch):
    # A module of torch.testing, once imported, forbids all programs of the process to set flags.
    table = torch.backends.flags_frozen.__globals__
    monkeypatch.setitem(table, "__allow_nonbracketed_mutation_flag", True)
    precision, benchmark, own = (
        torch.get_float32_matmul_precision(),
        torch.backends.cudnn.benchmark,
        OWN.getstate(),
    )
    state = NUMPY.bit_generator.state
    with pytest.raises(fx.TraceError):
        fx.symbolic_trace(program)
    assert torch.get_float32_matmul_precision() == precision
    assert torch.backends.cudnn.benchmark == benchmark
    assert OWN.getstate() == own
    assert NUMPY.bit_generator.state == state


@pytest.mark.parametrize("program", [
    lambda x: x * time.time(), lambda x: x * perf_counter(), lambda x: x * datetime.datetime.now().second,
])  # fmt: skip
def test_clocks_are_listed(program):
    report = list(fx.symbolic_trace(program).report)
    assert [d.kind for d in report] == ["frozen"]
    assert report[0].location.file == __file__


def test_iterators_of_the_call_itself_are_no_state():
    def program(x):
        return x * next(iter([2, 3])) + sum(i for i in range(3))

    gm = fx.symbolic_trace(program)
    assert gm(torch.ones(1)) == 5
    assert len(gm.report) == 0


# ---------------------------------------------------------------------- writes


class HoldsTensors(nn.Module):
    def __init__(self):
        super().__init__()
        self.held = [torch.zeros(2)]
        self.table = {"k": (torch.ones(2),)}

    def forward(self, x):
        self.held[0].add_(1)
        self.table["k"][0].mul_(2)
        return x + self.held[0] + self.table["k"][0]


def test_tensors_in_lists_and_dicts_are_the_stand_ins_own():
    model, twin = HoldsTensors(), HoldsTensors()
    gm = fx.symbolic_trace(model)
    for _ in range(3):
        assert torch.equal(gm(torch.zeros(2)), twin(torch.zeros(2)))
    assert torch.equal(gm.held[0], twin.held[0])
    assert torch.equal(gm.table["k"][0], twin.table["k"][0])
    assert torch.equal(model.held[0], torch.zeros(2))
    assert torch.equal(model.table["k"][0], torch.ones(2))


def test_attributes_of_an_input_are_set_for_the_caller():
    class Config:
        pass

    def program(config, x):
        config.scale = 2
        return x * config.scale

    config = Config()
    assert fx.symbolic_trace(program)(config, torch.ones(1)) == 2
    assert config.scale == 2


class Reassigns(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("offset", torch.rand(4))

    def forward(self, x):
        old = self.offset
        self.offset = self.offset + 1
        named = dict(self.named_buffers())["offset"]
        return x * old, x + self.offset, x - self.state_dict()["offset"], x * named


def test_a_buffer_read_before_it_is_assigned():
    model = Reassigns()
    assert_equivalent(model, fx.symbolic_trace(model), (torch.randn(3, 4),), calls=3)


class TwoNames(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("first", torch.rand(4))
        self.register_buffer("second", self.first)

    def forward(self, x):
        self.first = self.first + 1
        return x + self.second


def test_assigning_one_of_two_names_of_a_tensor_is_refused():
    with pytest.raises(fx.TraceError, match="ST023"):
        fx.symbolic_trace(TwoNames())


# ---------------------------------------------------------------------- modes


def asks_for_gradients(x):
    return x * 2 if torch.is_grad_enabled() else x * 3


def multiplies_mode(x):
    mode = torch.is_grad_enabled()
    return x * (1 + mode)


def sets_and_restores(x):
    was = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    y = x * 2
    torch.set_grad_enabled(was)
    return y + x * (2 if torch.is_grad_enabled() else 3)


def sets_inside_a_block(x):
    with torch.inference_mode():
        torch.set_grad_enabled(False)
        y = x * 2
    return y.clone() * (1 + torch.is_grad_enabled())


def reads_in_block(x):
    with torch.no_grad():
        turned = x.T.T
    return turned


def reads_before_it_changes(x):
    y = x.detach()
    flag, shape = y.requires_grad, y.shape
    y.requires_grad_()
    z = y * flag
    z.unsqueeze_(0)
    return z.view(shape)


@pytest.mark.parametrize("program", [
    asks_for_gradients, multiplies_mode, sets_and_restores, sets_inside_a_block, reads_in_block,
    reads_before_it_changes,
])  # fmt: skip
@pytest.mark.parametrize("enabled", [True, False])
def test_modes_around_the_call(program, enabled):
    gm = fx.symbolic_trace(program)
    x = torch.randn(2, 3, requires_grad=True)
    with torch.set_grad_enabled(enabled):
        expected = program(x)
        try:
            result = gm(x)
        except fx.GuardError:
            assert not enabled  # decided at capture, under gradients
            return
    assert torch.equal(result, expected)
    assert result.requires_grad == expected.requires_grad


class GradIfTraining(nn.Module):
    def forward(self, x):
        with torch.set_grad_enabled(self.training):
            return x * 2


def test_a_mode_that_follows_the_training_flag():
    model = GradIfTraining()
    gm = fx.symbolic_trace(model)
    assert len(gm.report) == 0
    assert_equivalent(model, gm, (torch.randn(2, requires_grad=True),), modes=(True, False))


class Attention(nn.Module):
    def forward(self, x):
        with sdpa_kernel(SDPBackend.MATH):
            return nn.functional.scaled_dot_product_attention(x, x, x)


class Cached(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.utils.parametrizations.spectral_norm(nn.Linear(4, 4))

    def forward(self, x):
        with parametrize.cached():
            return self.lin(x) + self.lin(x * 2)


@pytest.mark.parametrize(("model", "text"), [
    (Attention(), "with torch.nn.attention.sdpa_kernel("), (Cached(), "with torch.nn.utils.parametrize.cached():"),
])  # fmt: skip
def test_contexts_of_torch_are_printed_and_in_force(model, text):
    gm = fx.symbolic_trace(model)
    assert text in gm.code
    assert_equivalent(model, gm, (torch.randn(3, 4),), modes=(True, False))


def asks_for_none(x, mask):
    return x * 2 if mask is not None else x


def asks_for_none_or_has_a_default(x, mask=None):
    return x * 2 if mask is not None else x


@pytest.mark.parametrize("program", [asks_for_none, asks_for_none_or_has_a_default])
@pytest.mark.parametrize("capture", [fx.symbolic_trace, fx.capture, lambda f: fx.capture(f, (ONES, ONES))])
def test_what_was_given_at_capture_may_not_be_none_later(program, capture):
    gm = capture(program)
    answers = []
    for mask in (ONES, None):
        try:
            answers.append(bool(torch.equal(gm(ONES, mask), program(ONES, mask))))
        except fx.GuardError:
            answers.append("guarded")
    assert sorted(map(str, answers)) == ["True", "guarded"]
    assert any("mask" in decision.message for decision in gm.report)


class CountsFirst(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = torch.zeros(4)
        self.kept = [torch.zeros(4)]

    def forward(self, x):
        self.last.add_(1)
        self.kept[0].add_(1)
        for row in x.unbind(0):
            row.mul_(2)
        return x


def test_a_late_guard_puts_tensors_of_plain_attributes_back():
    gm = fx.capture(CountsFirst(), (torch.ones(3, 4),))
    with pytest.raises(fx.GuardError):
        gm(torch.ones(5, 4))
    assert not gm.last.any()
    assert not gm.kept[0].any()
