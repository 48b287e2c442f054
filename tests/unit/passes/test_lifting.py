"""Modules of graphs that were taken out of others; types of items."""

import operator
from typing import NamedTuple

import torch

import symtrace as fx
from symtrace.passes.annotate_getitem_nodes import annotate_getitem_nodes
from symtrace.passes.utils import compare_graphs, lift_subgraph_as_module


class Gate(NamedTuple):
    open: torch.Tensor
    level: int


def test_a_lifted_module_shares_what_its_graph_uses():
    net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
    gm = fx.symbolic_trace(net)
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.output(graph.call_module("2", (graph.call_module("1", (x,)),)))
    lifted, names = lift_subgraph_as_module(gm, graph, comp_name="tail")
    assert names == {"1": "tail.1", "2": "tail.2"}
    assert set(lifted.state_dict()) == {"2.weight", "2.bias"}
    value = torch.randn(4, 3)
    assert torch.equal(lifted(value), net[2](net[1](value)))


def test_graphs_are_compared_without_their_names():
    def traced(function):
        return fx.symbolic_trace(function).graph

    left = traced(lambda first: torch.sin(first) * 3)
    assert compare_graphs(left, traced(lambda other: torch.sin(other) * 3))
    assert not compare_graphs(left, traced(lambda other: torch.sin(other) * 4))
    assert not compare_graphs(left, traced(lambda other: torch.sin(torch.sin(other)) * 3))


def test_items_get_the_types_of_their_containers():
    def forward(pair: tuple[int, torch.Tensor], many: list[float], gate: Gate, plain):
        return pair[1], many[0], gate[-1], plain[0]

    graph = fx.symbolic_trace(forward).graph
    annotate_getitem_nodes(graph)
    items = graph.find_nodes(op="call_function", target=operator.getitem)
    assert [item.type for item in items] == [torch.Tensor, float, int, None]
