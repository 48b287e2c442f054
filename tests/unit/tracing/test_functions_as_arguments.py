"""Functions given to functions of torch: `torch.cond` stays one call; they must hold no traced value."""

import pytest
import torch

import symtrace as fx


def up(x):
    return x * 2


def down(x):
    return -x


def chosen(x):
    return torch.cond(x.sum() > 0, up, down, (x,)) + 1


@pytest.mark.parametrize("value", [3.0, -3.0])
def test_cond_decides_at_every_call(value):
    gm = fx.symbolic_trace(chosen)
    assert [n.target for n in gm.graph.nodes if n.op == "call_function"][-2] is torch.cond
    x = torch.tensor([value])
    assert torch.equal(gm(x), chosen(x))


def test_a_branch_that_holds_a_traced_value_is_refused():
    def program(x):
        y = x * 2
        return torch.cond(x.sum() > 0, lambda z: z + y, lambda z: z - y, (x,))

    with pytest.raises(fx.TraceError) as caught:
        fx.symbolic_trace(program)
    assert caught.value.code == "ST017"
