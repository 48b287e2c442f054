"""B10: replace_pattern keeps metadata, sees through spelling, needs no recursion, and handles neighbours."""

import pytest
import torch
import torch.nn.functional as F

import symtrace as fx

from .support import targets


def test_replacements_inherit_metadata():
    gm = fx.symbolic_trace(lambda x: torch.relu(x) + 1)
    for n in gm.graph.nodes:
        n.meta["tag"] = "kept"
    assert len(fx.replace_pattern(gm, lambda x: torch.relu(x), lambda x: torch.neg(torch.abs(x)))) == 1
    assert [(n.name, n.meta.get("tag")) for n in gm.graph.nodes] == [
        ("x", "kept"),
        ("abs_1", "kept"),
        ("neg", "kept"),
        ("add", "kept"),
        ("output", "kept"),
    ]


SAME = [
    (lambda x: torch.sum(x, 1), lambda x: torch.sum(x, dim=1)),
    (lambda x: torch.sum(x, dim=1), lambda x: torch.sum(x, 1)),
    (lambda x: torch.flatten(x, 1), lambda x: torch.flatten(x, start_dim=1)),
    (lambda x: F.softmax(x, -1), lambda x: F.softmax(x, dim=-1)),
    (lambda x: F.max_pool1d(x, 2), lambda x: F.max_pool1d(x, kernel_size=2)),
    (lambda x: torch.transpose(x, 0, 1), lambda x: torch.transpose(x, dim0=0, dim1=1)),
]


@pytest.mark.parametrize(("program", "pattern"), SAME)
def test_spelling_of_arguments_does_not_matter(program, pattern):
    gm = fx.symbolic_trace(program)
    assert len(fx.replace_pattern(gm, pattern, lambda x: torch.neg(x))) == 1
    assert targets(gm, "call_function") == [torch.neg]


DIFFERENT = [
    (lambda x: torch.sum(x, 1), lambda x: torch.sum(x, dim=0)),
    (lambda x: torch.sum(x, 1), lambda x: torch.sum(x)),
    (lambda x: torch.flatten(x, 2), lambda x: torch.flatten(x, start_dim=1)),
    (lambda x: x - 1, lambda x: 1 - x),
    (lambda x: torch.relu(x), lambda x: torch.neg(x)),
]


@pytest.mark.parametrize(("program", "pattern"), DIFFERENT)
def test_other_arguments_do_not_match(program, pattern):
    gm = fx.symbolic_trace(program)
    before = gm.code
    assert fx.replace_pattern(gm, pattern, lambda x: torch.abs(x)) == []
    assert gm.code == before


def _match_commuted(program, pattern):
    gm = fx.symbolic_trace(program)
    found = fx.replace_pattern(gm, pattern, lambda x, y: torch.maximum(x, y), normalize=True)
    return len(found), gm


def test_commuted_operands_match_when_normalised():
    for program, pattern in [
        (lambda a, b: torch.relu(b) + a, lambda x, y: x + torch.relu(y)),
        (lambda a, b: torch.mul(torch.relu(b), a), lambda x, y: torch.mul(x, torch.relu(y))),
    ]:
        found, gm = _match_commuted(program, pattern)
        assert found == 1
        a, b = torch.tensor(1.0), torch.tensor(2.0)
        assert gm(a, b).item() == 2.0


def chain(length):
    def program(x):
        for _ in range(length):
            x = torch.neg(x)
        return x

    return program


def test_a_pattern_of_1200_nodes():
    gm = fx.symbolic_trace(chain(1200))
    assert len(fx.replace_pattern(gm, chain(1200), lambda x: torch.abs(x))) == 1
    assert gm(torch.tensor(-3.0)).item() == 3.0


def test_neighbouring_matches():
    gm = fx.symbolic_trace(chain(6))
    found = fx.replace_pattern(gm, chain(2), lambda x: torch.abs(x))
    gm.graph.lint()
    assert len(found) == 3
    assert targets(gm, "call_function") == [torch.abs] * 3


def test_a_replacement_that_is_its_input():
    gm = fx.symbolic_trace(lambda x: torch.neg(torch.neg(torch.neg(torch.neg(x)))) + 1)
    assert len(fx.replace_pattern(gm, chain(2), lambda x: x)) == 2
    gm.graph.lint()
    assert gm(torch.tensor(2.0)).item() == 3.0


def test_back_to_back_with_several_inputs():
    gm = fx.symbolic_trace(lambda a, b, c: torch.add(torch.add(a, b), c))
    fx.replace_pattern(gm, lambda x, y: torch.add(x, y), lambda x, y: torch.sub(y, x))
    gm.graph.lint()
    one, two, three = (torch.tensor(float(v)) for v in (1, 2, 3))
    assert gm(one, two, three).item() == 3 - (2 - 1)
