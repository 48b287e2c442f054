"""Random programs with writes, views, random draws and state: no pass may change what they compute."""

import operator
import random

import pytest
import torch
from torch import nn

from symtrace import GraphModule
from symtrace.experimental.const_fold import split_const_subgraphs
from symtrace.partition import PartitionError
from symtrace.passes.dialect.common.cse_pass import CSEPass
from symtrace.passes.infra.partitioner import CapabilityBasedPartitioner
from symtrace.passes.operator_support import create_op_support
from symtrace.passes.split_module import split_module
from symtrace.passes.tools_common import stable_topological_sort
from symtrace.rewrite import replace_pattern
from symtrace.runtime import Graph

KINDS = [
    "sin",
    "neg",
    "add",
    "mul",
    "clone",
    "view",
    "write",
    "add_",
    "draw",
    "setitem",
    "attribute",
    "double",
]


class State(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.linspace(-1, 1, 4), requires_grad=False)
        self.register_buffer("n", torch.ones(4))


def grow(graph, generator, kind, values, chain=0):
    """Add one node of a kind, on one of the last `chain` values; return it, or None if it has no value."""
    a, b = generator.choice(values[-chain:]), generator.choice(values)
    if chain and kind in ("add_", "setitem", "write"):
        a = b = generator.choice(values[:2])  # an input, so that what is in between can still match
    if kind in ("sin", "neg"):
        return graph.call_function(getattr(torch, kind), (a,))
    if kind in ("add", "mul"):
        return graph.call_function(getattr(operator, kind), (a, b))
    if kind == "double":
        return graph.call_function(operator.mul, (a, 2))
    if kind == "clone":
        return graph.call_method("clone", (a,))
    if kind == "view":
        return graph.call_method("view", (a, -1))
    if kind == "write":
        return graph.call_function(torch.neg, (a,), {"out": b})
    if kind == "add_":
        graph.call_method("add_", (a, 1))
        return None
    if kind == "setitem":
        graph.call_function(operator.setitem, (a, 0, generator.random()))
        return None
    if kind == "draw":
        return graph.call_function(torch.rand, (4,))
    return graph.get_attr(generator.choice(["w", "n"]))


def program(seed, size, kinds=KINDS, chain=0):
    generator = random.Random(seed)
    graph = Graph()
    values = [graph.placeholder("x"), graph.placeholder("y")]
    for _ in range(size):
        made = grow(graph, generator, generator.choice(kinds), values, chain)
        if made is not None:
            values.append(made)
    graph.output(tuple(generator.sample(values, min(3, len(values)))))
    return GraphModule(State(), graph)


def part_of(graph, seed):
    """A pattern cut out of a graph: a random node with some of what it is computed from."""
    generator = random.Random(seed)
    nodes = [
        n for n in graph.nodes if n.op in ("call_function", "call_method") and n.users and n.all_input_nodes
    ]
    if not nodes:
        return None
    last = generator.choice(nodes)
    chosen, front = {last}, [last]
    while front:
        for used in front.pop().all_input_nodes:
            if used in nodes and used not in chosen and generator.random() < 0.9:
                chosen.add(used)
                front.append(used)
    cut = Graph()
    values = {}
    for node in sorted(chosen):
        for used in node.all_input_nodes:
            if used not in chosen and used not in values:
                values[used] = cut.placeholder(used.name)
    for node in sorted(chosen):
        values[node] = cut.node_copy(node, values.__getitem__)
    cut.output(values[last])
    return cut


def outcome(module):
    """Run twice, so that state shows; return results, arguments and state."""
    torch.manual_seed(0)
    found = []
    for _ in range(2):
        x, y = torch.linspace(0, 1, 4), torch.linspace(1, 2, 4)
        results = module(x, y)
        found += [t.clone() for t in (*results, x, y)]
    return found + [torch.rand(1)]


def check(before, after):
    assert all(torch.equal(a, b) for a, b in zip(before, outcome(after), strict=True))


@pytest.mark.parametrize("seed", range(250))
def test_replacing_a_pattern_by_itself(seed):
    kinds = ["sin", "neg", "add", "mul", "mul", "add_", "setitem", "clone", "draw"]
    gm = program(seed, 12, kinds, chain=2)
    same = part_of(gm.graph, seed)
    expected = outcome(program(seed, 12, kinds, chain=2))
    if same is not None:
        replace_pattern(gm, same, same)
    gm.graph.lint()
    check(expected, gm)


@pytest.mark.parametrize("seed", range(80))
def test_merging_equal_computations(seed):
    kinds = ["sin", "neg", "double", "view", "clone", "add_", "attribute", "draw"]
    expected = outcome(program(seed, 16, kinds))
    result = CSEPass()(program(seed, 16, kinds)).graph_module
    result.graph.lint()
    check(expected, result)


@pytest.mark.parametrize("seed", range(60))
def test_folding_constants(seed):
    kinds = ["sin", "neg", "attribute", "attribute", "attribute", "double", "mul"]
    kinds += ["add_"] if seed % 3 == 0 else []
    expected = outcome(program(seed, 14, kinds))
    check(expected, split_const_subgraphs(program(seed, 14, kinds)))


@pytest.mark.parametrize("seed", range(80))
def test_splitting(seed):
    gm = program(seed, 14)
    expected = outcome(program(seed, 14))
    generator = random.Random(seed)
    stage = {node: index // 4 + (generator.random() < 0.1) for index, node in enumerate(gm.graph.nodes)}
    try:
        parts = split_module(gm, None, stage.__getitem__)
    except PartitionError:
        return
    parts.graph.lint()
    check(expected, parts)


@pytest.mark.parametrize("seed", range(80))
def test_fusing_partitions(seed):
    gm = program(seed, 16)
    expected = outcome(program(seed, 16))
    generator = random.Random(seed)
    chosen = {node for node in gm.graph.nodes if node.op.startswith("call") and generator.random() < 0.6}
    support = create_op_support(lambda modules, node: node in chosen)
    CapabilityBasedPartitioner(gm, support, allows_single_node_partition=True).partition_and_fuse()
    gm.graph.lint()
    check(expected, gm)


@pytest.mark.parametrize("seed", range(20))
def test_sorting(seed):
    gm = program(seed, 14)
    expected = outcome(program(seed, 14))
    check(expected, stable_topological_sort(gm))
