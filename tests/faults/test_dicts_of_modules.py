"""Dicts of tensors that are attributes of modules, such as caches, are asked at each call and filled as in eager."""

import copy
import pickle

import pytest
import torch
from torch import nn

import symtrace
from symtrace.errors import GuardError, TraceError


class Cached(nn.Module):
    """Keeps what it computes in evaluation, until it is trained."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([1.0, 2.0]))
        self.cache = {}

    def train(self, mode=True):
        super().train(mode)
        if mode:
            self.cache = {}
        return self

    def bias(self, key):
        if self.training:
            return self.weight * 2
        if key not in self.cache:
            self.cache[key] = self.weight * 2
        return self.cache[key]

    def forward(self, x):
        return x + self.bias("key")


class Table(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = {"first": torch.ones(2), 2: torch.zeros(2)}

    def forward(self, x):
        return x * self.table["first"] + self.table[2]


class Counted(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = {"all": 0}

    def forward(self, x):
        self.calls["all"] = self.calls["all"] + 1
        return x * self.calls["all"]


def captured(model, with_examples):
    return symtrace.capture(model, (torch.ones(2),) if with_examples else None)


@pytest.mark.parametrize("with_examples", [False, True])
@pytest.mark.parametrize("is_warm", [False, True])
def test_a_cache_is_filled_kept_and_dropped_as_in_eager(is_warm, with_examples):
    model = Cached().eval()
    if is_warm:
        model(torch.ones(2))
    module = captured(model, with_examples)
    assert set(model.cache) == ({"key"} if is_warm else set())
    model = copy.deepcopy(Cached()).eval() if not is_warm else _warm()
    for step in range(8):
        x = torch.randn(2)
        assert torch.equal(module(x), model(x))
        assert module.cache.keys() == model.cache.keys()
        assert all(torch.equal(module.cache[key], value) for key, value in model.cache.items())
        for one in (module, model):
            if step in (2, 5):
                with torch.no_grad():
                    one.weight.mul_(3)  # what is kept is as old as it is
            if step in (3, 6):
                one.train(step == 3)


def _warm():
    model = Cached().eval()
    model(torch.ones(2))
    return model


@pytest.mark.parametrize("with_examples", [False, True])
def test_gradients_flow_through_what_is_kept(with_examples):
    model = Cached().eval()
    module = captured(model, with_examples)
    for one in (module, model):
        one(torch.ones(2)).sum().backward()
    assert torch.equal(module.weight.grad, model.weight.grad)
    again = captured(Cached().eval(), with_examples)
    for one in (pickle.loads(pickle.dumps(again)), copy.deepcopy(again)):
        assert torch.equal(one(torch.zeros(2)), torch.tensor([2.0, 4.0]))


@pytest.mark.parametrize("with_examples", [False, True])
def test_another_tensor_in_a_dict_is_what_the_next_call_reads(with_examples):
    module = captured(Table(), with_examples)
    assert torch.equal(module(torch.ones(2)), torch.ones(2))
    module.table["first"] = torch.tensor([3.0, 4.0])
    module.table = {**module.table, 2: torch.tensor([1.0, 1.0])}
    assert torch.equal(module(torch.ones(2)), torch.tensor([4.0, 5.0]))
    del module.table["first"]
    with pytest.raises(KeyError, match="first"):
        module(torch.ones(2))


@pytest.mark.parametrize("with_examples", [False, True])
def test_a_number_in_a_dict_counts_on(with_examples):
    model = Counted()
    module = captured(model, with_examples)
    assert model.calls == {"all": 0}
    for count in (1, 2, 3):
        assert torch.equal(module(torch.ones(2)), torch.full((2,), float(count)))
    assert module.calls == {"all": 3}


USES = {
    "values": lambda table: sum(table.values()),
    "items": lambda table: sum(value for _, value in table.items()),
    "iteration": lambda table: sum(table[key] for key in table),
    "length": lambda table: table[2] * len(table),
    "get": lambda table: table.get("first"),
    "truth": lambda table: table[2] if table else 0,
    "copy": lambda table: dict(table)["first"],
    "union": lambda table: (table | {"other": 1})["first"],
    "argument": lambda table: {**table}["first"],
    "stack": lambda table: torch.stack(list(table.values())).sum(0),
}


@pytest.mark.parametrize("with_examples", [False, True])
@pytest.mark.parametrize("use", USES)
def test_other_uses_take_a_dict_for_what_it_is_at_capture(use, with_examples):
    model = Table()
    model.forward = None
    model = type("Model", (Table,), {"forward": lambda self, x: x + USES[use](self.table)})()
    module = captured(model, with_examples)
    x = torch.randn(2)
    assert torch.equal(module(x), model(x))


@pytest.mark.parametrize("with_examples", [False, True])
def test_a_dict_that_is_filled_and_looked_through_is_refused(with_examples):
    def forward(self, x):
        self.table[3] = x
        return sum(self.table.values())

    with pytest.raises(TraceError, match="ST022"):
        captured(type("Model", (Table,), {"forward": forward})(), with_examples)


def test_symbolic_trace_still_reads_a_table():
    module = symtrace.symbolic_trace(Table())
    assert torch.equal(module(torch.ones(2)), torch.ones(2))


def test_a_call_that_a_guard_refuses_leaves_a_cache_as_it_was():
    class Sized(Cached):
        def forward(self, x):
            self.cache["key"] = self.weight * 2
            y = x + self.cache["key"]
            return y + 1 if self.cache["key"].shape[0] > 1 else y

    module = symtrace.capture(Sized().eval(), (torch.ones(2),))
    module.weight = nn.Parameter(torch.ones(1))
    with pytest.raises(GuardError):
        module(torch.ones(2))
    assert module.cache == {}


class FilledByOneReadByAnother(nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = {}

    def fill(self, x):
        if x.sum() > 0 and "key" not in self.cache:
            self.cache["key"] = x * 2
        return x

    def read(self, x):
        return self.cache["key"] if "key" in self.cache else x  # noqa: SIM401 - `get` is another question

    def forward(self, x):
        return self.fill(x) + self.read(x)


@pytest.mark.parametrize("examples", [(), (torch.ones(2),)])
def test_one_function_fills_a_dict_on_one_way_and_another_reads_it(examples):
    captured = symtrace.capture(FilledByOneReadByAnother(), examples)
    eager = FilledByOneReadByAnother()
    for x in (-torch.ones(2), torch.ones(2), torch.full((2,), 3.0)):
        assert captured(x).equal(eager(x))


def test_a_list_that_is_filled_on_one_way_and_read_after_it_is_refused_by_its_name():
    class Listed(nn.Module):
        def __init__(self):
            super().__init__()
            self.kept = []

        def fill(self, x):
            if x.sum() > 0:
                self.kept.append(x * 2)

        def forward(self, x):
            self.fill(x)
            return x + self.kept[0]

    model = Listed()
    with pytest.raises(TraceError, match=r"self\.kept"):
        symtrace.capture(model)
    assert model.kept == []
