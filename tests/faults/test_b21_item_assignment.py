"""B21: item assignment on a traced value is recorded and kept."""

import operator

import pytest
import torch

import symtrace as fx

from .support import targets


def row(x):
    x[0] = 1
    return x


def column_of_copy(x):
    y = x.clone()
    y[:, 0] = 0
    return y + x


def from_traced(x):
    y = torch.zeros_like(x)
    y[1:] = x[:-1]
    return y


def by_mask(x):
    y = x.clone()
    y[y < 0] = 0.5
    return y


def by_index_tensor(x):
    y = x.clone()
    y[torch.arange(2), 0] = 3.0
    return y


def through_views(x):
    y = x.clone()
    y[0][1] = 9.0
    y.view(-1)[-1] = 8.0
    return y


def augmented(x):
    y = x.clone()
    y[0] += 1
    y[..., -1] *= 2
    return y


def in_a_loop(x):
    y = torch.zeros(2, 3)
    for i in range(2):
        y[i] = x[i] * i
    return y


def sliced_assignment(x):
    y = x.clone()
    y[:] = 4
    return y


def ellipsis(x):
    y = x.clone()
    y[...] = x * 2
    return y


PROGRAMS = [
    row,
    column_of_copy,
    from_traced,
    by_mask,
    by_index_tensor,
    through_views,
    augmented,
    in_a_loop,
    sliced_assignment,
    ellipsis,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("clean", [False, True], ids=["", "after-dce"])
def test_same_as_eager(program, clean):
    gm = fx.symbolic_trace(program)
    if clean:
        gm.graph.eliminate_dead_code()
    x = torch.tensor([[-1.0, 2.0, 3.0], [4.0, -5.0, 6.0]])
    mine, theirs = x.clone(), x.clone()
    for _ in range(2):
        assert torch.equal(gm(mine), program(theirs))
        assert torch.equal(mine, theirs)


def test_recorded_as_setitem():
    assert operator.setitem in targets(fx.symbolic_trace(row), "call_function")


def test_deleting_an_item_is_refused():
    def program(x):
        del x[0]
        return x

    with pytest.raises((fx.TraceError, TypeError)):
        fx.symbolic_trace(program)(torch.ones(2))
