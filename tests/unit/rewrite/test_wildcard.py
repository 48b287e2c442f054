"""`any_call` in patterns."""

import pytest
import torch
from torch import nn

from symtrace import replace_pattern, symbolic_trace
from symtrace.errors import PatternError
from symtrace.rewrite import Rule, RuleSet, any_call, replace_pattern_with_filters, why_not

X = torch.linspace(-1, 1, 4)


def doubled_negation(x):
    return any_call(-x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.Tanh()

    def forward(self, x):
        return torch.sin(-x) + self.act(-x) + (-x).clamp(0, 1) + torch.cos(x)


def test_it_stands_for_functions_methods_and_modules():
    gm = symbolic_trace(Net())
    places = replace_pattern(gm, doubled_negation, lambda x: any_call(x) * 2)
    assert [next(n for n in place.nodes_map.values() if n.op.startswith("call")) for place in places]
    assert len(places) == 3
    assert not gm.graph.find_nodes(op="call_function", target=any_call)
    expected = 2 * torch.sin(X) + 2 * torch.tanh(X) + 2 * X.clamp(0, 1) + torch.cos(X)
    torch.testing.assert_close(gm(X), expected)


def test_operands_are_counted():
    gm = symbolic_trace(lambda x, y: torch.add(x, y) * 0 + torch.exp(x) * 0)
    assert len(replace_pattern(gm, lambda x, y: any_call(x, y) * 0, lambda x, y: torch.maximum(x, y))) == 1
    assert len(replace_pattern(gm, lambda x: any_call(x) * 0, lambda x: x + 1)) == 1


def test_within_a_pattern_and_with_filters():
    gm = symbolic_trace(lambda x: torch.relu(torch.sin(x)) + torch.relu(torch.cos(x)))
    only_sin = lambda match, graph, pattern: any(n.target is torch.sin for n in match.nodes_map.values())
    done = replace_pattern_with_filters(
        gm, lambda x: torch.relu(any_call(x)), lambda x: torch.tanh(any_call(x)), [only_sin]
    )
    assert len(done) == 1
    torch.testing.assert_close(gm(X), torch.tanh(torch.sin(X)) + torch.relu(torch.cos(X)))


def test_rules_and_reasons():
    rules = RuleSet([Rule("drop", lambda x: any_call(x) + 0, lambda x: any_call(x))])
    gm = symbolic_trace(lambda x: torch.exp(x) + 0)
    assert rules(gm)
    assert torch.equal(gm(X), X.exp())
    gm = symbolic_trace(lambda x, y: torch.add(x, y))
    assert "a call of 1 values" in why_not(lambda x: any_call(x), gm.graph.node("add"))
    assert why_not(lambda x, y: any_call(x, y), gm.graph.node("add")) is None


def test_a_replacement_has_no_more_of_them():
    gm = symbolic_trace(lambda x: torch.exp(x))
    with pytest.raises(PatternError, match="ST207"):
        replace_pattern(gm, lambda x: torch.exp(x), lambda x: any_call(x))
    with pytest.raises(TypeError, match="for patterns"):
        any_call(X)
