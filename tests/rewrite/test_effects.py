"""Programs with effects: what may be replaced and what has to stay."""

import pytest
import torch

from symtrace.analysis import EffectAnalysis
from symtrace.ir import Graph
from symtrace.rewrite import SubgraphMatcher, replace_pattern
from symtrace.rewrite.placement import Placer
from symtrace.tracing import symbolic_trace


def sin_twice(x):
    return torch.sin(x) * 2


def result(function, *args):
    return function(*[a.clone() for a in args])


def check_kept(model, pattern, replacement, *args, matches):
    """Rewrite by something that computes the same, and compare with the original."""
    gm = symbolic_trace(model)
    assert len(replace_pattern(gm, pattern, replacement)) == matches
    gm.graph.lint()
    assert torch.equal(result(gm, *args), result(model, *args))


def test_replacement_stands_in_front_of_a_write_to_its_input():
    def model(x):
        a = torch.sin(x)
        x.add_(1)
        return a * 2 + x

    check_kept(model, sin_twice, lambda x: torch.mul(x.sin(), 2), torch.zeros(1), matches=1)


def test_no_match_across_a_write_that_can_not_be_avoided():
    def model(x, y):
        a = torch.sin(x)
        y.add_(1)
        return a * torch.cos(y)

    pattern = lambda x, y: torch.sin(x) * torch.cos(y)
    check_kept(
        model, pattern, lambda x, y: torch.cos(y) * torch.sin(x), torch.ones(1), torch.ones(1), matches=0
    )


def test_no_match_across_a_write_through_a_view():
    def model(x):
        y = x.clone()
        a = torch.sin(y)
        y.view(-1)[0] = 5.0
        return a + torch.cos(y)

    pattern = lambda x: torch.sin(x) + torch.cos(x)
    check_kept(model, pattern, lambda x: torch.cos(x) + torch.sin(x), torch.ones(2), matches=0)


def test_match_across_a_write_to_something_else():
    def model(x):
        y = x.clone()
        a = torch.sin(x)
        y.add_(1)
        return a * 2 + y

    check_kept(model, sin_twice, lambda x: torch.mul(x.sin(), 2), torch.ones(1), matches=1)


def test_write_within_the_pattern():
    def model(x):
        y = x.clone()
        a = torch.sin(y)
        y.add_(1)
        return a + torch.cos(y)

    def pattern(y):
        a = torch.sin(y)
        y.add_(1)
        return a + torch.cos(y)

    def replacement(y):
        return torch.sin(y) + torch.cos(y.add_(1))

    def other_order(y):
        y.add_(1)
        return torch.sin(y) + torch.cos(y)

    check_kept(model, pattern, replacement, torch.ones(1), matches=1)
    check_kept(model, other_order, other_order, torch.ones(1), matches=0)


def test_clone_that_is_written_to_can_not_be_dropped():
    def model(x):
        y = x.clone()
        y.add_(1)
        return y + x

    check_kept(model, lambda x: x.clone(), lambda x: x, torch.ones(1), matches=0)
    check_kept(lambda x: x.clone() + 1, lambda x: x.clone(), lambda x: x, torch.ones(1), matches=1)


@pytest.mark.parametrize("between", [torch.rand, torch.randn])
def test_random_draws_are_not_reordered(between):
    def model(x):
        a = torch.bernoulli(x)
        b = between(1)
        return torch.bernoulli(a * x) + b

    gm = symbolic_trace(model)
    twice = lambda x: torch.bernoulli(torch.bernoulli(x) * x)
    assert len(replace_pattern(gm, twice, twice)) == 0


def test_unknown_functions_are_not_crossed():
    def unknown(x):
        x.mul_(0)

    graph = Graph()
    x = graph.placeholder("x")
    a = graph.call_function(torch.sin, (x,))
    graph.call_function(unknown, (x,))
    graph.output(graph.call_function(torch.mul, (a, graph.call_function(torch.cos, (x,)))))
    pattern = symbolic_trace(lambda x: torch.mul(torch.sin(x), torch.cos(x))).graph
    (match,) = SubgraphMatcher(pattern).match(graph)
    assert Placer(EffectAnalysis(graph)).place(match) is None
