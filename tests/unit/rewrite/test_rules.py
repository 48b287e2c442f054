"""Rules as data, and matching that does not look at spelling."""

import operator

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from symtrace import replace_pattern, symbolic_trace
from symtrace.errors import PatternError
from symtrace.rewrite import Rule, RuleSet, constant, why_not


def calls(gm):
    return [n.target for n in gm.graph.nodes if n.op == "call_function"]


@pytest.mark.parametrize(
    "spelling",
    [lambda x: x.relu(), lambda x: F.relu(x), lambda x: torch.relu(x), lambda x: torch.relu(input=x), nn.ReLU(),
     lambda x: F.relu(x, inplace=False), lambda x: F.relu(input=x)],
)  # fmt: skip
@pytest.mark.parametrize("pattern", [lambda x: torch.relu(x), lambda x: x.relu(), nn.ReLU()])
def test_every_spelling_of_one_call_matches(spelling, pattern):
    gm = (
        symbolic_trace(nn.Sequential(spelling))
        if isinstance(spelling, nn.Module)
        else symbolic_trace(spelling)
    )
    assert len(replace_pattern(gm, pattern, lambda x: torch.tanh(x), normalize=True)) == 1
    assert torch.equal(gm(torch.ones(2)), torch.tanh(torch.ones(2)))


@pytest.mark.parametrize("layer", [nn.ReLU(inplace=True), nn.LeakyReLU(0.2), nn.Softmax(0), nn.GELU("tanh")])
def test_layers_with_other_settings_do_not_match(layer):
    patterns = (
        lambda x: F.relu(x),
        lambda x: F.leaky_relu(x, 0.1),
        lambda x: F.softmax(x, 1),
        lambda x: F.gelu(x),
    )
    for pattern in patterns:
        gm = symbolic_trace(nn.Sequential(layer))
        assert replace_pattern(gm, pattern, lambda x: torch.tanh(x), normalize=True) == []


def test_layers_match_their_function_with_the_same_settings():
    gm = symbolic_trace(nn.Sequential(nn.LeakyReLU(0.2), nn.Softmax(0), nn.Flatten()))
    for pattern in (lambda x: F.leaky_relu(x, 0.2), lambda x: torch.softmax(x, 0), lambda x: x.flatten(1)):
        assert len(replace_pattern(gm, pattern, lambda x: torch.tanh(x), normalize=True)) == 1


def test_conditions_on_literals_and_values():
    rule = Rule(
        "shrink",
        lambda x, p: x * p,
        lambda x, p: x / p,
        {"p": constant(lambda p: p > 1), "x": lambda n: n.name != "y"},
    )
    rules = RuleSet([rule])
    gm = symbolic_trace(lambda x, y: (x * 2, x * 0.5, y * 2, x * y))
    assert rules(gm)
    assert calls(gm) == [operator.truediv, *[operator.mul] * 3]
    assert (rules.statistics["shrink"].tries, rules.statistics["shrink"].hits) == (4, 1)
    assert rules.statistics["shrink"].seconds > 0


def test_alternatives():
    rules = RuleSet(
        [Rule("soft", (lambda x: torch.relu(x), lambda x: torch.tanh(x)), lambda x: torch.sigmoid(x))]
    )
    gm = symbolic_trace(lambda x: torch.relu(x) + x.tanh())
    rules(gm)
    assert calls(gm) == [torch.sigmoid, torch.sigmoid, operator.add]
    assert rules.statistics["soft"].hits == 2


def test_rules_build_on_each_other_in_rounds():
    rules = RuleSet([
        Rule("second", lambda x: torch.tanh(x), lambda x: torch.sigmoid(x)),
        Rule("first", lambda x: torch.relu(x), lambda x: torch.tanh(x)),
    ])  # fmt: skip
    gm = symbolic_trace(lambda x: torch.relu(x))
    assert rules(gm, rounds=5)
    assert calls(gm) == [torch.sigmoid]
    assert not rules(gm)


def test_a_replacement_brings_its_own_module():
    gm = symbolic_trace(nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
    RuleSet([Rule("gelu", nn.ReLU(), nn.Sequential(nn.Dropout(0.0)))])(gm)
    assert [type(gm.get_submodule(n.target)) for n in gm.graph.nodes if n.op == "call_module"] == [
        nn.Linear,
        nn.Dropout,
    ]


def test_slips_are_refused():
    with pytest.raises(PatternError, match="no input of it"):
        RuleSet([Rule("a", lambda x: torch.relu(x), lambda x: x, {"y": constant()})])
    with pytest.raises(PatternError, match="name of another"):
        RuleSet([Rule("a", lambda x: torch.relu(x), lambda x: x)] * 2)


def test_why_a_layer_does_not_match():
    gm = symbolic_trace(nn.Sequential(nn.LeakyReLU(0.2)))
    node = next(n for n in gm.graph.nodes if n.op == "call_module")
    assert "0.1 is wanted" in why_not(lambda x: F.leaky_relu(x, 0.1), node, normalize=True)
    assert why_not(lambda x: F.leaky_relu(x, 0.2), node, normalize=True) is None
