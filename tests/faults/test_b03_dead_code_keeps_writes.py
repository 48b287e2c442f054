"""B3: dead-code elimination keeps every write, and still removes what is dead."""

import operator

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import symtrace as fx


def add_method(x):
    y = x.clone()
    y.add_(1)
    return y


def relu_inplace_argument(x):
    y = x - 1
    F.relu(y, inplace=True)
    return y


def relu_function(x):
    y = x - 1
    torch.relu_(y)
    return y


def functional_underscore(x):
    y = x - 1
    F.elu_(y)
    return y


def dropout_inplace(x):
    y = x + 1
    F.dropout(y, 1.0, True, True)
    return y


def out_argument(x):
    y = x.clone()
    torch.add(x, 5, out=y)
    return y


def copy_method(x):
    y = torch.empty_like(x)
    y.copy_(x * 3)
    return y


def through_a_view(x):
    y = x.clone()
    y.view(-1)[1:].zero_()
    return y


def to_the_input(x):
    x.mul_(2)
    return x + 0


def setitem(x):
    y = x.clone()
    operator.setitem(y, 0, 7.0)
    return y


def index_put(x):
    y = x.clone()
    y.index_fill_(0, torch.arange(1), 4.0)
    return y


def aten_write(x):
    y = x.clone()
    torch.ops.aten.mul_.Tensor(y, y)
    return y


def augmented(x):
    y = x.clone()
    z = y
    z += 2
    return y


class InplaceLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        y = x - 1
        self.act(y)
        return y


class BatchStatistics(nn.Module):
    """The result of the norm is unused, its running statistics are not."""

    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm1d(3)

    def forward(self, x):
        self.bn(torch.stack([x, x * 2]))
        return x + self.bn.running_mean


PROGRAMS = [
    add_method,
    relu_inplace_argument,
    relu_function,
    functional_underscore,
    dropout_inplace,
    out_argument,
    copy_method,
    through_a_view,
    to_the_input,
    setitem,
    index_put,
    aten_write,
    augmented,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_a_write_survives(program):
    gm = fx.symbolic_trace(program)
    gm.graph.eliminate_dead_code()
    gm.recompile()
    x = torch.tensor([-1.0, 2.0, 3.0])
    assert torch.equal(gm(x.clone()), program(x.clone()))


@pytest.mark.parametrize("make", [InplaceLayer, BatchStatistics], ids=lambda c: c.__name__)
def test_a_module_that_writes_survives(make):
    gm, eager = fx.symbolic_trace(make()), make()
    gm.graph.eliminate_dead_code()
    gm.recompile()
    x = torch.tensor([-1.0, 2.0, 3.0])
    for _ in range(2):
        assert torch.equal(gm(x.clone()), eager(x.clone()))


@pytest.mark.parametrize(
    "dead", [lambda x: torch.relu(x), lambda x: x.add(1), lambda x: x + 1, lambda x: x.shape[0]]
)
def test_dead_pure_work_is_removed(dead):
    def program(x):
        dead(x)
        return x * 2

    gm = fx.symbolic_trace(program)
    assert gm.graph.eliminate_dead_code() is True
    assert [n.op for n in gm.graph.nodes] == ["placeholder", "call_function", "output"]


def test_a_write_to_a_value_that_nobody_reads_may_go_but_not_the_readers():
    def program(x):
        y = x.clone()
        z = y.relu()
        y.zero_()
        return z

    gm = fx.symbolic_trace(program)
    gm.graph.eliminate_dead_code()
    gm.recompile()
    assert torch.equal(gm(torch.tensor([-1.0, 2.0])), torch.tensor([0.0, 2.0]))
