"""Proposing and fusing partitions."""

import operator
import random
import time

import pytest
import torch

from symtrace import GraphModule, symbolic_trace
from symtrace.errors import ArgumentError
from symtrace.passes.infra.partitioner import CapabilityBasedPartitioner, Partition
from symtrace.passes.operator_support import OperatorSupport, create_op_support
from symtrace.passes.utils.fuser_utils import fuse_as_graphmodule, fuse_by_partitions, validate_partition
from symtrace.runtime import Graph

SUPPORTED = {operator.add, torch.neg, operator.getitem}


class Support(OperatorSupport):
    def is_node_supported(self, submodules, node):
        return node.op == "call_function" and node.target in SUPPORTED


def names(partitions):
    return [sorted(node.name for node in partition.nodes) for partition in partitions]


def propose(model, **options):
    gm = symbolic_trace(model)
    return gm, CapabilityBasedPartitioner(gm, Support(), **options)


def test_partitions_end_at_unsupported_nodes():
    def model(x, y):
        b = torch.neg(x + y)
        return torch.relu(b) + 1 + b

    gm, partitioner = propose(model)
    partitions = partitioner.propose_partitions()
    assert names(partitions) == [["add_1", "add_2"], ["add", "neg"]]
    assert partitioner.fuse_partitions(partitions) is gm
    gm.graph.lint()
    assert [n.target for n in gm.graph.nodes if n.op == "call_module"] == ["fused_1", "fused_0"]
    x, y = torch.rand(2), torch.rand(2)
    assert torch.equal(gm(x, y), model(x, y))


def test_single_nodes_and_idle_nodes():
    model = lambda x: torch.relu(torch.neg(torch.relu(x + 1)))
    assert propose(model)[1].propose_partitions() == []
    assert names(propose(model, allows_single_node_partition=True)[1].propose_partitions()) == [
        ["neg"],
        ["add"],
    ]
    worth = propose(model, allowed_single_node_partition_ops=["torch.neg"])[1]
    assert names(worth.propose_partitions()) == [["neg"]]
    assert propose(lambda x: torch.neg(x + 1), non_compute_ops=["torch.neg"])[1].propose_partitions() == []


def test_independent_nodes_are_grouped_unless_told_otherwise():
    model = lambda x: (torch.neg(x), x + 1)
    assert names(propose(model)[1].propose_partitions()) == [["add", "neg"]]
    alone = propose(model, skip_horizontal_fusion=True, allows_single_node_partition=True)[1]
    assert sorted(names(alone.propose_partitions())) == [["add"], ["neg"]]


def test_idle_ends_are_taken_off():
    gm = symbolic_trace(lambda x: torch.neg(x).permute(1, 0))
    everything = create_op_support(lambda modules, node: True)
    partitioner = CapabilityBasedPartitioner(
        gm, everything, allows_single_node_partition=True, non_compute_ops=["torch.neg"]
    )
    partitions = partitioner.propose_partitions()
    partitioner.remove_bookend_non_compute_ops(partitions)
    assert names(partitions) == [["permute"]]


def test_effects_are_not_reordered():
    def model(x):
        y = x.clone()
        a = torch.neg(y)
        y.add_(1)
        return a, torch.neg(y), torch.neg(x)

    gm, partitioner = propose(model, allows_single_node_partition=True)
    partitions = partitioner.propose_partitions()
    assert all({"neg", "neg_1"} - set(group) for group in names(partitions))
    partitioner.fuse_partitions(partitions)
    gm.graph.lint()
    x = torch.rand(2)
    assert all(torch.equal(p, q) for p, q in zip(gm(x.clone()), model(x.clone()), strict=True))


def random_program(seed):
    generator = random.Random(seed)
    plan = [
        (generator.choice(["add", "neg", "relu", "write", "split"]), generator.random(), generator.random())
        for _ in range(generator.randint(3, 25))
    ]
    results = generator.randint(1, 3)

    def build(graph):
        values = [graph.placeholder("x"), graph.placeholder("y")]
        for op, first, second in plan:
            a, b = values[int(first * len(values))], values[int(second * len(values))]
            if op == "add":
                values.append(graph.call_function(operator.add, (a, b)))
            elif op == "split":
                pair = graph.call_function(torch.frexp, (a,))
                values.append(graph.call_function(operator.getitem, (pair, 0)))
            elif op == "write":
                values.append(graph.call_method("mul_", (a, 2)))
            else:
                values.append(graph.call_function(getattr(torch, op), (a,)))
        graph.output(tuple(values[-results:]))

    graph = Graph()
    build(graph)
    return GraphModule({}, graph)


@pytest.mark.parametrize("seed", range(60))
def test_fused_programs_compute_the_same(seed):
    gm = random_program(seed)
    args = torch.rand(3), torch.rand(3)
    expected = gm(*[a.clone() for a in args])
    CapabilityBasedPartitioner(gm, Support(), allows_single_node_partition=seed % 2 == 0).partition_and_fuse()
    gm.graph.lint()
    actual = gm(*[a.clone() for a in args])
    assert all(torch.equal(p, q) for p, q in zip(expected, actual, strict=True))


def test_cost_is_linear():
    def seconds(count):
        graph = Graph()
        value = graph.placeholder("x")
        for index in range(count):
            value = graph.call_function(torch.neg if index % 10 else torch.relu, (value,))
        graph.output(value)
        gm = GraphModule({}, graph)
        start = time.perf_counter()
        CapabilityBasedPartitioner(gm, Support()).propose_partitions()
        return time.perf_counter() - start

    assert min(seconds(8000) for _ in range(4)) < 12 * min(seconds(2000) for _ in range(4))


def nodes_of(gm):
    return {node.name: node for node in gm.graph.nodes}


def test_fusing_by_hand():
    def model(x):
        a = x + 1
        return a, torch.neg(a)

    gm = symbolic_trace(model)
    nodes = nodes_of(gm)
    module, inputs, outputs = fuse_as_graphmodule(gm, [nodes["add"], nodes["neg"]], "Both")
    assert [str(n) for n in inputs] == ["x"]
    assert [str(n) for n in outputs] == ["add", "neg"]
    assert type(module).__name__ == "Both"
    fuse_by_partitions(gm, [{nodes["add"]: None, nodes["neg"]: None}], prefix="part")
    assert [n.name for n in gm.graph.nodes] == ["x", "part0", "getitem", "getitem_1", "output"]
    assert [t.item() for t in gm(torch.tensor(1.0))] == [2, -2]


def test_wrong_partitions_are_refused_and_nothing_changes():
    gm = symbolic_trace(lambda x: torch.sin(torch.cos(torch.relu(x))))
    nodes, text = nodes_of(gm), str(gm.graph)
    assert not validate_partition([nodes["relu"], nodes["sin"]])
    assert validate_partition([nodes["relu"], nodes["cos"]])
    for partitions, code in [
        ([{}], "ST221"),
        ([{nodes["relu"]: None, nodes["sin"]: None}], "ST220"),
        ([{nodes["relu"]: None}, {nodes["relu"]: None}], "ST221"),
        ([{nodes["x"]: None}], "ST221"),
    ]:
        with pytest.raises(RuntimeError) as caught:
            fuse_by_partitions(gm, partitions)
        assert caught.value.code == code
        assert str(gm.graph) == text


def test_partition_type():
    gm = symbolic_trace(lambda x: torch.neg(x))
    node = nodes_of(gm)["neg"]
    partition = Partition(id=3, nodes=[node])
    assert partition.size() == 1
    partition.remove_node(node)
    assert partition.size() == 0
    partition.add_node(node, 5)
    assert partition.nodes == {node: 5}


def test_modules_of_torch_fx_are_refused():
    import torch.fx

    with pytest.raises(ArgumentError, match="from_torch_fx"):
        CapabilityBasedPartitioner(torch.fx.symbolic_trace(lambda x: x + 1), Support())


def test_fusing_twice_keeps_the_first_modules():
    model = lambda x: torch.relu(torch.neg(x + 1)) + 2
    gm, partitioner = propose(model, allows_single_node_partition=True)
    partitioner.partition_and_fuse()
    relu = create_op_support(lambda modules, node: node.target is torch.relu)
    CapabilityBasedPartitioner(gm, relu, allows_single_node_partition=True).partition_and_fuse()
    gm.graph.lint()
    assert [n.target for n in gm.graph.nodes if n.op == "call_module"] == ["fused_1", "fused_0_1", "fused_0"]
    x = torch.rand(2) - 2
    assert torch.equal(gm(x), model(x))
