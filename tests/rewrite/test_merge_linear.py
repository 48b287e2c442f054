"""Linear layers that read one value become one, where nothing could tell."""

import pytest
import torch
from torch import nn

from symtrace import capture, symbolic_trace
from symtrace.passes import Pipeline

X = torch.linspace(-1, 1, 24).reshape(2, 3, 4)


class Attention(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 6)
        self.plain = nn.Linear(4, 4, bias=False)
        self.body = body

    def forward(self, x):
        return self.body(self, x)


def heads(m, x):
    q, k, v = (layer(x).view(2, 3, 2, -1).transpose(1, 2) for layer in (m.q, m.k, m.v))
    return torch.softmax(q @ k.transpose(-1, -2), -1) @ v


def flat(m, x):
    return m.q(x).view(-1).sum() + (m.k(x) * m.v(x)[..., :4]).sum()


def with_a_write_between(m, x):
    y = x * 1
    a, b = m.q(y), m.k(y)
    y.add_(1)
    return a * b * m.v(y).sum()


def linear_calls(gm):
    return [n for n in gm.graph.nodes if n.op == "call_module"]


@pytest.mark.parametrize(("body", "left"), [(heads, 1), (flat, 1), (with_a_write_between, 2)])
def test_layers_become_one(body, left):
    program = Attention(body).eval()
    gm = symbolic_trace(program)
    pipeline = Pipeline("merge-linear", verify=(X,))
    assert pipeline(gm).modified
    assert len(linear_calls(gm)) == left
    torch.testing.assert_close(gm(X), program(X))
    assert "q" not in dict(gm.named_children())
    with pytest.warns(UserWarning, match="linear layers were merged"):
        gm.train()


def test_layers_in_regions_become_one():
    def deciding(m, x):
        if x.sum() > 0:
            return m.q(x) * m.k(x)
        return m.q(x)

    program = Attention(deciding).eval()
    gm = capture(program)
    assert Pipeline("merge-linear")(gm).modified
    for x in (X + 1, X - 1):
        torch.testing.assert_close(gm(x), program(x))
    assert "q" in dict(gm.named_children())


@pytest.mark.parametrize(
    "body",
    [
        lambda m, x: (m.q(x), m.k(x)),
        lambda m, x: m.q(x) + m.k(x + 1),
        lambda m, x: m.q(x) + m.plain(x),
        lambda m, x: m.q(x).add_(1) + m.k(x),
        lambda m, x: m.q(m.k(x)),
        lambda m, x: (m.q.weight.detach().mul_(2), m.q(x) + m.k(x))[1],
    ],
)
def test_layers_that_stay(body):
    assert not Pipeline("merge-linear")(symbolic_trace(Attention(body).eval())).modified


def test_training_is_left_alone():
    gm = symbolic_trace(Attention(heads))
    assert not Pipeline("merge-linear")(gm).modified
    assert Pipeline("merge-linear{eval-only=false}")(gm).modified
