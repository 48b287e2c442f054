"""Cases C28 to C31: editing graphs."""

# ruff: noqa: PT017 - where a refusal is allowed, what it says is checked in the except block

import pytest
import torch
from torch import nn

import symtrace as fx

from .support import node, shape_of


def _insert_by_proxy(gm):
    add = node(gm, "add")
    with gm.graph.inserting_after(add):
        proxy = torch.relu(fx.Proxy(add.args[0]))
    return add, proxy


def test_c28_a_proxy_counts_as_its_node():
    gm = fx.symbolic_trace(lambda x: (x + 1) * 2)
    add, proxy = _insert_by_proxy(gm)
    before = shape_of(gm.graph)
    try:
        add.replace_all_uses_with(proxy)
    except TypeError:
        assert shape_of(gm.graph) == before
        return
    gm.graph.erase_node(add)
    gm.recompile()
    assert gm(torch.tensor(1.0)).item() == 2.0


@pytest.mark.parametrize(
    "edit",
    [
        lambda gm, proxy: setattr(node(gm, "mul"), "args", (proxy, 2)),
        lambda gm, proxy: node(gm, "mul").update_arg(0, proxy),
        lambda gm, proxy: node(gm, "mul").replace_input_with(node(gm, "add"), proxy),
        lambda gm, proxy: node(gm, "mul").update_kwarg("other", [proxy]),
        lambda gm, proxy: gm.graph.output_node().update_arg(0, proxy),
    ],
)
def test_c28_a_proxy_never_ends_up_in_arguments(edit):
    gm = fx.symbolic_trace(lambda x: (x + 1) * 2)
    _, proxy = _insert_by_proxy(gm)
    before = shape_of(gm.graph)
    try:
        edit(gm, proxy)
    except (TypeError, ValueError):
        assert shape_of(gm.graph) == before
    assert "Proxy" not in gm.code
    gm.graph.lint()


def _documented_example(gm):
    add = node(gm, "add")
    with gm.graph.inserting_after(add):
        r = gm.graph.call_function(torch.relu, (add,))
    add.replace_all_uses_with(r)
    return add, r


def test_c29_insert_a_user_and_replace_all_uses():
    gm = fx.symbolic_trace(lambda x, y: x + y)
    try:
        add, r = _documented_example(gm)
    except fx.errors.GraphEditError as error:
        assert "relu" in str(error)
        relu = node(gm, "relu")
        assert relu.args == (node(gm, "add"),)
        assert gm.graph.output_node().args == (node(gm, "add"),)
        return
    assert r.args == (add,)
    gm.recompile()
    assert gm(torch.tensor(1.0), torch.tensor(1.0)).item() == 2.0


def test_c29_through_keywords_and_containers():
    gm = fx.symbolic_trace(lambda x, y: x + y)
    add = node(gm, "add")
    with gm.graph.inserting_after(add):
        r = gm.graph.call_function(torch.stack, (), {"tensors": [add, add]})
    try:
        add.replace_all_uses_with(r)
    except fx.errors.GraphEditError:
        assert list(r.kwargs["tensors"]) == [add, add]
        return
    assert list(r.kwargs["tensors"]) == [add, add]
    assert gm(torch.tensor(1.0), torch.tensor(1.0)).tolist() == [2.0, 2.0]


def test_c31_dead_code_elimination_of_a_bare_graph():
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    g = fx.Tracer().trace(net)
    before = shape_of(g)
    assert g.eliminate_dead_code() is False
    assert shape_of(g) == before


def test_c31_without_an_owner_module_calls_stay_and_pure_functions_go():
    g = fx.Graph()
    x = g.placeholder("x")
    g.call_module("unknown", (x,))
    g.call_function(torch.relu, (x,))
    g.call_method("add_", (x, 1))
    g.get_attr("unknown_attribute")
    g.output(x)
    assert g.eliminate_dead_code() is True
    assert [n.op for n in g.nodes if n.op not in ("placeholder", "output", "get_attr")] == [
        "call_module",
        "call_method",
    ]
