"""What data decides is kept: `if`, conditional expressions, `and`, `or`, `not`, chains, `assert`, `raise`, `return`."""

import copy
import pickle

import pytest
import torch
import torch.nn.functional as F
from tests.control_flow.decisions import PROGRAMS, ROWS
from torch import nn

import symtrace
from symtrace.errors import DataDependentError, TraceError
from symtrace.ir import Region


def outcome(function, x):
    """Return results and gradients, or the error, of a call."""
    torch.manual_seed(0)
    given = x.clone().requires_grad_()
    try:
        result = function(given)
    except (ValueError, AssertionError) as error:
        return type(error), str(error).splitlines()[0]
    leaves = torch.utils._pytree.tree_leaves(result)
    sum(leaf.sum() for leaf in leaves).backward()
    return [leaf.tolist() for leaf in leaves], given.grad.tolist()


@pytest.mark.parametrize("example", [None, 0, 1, 3])
@pytest.mark.parametrize("program", PROGRAMS)
def test_every_way_is_as_in_eager(program, example):
    module = symtrace.capture(program, None if example is None else (ROWS[example],))
    for row in ROWS:
        assert outcome(module, row) == outcome(program, row)


@pytest.mark.parametrize("program", PROGRAMS)
def test_copies_and_the_interpreter_go_the_same_ways(program):
    module = symtrace.capture(program)
    module.graph.lint()
    others = [copy.deepcopy(module), pickle.loads(pickle.dumps(module)), symtrace.Interpreter(module).run]
    for row in ROWS:
        expected = outcome(program, row)
        assert [outcome(other, row) for other in others] == [expected] * 3


def test_the_code_has_a_real_if():
    module = symtrace.capture(PROGRAMS[0])
    assert "    if gt:\n" in module.code
    assert "    else:\n" in module.code


def test_symbolic_trace_still_refuses():
    with pytest.raises(DataDependentError) as caught:
        symtrace.symbolic_trace(PROGRAMS[0])
    assert caught.value.code == "ST012"
    with pytest.raises(DataDependentError):
        symtrace.capture(PROGRAMS[0], control_flow="refuse")


class Stateful(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.other = nn.Linear(4, 4)
        self.register_buffer("seen", torch.zeros(()))
        self.count = 0
        self.rate = 0.5

    def forward(self, x):
        rate = self.rate if self.training else 0.0
        x = F.dropout(x, rate, training=self.training)
        if self.training:
            self.seen += 1
            self.count += 1
        if x.sum() > 0:
            self.seen = self.seen + 10
            x = self.linear(x)
        else:
            x = self.other(x)
        return x + self.seen


@pytest.mark.parametrize("example", [None, 0, 1])
def test_state_modules_and_training_follow_the_way_taken(example):
    original = Stateful()
    captured = symtrace.capture(original, None if example is None else (ROWS[example],))
    before = copy.deepcopy(original.state_dict())
    for training in (True, False, True, False):
        reference = original.train(training)
        captured.train(training)
        for row in ROWS:
            torch.manual_seed(1)
            expected = reference(row)
            torch.manual_seed(1)
            assert torch.equal(captured(row), expected)
            assert torch.equal(captured.seen, original.seen)
            assert captured.count == original.count
    assert before.keys() == captured.state_dict().keys()


def test_capture_leaves_functions_as_they_were():
    code = PROGRAMS[0].__code__
    symtrace.capture(PROGRAMS[0])
    assert PROGRAMS[0].__code__ is code
    assert not any(name.startswith("__symtrace") for name in PROGRAMS[0].__globals__)


def test_a_program_that_decides_nothing_has_no_regions():
    module = symtrace.capture(lambda x: x + 1 if x is not None else None)
    assert not any(type(arg) is Region for node in module.graph.nodes for arg in node.args)


def grows_on_one_way(x):
    parts = [x]
    if x.sum() > 0:
        parts.append(x + 1)
    return torch.stack(parts)


class Box:
    mode = "a"


def changes_an_object(x):
    box = Box()
    box.mode = "a"
    if x.sum() > 0:
        box.mode = "b"
    return x if box.mode == "a" else -x


def changes_in_a_helper(x):
    parts = []
    if x.sum() > 0:
        note(parts)
    return x * len(parts)


def note(parts):
    parts.append(1)


def different_kinds(x):
    y = x if x.sum() > 0 else [x]
    return y


def test_values_of_different_kinds_are_what_they_are():
    module = symtrace.capture(different_kinds)
    for x in (torch.ones(3), -torch.ones(3)):
        expected, actual = different_kinds(x), module(x)
        assert type(actual) is type(expected)
        assert (actual is x) is (expected is x)


@pytest.mark.parametrize("program", [changes_an_object])
def test_what_cannot_be_one_value_is_refused(program):
    with pytest.raises(TraceError) as caught:
        symtrace.capture(program)
    assert caught.value.code == "ST033"
    assert caught.value.location.file == __file__


@pytest.mark.parametrize("has_examples", [False, True])
@pytest.mark.parametrize("program", [grows_on_one_way, changes_in_a_helper])
def test_lists_that_grow_on_one_way_are_lists_of_the_graph(program, has_examples):
    given = torch.ones(3), -torch.ones(3)
    module = symtrace.capture(program, given[:1] if has_examples else None)
    for x in given:
        torch.testing.assert_close(module(x), program(x), rtol=0, atol=0)


def test_lines_of_the_program_are_kept():
    module = symtrace.capture(PROGRAMS[0])
    made = [node for node in module.graph.nodes if node.op not in ("placeholder", "output")]
    frames = [node.origin.frames[-1] for node in made]
    assert {frame.file for frame in frames} == {PROGRAMS[0].__code__.co_filename}
