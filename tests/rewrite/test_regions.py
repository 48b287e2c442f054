"""Passes in programs with decisions: what they make of what is inside, and what they must leave alone."""

import copy
import random

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import symtrace
from symtrace import capture, diff, replace_pattern
from symtrace.analysis import EffectAnalysis, effect_edges
from symtrace.ir import Region, all_graphs
from symtrace.ops.control_flow import cond
from symtrace.passes import GraphModuleTransformation, Pipeline, extract_features
from symtrace.passes.dialect.common.cse_pass import CSEPass
from symtrace.passes.infra.partitioner import CapabilityBasedPartitioner
from symtrace.passes.normalize import NormalizeArgs, NormalizeOperators
from symtrace.passes.operator_support import create_op_support
from symtrace.passes.split_module import split_module
from symtrace.rewrite import Rule, RuleSet, why_not
from symtrace.testing import assert_equivalent

from .region_programs import NEGATIVE, POSITIVE, WAYS, Net, flat, inside, nested, twice


def check(text, body, modified=True, mode=False, **options):
    """Run a pipeline on a program with decisions; it means the same whichever way it goes."""
    program = Net(body).train(mode)
    gm = capture(program)
    assert len(list(all_graphs(gm.graph))) > 1
    before = gm.code
    result = Pipeline(text)(gm)
    gm.graph.lint()
    assert result.modified is modified
    assert (gm.code != before) is modified
    modes = (mode,) if any(name in text for name in ("fuse", "dropout", "parameters")) else (True, False)
    for ways in WAYS:
        assert_equivalent(
            program, gm, ways, modes=modes, rtol=1e-4, atol=1e-5, **{"gradients": False, **options}
        )
    return gm


def test_equal_computations_in_a_region_are_done_once():
    assert inside(check("cse", twice)).count("relu") == 2
    assert inside(check("cse", nested)).count("neg") == 1
    result = CSEPass()(capture(Net(twice)))
    assert result.modified
    assert inside(result.graph_module).count("relu") == 2


def test_equal_computations_on_two_ways_stay_on_both():
    def body(m, x, y):
        return torch.relu(y) if x.sum() > 0 else torch.relu(y) + 1

    check("cse", body, modified=False)


def test_a_write_in_a_region_keeps_apart_what_is_computed_around_it():
    def body(m, x, y):
        z = y * 1
        before = z.sin()
        if x.sum() > 0:
            z.add_(1)
        return before + z.sin()

    gm = check("cse,dce", body, modified=False)
    assert "add_" in inside(gm)


def test_state_that_a_region_writes_is_read_again():
    def body(m, x, y):
        before = m.count * 1
        if x.sum() > 0:
            m.count.add_(1)
        return before + m.count * 1

    check("cse", body, modified=False)
    check("const-fold{parameters=true}", body, modified=False, state=False)


def test_an_attribute_that_a_region_sets_is_read_again():
    def body(m, x, y):
        before = m.count * 1
        if x.sum() > 0:
            m.count = m.count + y.sum()
        return before + m.count * 1

    check("cse", body, modified=False)
    gm = capture(Net(body))
    (node,) = gm.graph.find_nodes(op="call_function", target=cond)
    assert EffectAnalysis(gm.graph).sets_attributes
    assert any(node in edge for edge in effect_edges(gm.graph))


def test_dead_code_goes_and_so_does_what_only_it_was_for():
    def body(m, x, y):
        wanted, other = x.exp(), y.tan()
        if x.sum() > 0:
            z, unused = wanted + 1, other.cos()
            m.count.sin()
        else:
            z, unused = wanted - 1, other.sin()
        unused.neg()
        return z

    gm = check("dce", body)
    assert inside(gm) == ["add", "sub"] or inside(gm) == ["sub", "add"]
    assert not gm.graph.find_nodes(op="call_method", target="tan")
    assert not [node for node in gm.graph.nodes if node.op == "get_attr"]
    (node,) = gm.graph.find_nodes(op="call_function", target=cond)
    assert len(node.args[3]) == len(node.args[4]) == 1
    other = capture(Net(body))
    assert other.graph.eliminate_dead_code()
    assert not diff(other.graph, gm.graph)


def test_decisions_without_effect_go_and_those_with_one_stay():
    def idle(m, x, y):
        z = x.neg() if x.sum() > 0 else y
        z.exp()
        return y + 1

    def busy(m, x, y):
        if x.sum() > 0:
            m.count.add_(1)
        return y + 1

    gm = capture(Net(idle))
    Pipeline("dce")(gm)
    assert not gm.graph.find_nodes(op="call_function", target=cond)
    check("dce", busy, modified=False)


def test_what_training_does_in_a_region_is_not_dead():
    def body(m, x, y):
        if x.sum() > 0:
            m.norm(m.conv(y.reshape(1, 1, 2, 3)))
        return y + 1

    gm = check("dce", body, modified=False)
    assert not gm.graph.eliminate_dead_code()


def test_dead_normalisation_in_evaluation_still_counts_in_training():
    class Counting(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.BatchNorm1d(3)

        def forward(self, x):
            self.norm(x)
            return x + 1

    program = Counting().eval()
    gm = symtrace.symbolic_trace(program)
    assert not gm.graph.eliminate_dead_code()
    gm.train()(POSITIVE)
    assert gm.norm.num_batches_tracked == 1


@pytest.mark.parametrize(
    ("text", "body", "expected"),
    [
        ("remove-dropout", lambda m, x, y: m.drop(y) if x.sum() > 0 else F.dropout(y, 0.5, m.training), []),
        ("remove-identity", lambda m, x, y: m.same(y) if x.sum() > 0 else y + 1, ["add"]),
        ("const-fold", lambda m, x, y: y + torch.arange(3) * 2 if x.sum() > 0 else y, ["_folded_mul", "add"]),
        (
            "const-fold{parameters=true}",
            lambda m, x, y: y @ m.weight.t() if x.sum() > 0 else y,
            ["_folded_t", "matmul"],
        ),
        ("functionalize", lambda m, x, y: y.neg().add_(1) if x.sum() > 0 else y, ["neg", "add"]),
        ("normalize", lambda m, x, y: torch.add(F.relu(y), 1) if x.sum() > 0 else y, ["relu", "add"]),
        ("decompose", lambda m, x, y: F.silu(y) if x.sum() > 0 else y, ["sigmoid", "mul"]),
        (
            "fuse-conv-bn",
            lambda m, x, y: m.norm(m.conv(y.reshape(1, 1, 2, 3))) if x.sum() > 0 else y,
            ["reshape", "conv"],
        ),
        (
            "fuse-conv-scale",
            lambda m, x, y: m.conv(y.reshape(1, 1, 2, 3)) * 2 if x.sum() > 0 else y,
            ["reshape", "conv"],
        ),
    ],
)
def test_each_pass_goes_into_regions(text, body, expected):
    program = capture(Net(body).eval())
    if "graph" in text or not inside(program):
        pytest.skip("captured without regions")
    gm = check(text, body, state=False)
    assert inside(gm) == expected


def test_layers_are_not_folded_where_another_graph_uses_them():
    def body(m, x, y):
        image = y.reshape(1, 1, 2, 3)
        plain = m.conv(image)
        fused = m.norm(m.conv(image)) if x.sum() > 0 else image * 1
        return plain.sum() + fused.sum()

    gm = check("fuse-conv-bn", body, state=False)
    assert [node.target for node in gm.graph.nodes if node.op == "call_module"] == ["conv"]
    assert [name for name in inside(gm) if name.startswith("conv")] == ["conv_fused_1"]


def test_values_that_a_region_may_write_to_are_not_written_elsewhere():
    def body(m, x, y):
        z = y.neg()
        if x.sum() > 0:
            z.add_(1)
        z.mul_(2)
        return z

    check("functionalize", body, modified=False)


def test_weights_that_the_program_writes_are_not_folded():
    def body(m, x, y):
        m.conv.weight.detach().mul_(1.5)
        return m.norm(m.conv(y.reshape(1, 1, 2, 3)))

    gm = symtrace.symbolic_trace(Net(body).eval())
    assert not Pipeline("fuse-conv-bn,fuse-conv-scale")(gm).modified


def test_patterns_are_replaced_in_regions():
    program = Net(nested)
    gm = capture(program)
    places = replace_pattern(gm, lambda x: x.neg(), lambda x: 0 - x)
    assert len(places) == 2
    assert "neg" not in gm.code
    for ways in WAYS:
        assert_equivalent(program, gm, ways)
    assert not replace_pattern(gm, lambda x: x.neg(), lambda x: 0 - x)


def test_replacements_may_decide():
    def branching(x):
        if x.sum() > 0:
            return torch.relu(x)
        return x * 0

    gm = symtrace.symbolic_trace(lambda x: torch.relu(x) + 1)
    assert replace_pattern(gm, lambda x: torch.relu(x), capture(branching))
    assert len(list(all_graphs(gm.graph))) == 3
    for x in (POSITIVE, NEGATIVE):
        assert torch.equal(gm(x), torch.relu(x) + 1)


def test_replacements_bring_their_layers_into_regions():
    class Brings(nn.Module):
        def __init__(self):
            super().__init__()
            self.own = nn.PReLU()

        def forward(self, x):
            if x.sum() > 0:
                return self.own(x)
            return x

    gm = symtrace.symbolic_trace(lambda x: torch.relu(x) + 1)
    assert replace_pattern(gm, lambda x: torch.relu(x), capture(Brings()))
    assert "own" in dict(gm.named_modules())
    assert torch.equal(gm(POSITIVE), POSITIVE + 1)


def test_rules_and_transformations_see_regions():
    rules = RuleSet([Rule("twice", lambda x: x.neg() + x.neg(), lambda x: -2 * x)])
    gm = capture(Net(nested))
    assert rules(gm)
    assert rules.statistics["twice"].hits == 1

    class Swap(GraphModuleTransformation):
        def pattern(self):
            return lambda x: torch.relu(x)

        def replace(self, node, matches):
            return node.graph.call_function(torch.tanh, tuple(matches))

    swapped = Swap()(capture(Net(twice)))
    assert inside(swapped).count("tanh") == 3
    assert why_not(
        lambda x: torch.relu(x),
        next(n for g in all_graphs(swapped.graph) for n in g.nodes if n.target is torch.tanh),
    )


@pytest.mark.parametrize("normal", [NormalizeArgs, NormalizeOperators])
def test_normal_arguments_in_regions(normal):
    program = Net(flat)
    result = normal(capture(program)).transform()
    assert "end_dim = -1" in result.code or "flatten + 1" in result.code
    for ways in WAYS:
        assert_equivalent(program, result, ways)


def test_modules_are_inlined_into_regions_and_with_theirs():
    class Inner(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x):
            if x.sum() > 0:
                return self.linear(x)
            return x

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = capture(Inner())

        def forward(self, x):
            if x.max() > 0.5:
                return self.inner(x) + 1
            return self.inner(x) - 1

    program = Outer()
    gm = capture(program)
    place = {node: index for index, node in enumerate(gm.graph.nodes)}
    parts = split_module(gm, None, place.__getitem__)
    assert any(isinstance(m, symtrace.GraphModule) for _, m in parts.named_children())
    Pipeline("inline")(parts)
    calls = {n.target for g in all_graphs(parts.graph) for n in g.nodes if n.op == "call_module"}
    assert calls
    assert not [target for target in calls if isinstance(parts.get_submodule(target), symtrace.GraphModule)]
    for x in (POSITIVE, NEGATIVE, POSITIVE * 0.1):
        assert torch.equal(parts(x), program(x))


@pytest.mark.parametrize("seed", range(30))
def test_splitting_does_not_cut_through_regions(seed):
    choices = random.Random(seed)
    gm = capture(Net([twice, nested][seed % 2]))
    place = {node: index // 2 for index, node in enumerate(gm.graph.nodes)}
    parts = split_module(gm, None, place.__getitem__)
    regions = sum(
        type(v) is Region
        for g in parts.modules()
        if hasattr(g, "graph")
        for n in g.graph.nodes
        for v in n.args
    )
    assert regions == sum(type(v) is Region for n in gm.graph.nodes for v in n.args)
    support = create_op_support(lambda modules, node: choices.random() < 0.7)
    fused = CapabilityBasedPartitioner(copy.deepcopy(gm), support, True).partition_and_fuse()
    for ways in WAYS:
        assert_equivalent(gm, parts, ways, state=False, gradients=False)
        assert_equivalent(gm, fused, ways, state=False, gradients=False)


def test_regions_can_be_outlined():
    class Block(nn.Module):
        def forward(self, x):
            if x.sum() > 0:
                return x * 2
            return x.neg() + 1

    class Whole(nn.Module):
        def __init__(self):
            super().__init__()
            self.block = Block()

        def forward(self, x):
            return self.block(x) + 1

    gm = capture(Whole())
    assert Pipeline("outline{path=block}")(gm).modified
    assert not gm.graph.find_nodes(op="call_function", target=cond)
    for x in (POSITIVE, NEGATIVE):
        assert torch.equal(gm(x), Whole()(x))


def test_features_of_programs_with_decisions():
    class Deciding(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second, self.third = nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 3)

        def forward(self, x):
            x = self.first(x)
            if x.sum() > 0:
                x = self.second(x)
            return self.third(x)

    model = Deciding()
    gm = capture(model)
    features = extract_features(gm, {"third": "last", "first": "start"})
    for x in (POSITIVE, NEGATIVE):
        assert torch.equal(features(x)["last"], model(x))
        assert torch.equal(features(x)["start"], model.first(x))
    assert "third" not in dict(extract_features(gm, ["first"]).named_modules())


def test_what_is_written_to_behind_a_region_is_not_decomposed_in_it():
    """The simpler calls would keep the operand for the backward pass."""

    def body(m, x, y):
        z = x * 1
        a = torch.softmax(z, -1) if y.sum() > 0 else z * 2
        z.copy_(y)
        return a + z

    program = Net(body)
    gm = capture(program)
    Pipeline("decompose")(gm)
    for ways in WAYS:
        assert_equivalent(program, gm, ways)
