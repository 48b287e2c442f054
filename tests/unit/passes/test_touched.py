"""Only what a call may write to is copied before it, and put back when a late guard refuses it."""

import pytest
import torch
from torch import nn

import symtrace
from symtrace import GuardError
from symtrace.ops import program
from symtrace.runtime.graph import find_module
from symtrace.runtime.rollback import LateGuards
from symtrace.runtime.touched import touched_by


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.weight = nn.Parameter(torch.ones(3))
        self.register_buffer("seen", torch.zeros(3))
        self.register_buffer("other", torch.zeros(3))
        self.norm = nn.BatchNorm1d(3)
        self.count = 0


class Counts(Base):
    def forward(self, x):
        self.count += 1
        x = self.linear(x)
        return x * 2 if x.dtype == torch.float32 else x


class WritesBuffer(Base):
    def forward(self, x):
        self.seen.add_(1)
        return x * 2 if x.sum() > 0 else self.linear(x)


class WritesParameter(Base):
    def forward(self, x):
        with torch.no_grad():
            self.weight.mul_(2)
        return x * 2 if x.sum() > 0 else self.linear(x)


class WritesInput(Base):
    def forward(self, x):
        x.add_(1)
        return x * 2 if x.sum() > 0 else self.linear(x)


class Normalises(Base):
    def forward(self, x):
        x = self.norm(x)
        return x * 2 if x.sum() * 0 + x[0, 0] < 9 else self.linear(x)


def followed(model):
    """The program with the decision that an example made, behind what it changes."""
    return symtrace.symbolic_trace(model, concrete_args={"x": torch.ones(2, 3)})


@pytest.mark.parametrize("cls", [WritesBuffer, WritesParameter, WritesInput])
def test_a_refused_call_leaves_everything_as_it_was(cls):
    gm = followed(cls())
    x = -torch.ones(2, 3) * 4
    before = [value.clone() for value in (*gm.parameters(), *gm.buffers(), x)]
    with pytest.raises(GuardError):
        gm(x)
    after = [*gm.parameters(), *gm.buffers(), x]
    assert all(map(torch.equal, before, after))
    gm(torch.ones(2, 3))  # and one that is taken does what it does


def copied(gm):
    touched = touched_by(gm.graph, lambda path: find_module(gm, path))
    assert not touched.everything
    return touched.tensors(gm, (), lambda path: find_module(gm, path))


def among(tensor, tensors):
    return any(tensor is other for other in tensors)


def test_only_what_the_graph_reads_is_copied():
    gm = followed(WritesBuffer())
    assert among(gm.seen, copied(gm))
    assert not among(gm.other, copied(gm))
    assert not among(gm.linear.weight, copied(gm))
    gm = followed(WritesParameter())
    assert among(gm.weight, copied(gm))
    assert copied(followed(Counts())) == []


def test_a_normalisation_is_copied_in_training():
    gm = followed(Normalises())
    assert among(gm.norm.running_mean, copied(gm.train()))
    assert copied(gm.eval()) == []


def test_all_is_copied_when_a_call_is_not_known():
    model = Base()
    graph = symtrace.Graph()
    x = graph.placeholder("x")
    size = graph.call_function(len, (graph.call_function(unknown, (x,)),))
    graph.call_function(program.guard, (size, 2, "len(x) is 2"))
    graph.output(size)
    gm = symtrace.GraphModule.from_module(model, graph)
    touched = touched_by(gm.graph, lambda path: find_module(gm, path))
    assert touched.everything
    assert among(gm.linear.weight, touched.tensors(gm, (), lambda path: None))


def unknown(x):
    return x


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.tanh(x) * 2


HELD = nn.Linear(3, 3)


class Reaching(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        HELD.weight.data.add_(1)
        return x


class Applies(Base):
    def __init__(self, function, of_input=False):
        super().__init__()
        self.function, self.of_input, self.held = function, of_input, HELD

    def forward(self, x):
        y = self.function.apply(x if self.of_input else self.linear(x))
        return self.held(y * 2) if y.dtype == torch.float32 else y


@pytest.mark.parametrize(
    ("model", "everything"),
    [(Applies(Scaled), False), (Applies(Scaled, True), True), (Applies(Reaching), True)],
)
def test_a_function_of_the_programs_that_reaches_nothing_writes_to_nothing(model, everything):
    gm = symtrace.capture(model, (torch.rand(2, 3),))
    assert gm._checks_late()
    touched = touched_by(gm.graph, lambda path: find_module(gm, path))
    assert touched.everything == everything
    if not everything:
        assert touched.tensors(gm, (), lambda path: find_module(gm, path)) == []


def test_what_a_refused_function_has_written_is_put_back():
    gm = symtrace.capture(Applies(Reaching), (torch.rand(2, 3),)).double()
    before = gm.held.weight.clone()
    with pytest.raises(GuardError):
        gm(torch.rand(2, 3, dtype=torch.float64))
    assert torch.equal(gm.held.weight, before)


def test_nothing_is_copied_for_what_comes_behind_the_last_guard():
    graph = symtrace.Graph()
    x = graph.placeholder("x")
    graph.call_method("add_", (x, 1))
    graph.call_function(program.guard, (graph.call_function(len, (x,)), 2, "len(x) is 2"))
    graph.output(graph.call_function(unknown, (x,)))
    gm = symtrace.GraphModule.from_module(Base(), graph)
    touched = touched_by(gm.graph, lambda path: find_module(gm, path))
    assert not touched.everything
    x = torch.zeros(2)
    assert touched.tensors(gm, (x,), lambda path: None) == [x]


class WritesFreshTensor(Base):
    def forward(self, x):
        kernel = x.new_zeros((3, 3))
        place = torch.arange(3)
        kernel[place, place] = self.weight.to(kernel)
        y = self.linear(x) @ kernel
        return y * 2 if y.dtype == torch.float32 else y


def test_guard_after_writes_to_fresh_tensors_is_not_late():
    gm = symtrace.capture(WritesFreshTensor(), (torch.rand(2, 3),))
    assert any("float32" in str(guard) for guard in gm.guards)
    late = LateGuards(gm.graph, lambda path: find_module(gm, path))
    assert not late.exist()


class FillsCache(Base):
    def __init__(self):
        super().__init__()
        self.cache = {}

    def forward(self, x):
        if "w" not in self.cache:
            self.cache["w"] = self.weight * 2
        y = self.linear(x) + self.cache["w"]
        return y * 2 if y.dtype == torch.float32 else y


def test_no_tensor_is_copied_for_a_cache_in_a_dict():
    gm = symtrace.capture(FillsCache(), (torch.rand(2, 3),))
    assert LateGuards(gm.graph, lambda path: find_module(gm, path)).exist()
    assert copied(gm) == []
    with pytest.raises(GuardError):
        gm.double()(torch.rand(2, 3, dtype=torch.float64))
    assert gm.cache == {}
