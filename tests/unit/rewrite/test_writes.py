"""Patterns and replacements that write to what they are given."""

import pytest
import torch
import torch.nn.functional as F

from symtrace import replace_pattern, symbolic_trace
from symtrace.rewrite import why_not

X = torch.linspace(-1, 1, 6)


def writes(y):
    return y.add_(1).mul_(2)


def writes_otherwise(y):
    return y.mul_(2).add_(2)


def pure(y):
    return (y + 1) * 2


def seen_afterwards(x):
    y = x * 1
    return writes(y) + y


def seen_through_a_view(x):
    y = x * 1
    first = y[:1]
    return writes(y).sum() + first


def written_input(x):
    return writes(x)


def not_seen(x):
    return writes(x * 1) + 1


def seen_in_the_result_alone(x):
    return writes(x * 1).view(2, 3).sum()


@pytest.mark.parametrize("program", [seen_afterwards, seen_through_a_view, written_input])
def test_a_write_that_is_seen_is_not_lost(program):
    gm = symbolic_trace(program)
    assert not replace_pattern(gm, writes, pure)
    assert torch.equal(gm(X.clone()), program(X.clone()))


@pytest.mark.parametrize("program", [not_seen, seen_in_the_result_alone])
def test_a_write_that_nothing_sees_may_go(program):
    gm = symbolic_trace(program)
    assert len(replace_pattern(gm, writes, pure)) == 1
    torch.testing.assert_close(gm(X), program(X))


@pytest.mark.parametrize(
    "program", [seen_afterwards, seen_through_a_view, written_input, not_seen, seen_in_the_result_alone]
)
def test_a_write_may_give_way_to_another(program):
    gm = symbolic_trace(program)
    assert len(replace_pattern(gm, writes, writes_otherwise)) == 1
    left, right = X.clone(), X.clone()
    torch.testing.assert_close(gm(left), program(right))
    torch.testing.assert_close(left, right)


def test_a_new_write_is_made_where_nothing_sees_it():
    gm = symbolic_trace(lambda x: F.relu(x) + F.relu(x * 2))
    assert len(replace_pattern(gm, lambda x: F.relu(x), lambda x: F.relu(x, inplace=True))) == 1
    assert [n.kwargs.get("inplace") for n in gm.graph.nodes if n.target is F.relu] == [False, True]


def test_what_a_callback_gives_is_checked_too():
    from symtrace.rewrite import replace_pattern_with_filters

    gm = symbolic_trace(seen_afterwards)
    graph = symbolic_trace(pure).graph
    done = replace_pattern_with_filters(gm, writes, replacement_callback=lambda *_: graph)
    assert not done
    assert torch.equal(gm(X), seen_afterwards(X))


def test_arithmetic_on_sizes_is_no_operator_of_torch():
    gm = symbolic_trace(lambda x: x.new_zeros(x.size(0) + 1) + torch.add(x.sum(), 1))
    done = replace_pattern(gm, lambda x, y: torch.add(x, y), lambda x, y: torch.sub(x, -y), normalize=True)
    assert len(done) == 2
    assert torch.equal(gm(X), torch.full((7,), X.sum().item() + 1))
    node = next(n for n in gm.graph.nodes if n.name == "add")
    assert "number" in why_not(lambda x, y: torch.add(x, y), node, normalize=True)


@pytest.mark.parametrize(
    ("program", "pattern"),
    [
        (lambda x: torch.negative(x), lambda x: -x),
        (lambda x: torch.multiply(2, x), lambda x: x * 2),
        (lambda x: torch.concat([x, x], 0), lambda x: torch.cat([x, x])),
        (lambda x: x.true_divide(2), lambda x: x / 2),
        (lambda x: abs(x), lambda x: torch.absolute(x)),
        (lambda x: torch.clip(x, min=0), lambda x: x.clamp(0)),
        (lambda x: x.reshape(2, 3).swapaxes(0, 1), lambda x: torch.transpose(x.reshape(2, 3), 0, 1)),
    ],
)
def test_further_names_of_operators_match(program, pattern):
    gm = symbolic_trace(program)
    assert not replace_pattern(gm, pattern, lambda x: x + 1)
    assert len(replace_pattern(gm, pattern, lambda x: x + 1, normalize=True)) == 1
