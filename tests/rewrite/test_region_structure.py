"""Regions as part of a program: running, copying, editing, checking and printing what is in them."""

import copy
import pickle
import random

import pytest
import torch

import symtrace
from symtrace import Interpreter, Transformer, capture, diff
from symtrace.analysis import EffectAnalysis
from symtrace.ir import Checkpoint, all_graphs
from symtrace.ops.control_flow import cond
from symtrace.passes import Pipeline
from symtrace.passes.shape_prop import ShapeProp
from symtrace.testing import assert_equivalent

from .in_regions import put_into_regions
from .region_programs import POSITIVE, Net, nested


def test_shapes_are_noted_in_regions():
    gm = capture(Net(nested))
    ShapeProp(gm).propagate(POSITIVE, POSITIVE)
    noted = [n for g in all_graphs(gm.graph) if g is not gm.graph for n in g.nodes if "tensor_meta" in n.meta]
    assert len(noted) > 3
    from torch._subclasses import FakeTensorMode

    gm = capture(Net(nested))
    ShapeProp(gm, FakeTensorMode()).propagate(POSITIVE, POSITIVE)
    nodes = [n for g in all_graphs(gm.graph) for n in g.nodes]
    assert all("tensor_meta" in n.meta for n in nodes if n.target == "neg")


def test_an_interpreter_of_ones_own_sees_regions():
    seen = []

    class Recording(Interpreter):
        def __init__(self, module, extra):
            super().__init__(module)
            self.extra = extra

        def call_method(self, target, args, kwargs):
            seen.append(target)
            return super().call_method(target, args, kwargs)

    gm = capture(Net(nested))
    assert torch.equal(Recording(gm, 1).run(POSITIVE, POSITIVE), POSITIVE * -2)
    assert seen.count("neg") == 2


def test_a_transformer_changes_regions():
    class Swap(Transformer):
        def call_method(self, target, args, kwargs):
            return super().call_method("exp" if target == "neg" else target, args, kwargs)

    gm = capture(Net(nested))
    before = gm.code
    swapped = Swap(gm).transform()
    assert gm.code == before
    assert torch.equal(swapped(POSITIVE, POSITIVE), POSITIVE.exp() * 2)
    swapped.graph.lint()


def test_editing_a_region_is_editing_the_program():
    gm = capture(Net(nested))
    gm(POSITIVE, POSITIVE)
    node = next(n for g in all_graphs(gm.graph) for n in g.nodes if n.target == "neg")
    version = gm.graph.version
    node.target = "exp"
    assert gm.graph.version > version
    assert "exp" in gm.code
    assert torch.equal(gm(POSITIVE, POSITIVE), POSITIVE.exp() - POSITIVE)


def test_copies_have_regions_of_their_own():
    gm = capture(Net(nested))
    for other in (copy.copy(gm), copy.deepcopy(gm), pickle.loads(pickle.dumps(gm))):
        inner = list(all_graphs(other.graph))
        assert not {id(g) for g in inner} & {id(g) for g in all_graphs(gm.graph)}
        assert all(graph.owning_module is other for graph in inner)
        assert not diff(gm.graph, other.graph)
        for graph in inner:
            for node in graph.nodes:
                if node.target == "neg":
                    node.target = "exp"
        assert "exp" in other.code
        assert "exp" not in gm.code
        assert diff(gm.graph, other.graph)


def test_a_region_belongs_to_one_node():
    gm = capture(Net(nested))
    (node,) = gm.graph.find_nodes(op="call_function", target=cond)
    with gm.graph.inserting_after(node):
        other = gm.graph.call_function(cond, node.args)
    assert other.args[1] is not node.args[1]
    assert node.args[1].graph.owning_module is gm
    node.args = node.args
    kept = node.args[1]
    node.args = (True, *node.args[1:])
    assert node.args[1] is kept
    gm.graph.lint()


def test_lint_looks_into_regions():
    gm = capture(Net(nested))
    (node,) = gm.graph.find_nodes(op="call_function", target=cond)
    node.args = (*node.args[:3], (), node.args[4])
    with pytest.raises(symtrace.errors.LintError, match="argument 1 a region with 2 inputs, and 0 values"):
        gm.graph.lint()
    gm = capture(Net(nested))
    (node,) = gm.graph.find_nodes(op="call_function", target=cond)
    node.args[2].graph.output_node().args = ((),)
    with pytest.raises(
        symtrace.errors.LintError, match="argument 2 a region with 0 results, and 1 are wanted"
    ):
        gm.graph.lint()


def test_a_failed_pass_leaves_regions_as_they_were():
    gm = capture(Net(nested))
    before = gm.code
    checkpoint = Checkpoint(gm.graph)

    def spoil(module):
        for graph in all_graphs(module.graph):
            for node in graph.nodes:
                if node.target == "neg":
                    node.target = "exp"
        raise RuntimeError("no")

    with pytest.raises(symtrace.passes.PassError, match="ST230"):
        Pipeline([spoil])(gm)
    assert gm.code == before
    assert not checkpoint.differs()


def test_differences_in_regions_are_shown():
    gm = capture(Net(nested))
    other = copy.deepcopy(gm)
    Pipeline("cse")(other)
    text = str(diff(gm, other))
    assert "    then:" in text
    assert "-             neg_1 = y.neg()" in text or "neg_1 = y.neg()" in text


def test_printing_shows_regions():
    gm = capture(Net(nested))
    assert "region 0(" in str(gm.graph)
    assert 'subgraph "cluster_cond.then."' in gm.graph.to_dot()
    from symtrace.visualize.table import format_table

    assert "cond.then.cond.then.neg" in format_table(gm.graph)


def test_nothing_moves_past_a_region_that_reads_what_it_writes():
    def body(m, x, y):
        z = m.count * y if x.sum() > 0 else y * 1
        m.count.add_(1)
        return z

    gm = capture(Net(body))
    analysis = EffectAnalysis(gm.graph)
    (node,) = gm.graph.find_nodes(op="call_function", target=cond)
    (write,) = gm.graph.find_nodes(op="call_method", target="add_")
    assert analysis.conflict(node, write)


def test_writes_to_what_a_region_made_show_nowhere_outside():
    def body(m, x, y):
        z = x * 1
        if x.sum() > 0:
            w = y.clone()
            w.add_(1)
            z = w
        return z

    gm = capture(Net(body))
    (node,) = gm.graph.find_nodes(op="call_function", target=cond)
    assert EffectAnalysis(gm.graph).effect(node).is_pure


@pytest.mark.parametrize("seed", range(40))
def test_programs_put_into_regions_mean_the_same(seed):
    from symtrace.testing import random_program

    choices = random.Random(seed)
    program = random_program(choices, 10).double()
    gm = symtrace.symbolic_trace(program)
    assert put_into_regions(gm, choices)
    inputs = tuple(torch.rand(3, 4, dtype=torch.float64) - 0.5 for _ in range(2))
    assert_equivalent(program, gm, inputs, seeds=(0,), gradients=False)
