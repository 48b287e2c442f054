"""The first reason why a pattern does not match."""

import pytest
import torch
from torch import nn

from symtrace import symbolic_trace
from symtrace.errors import ArgumentError
from symtrace.rewrite import why_not


def leaks(x):
    a = torch.neg(x)
    return torch.relu(a) + a


def writes(x, y):
    a = torch.sin(x)
    y.add_(1)
    return a * torch.cos(y)


CASES = [
    (lambda x: torch.flatten(x, 1), "flatten", lambda x: torch.flatten(x, start_dim=1), None),
    (lambda x: torch.flatten(x, 2), "flatten", lambda x: torch.flatten(x, 1), "1 is wanted, `flatten` has 2"),
    (lambda x: torch.neg(x), "neg", lambda x: torch.relu(x), "calls `aten::relu`"),
    (
        lambda x: torch.relu(torch.sin(x)),
        "relu",
        lambda x: torch.relu(torch.cos(x)),
        "`cos` of the pattern calls",
    ),
    (lambda x: torch.relu(x + 1), "relu", lambda x: torch.relu(x + 1.0), "1.0 is wanted, `add` has 1"),
    (lambda x: x + x, "add", lambda x, y: x + y, "would both stand for `x`"),
    (lambda x, y: x * y + x, "add", lambda x, y: x * y + y, "`y` stands for `y` already, `add` has `x`"),
    (leaks, "relu", lambda x: torch.relu(torch.neg(x)), "used outside it too"),
    (writes, "mul", lambda x, y: torch.sin(x) * torch.cos(y), "an effect that must not be crossed"),
]


@pytest.mark.parametrize(("model", "name", "pattern", "reason"), CASES)
def test_reasons(model, name, pattern, reason):
    found = why_not(pattern, symbolic_trace(model).graph.node(name))
    assert found is None if reason is None else reason.replace("aten::", "") in found


def test_modules_and_options():
    gm = symbolic_trace(nn.Sequential(nn.MaxPool1d(4)))
    node = next(n for n in gm.graph.nodes if n.op == "call_module")
    assert "other settings" in why_not(nn.Sequential(nn.MaxPool1d(2)), node)
    assert why_not(nn.Sequential(nn.MaxPool1d(4)), node) is None
    total = symbolic_trace(lambda x: 1 + x).graph.node("add")
    assert why_not(lambda x: torch.add(x, 1), total) is not None
    assert why_not(lambda x: torch.add(x, 1), total, normalize=True) is None


def test_erased_nodes_are_refused():
    gm = symbolic_trace(lambda x: torch.neg(x))
    node = gm.graph.node("neg")
    node.replace_all_uses_with(next(iter(gm.graph.nodes)))
    gm.graph.erase_node(node)
    with pytest.raises(ArgumentError, match="a node of a graph"):
        why_not(lambda x: torch.neg(x), node)
