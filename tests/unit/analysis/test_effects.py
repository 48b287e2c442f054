"""Which nodes may share storage, and which may change places."""

import operator
import random

import pytest
import torch

from symtrace.analysis import EffectAnalysis, effect_edges
from symtrace.ir import Graph
from symtrace.ops.program import write_attribute


def opaque(x):
    return x


@pytest.fixture
def graph():
    return Graph()


def test_pure_nodes_never_conflict(graph):
    x = graph.placeholder("x")
    a, b = graph.call_function(torch.sin, (x,)), graph.call_function(torch.cos, (x,))
    assert not EffectAnalysis(graph).conflict(a, b)


def test_write_conflicts_with_readers_of_what_it_may_alias(graph):
    x = graph.placeholder("x")
    y = graph.call_method("clone", (x,))
    view = graph.call_method("view", (y, -1))
    reader, other = graph.call_function(torch.sin, (y,)), graph.call_function(torch.sin, (x,))
    write = graph.call_method("add_", (view, 1))
    analysis = EffectAnalysis(graph)
    assert analysis.conflict(reader, write)
    assert analysis.conflict(write, reader)
    assert not analysis.conflict(other, write)
    assert analysis.is_written(y)
    assert not analysis.is_written(reader)


def test_two_inputs_may_be_the_same_tensor(graph):
    x, y = graph.placeholder("x"), graph.placeholder("y")
    read = graph.call_function(torch.sin, (x,))
    write = graph.call_method("add_", (y, 1))
    assert EffectAnalysis(graph).conflict(read, write)


def test_random_draws_keep_their_order(graph):
    a, b = graph.call_function(torch.rand, (2,)), graph.call_function(torch.rand, (2,))
    pure = graph.call_function(torch.ones, (2,))
    analysis = EffectAnalysis(graph)
    assert analysis.conflict(a, b)
    assert not analysis.conflict(a, pure)


def test_unknown_function_may_touch_inputs_but_not_fresh_values_it_never_saw(graph):
    x = graph.placeholder("x")
    fresh = graph.call_function(torch.neg, (x,))
    reads_input, reads_fresh = graph.call_function(torch.sin, (x,)), graph.call_function(torch.sin, (fresh,))
    unknown = graph.call_function(opaque, (x,))
    analysis = EffectAnalysis(graph)
    assert analysis.conflict(reads_input, unknown)
    assert not analysis.conflict(reads_fresh, unknown)


def test_what_an_unknown_function_has_seen_it_may_keep(graph):
    x = graph.placeholder("x")
    fresh = graph.call_function(torch.neg, (x,))
    graph.call_function(opaque, (fresh,))
    read = graph.call_function(torch.sin, (fresh,))
    later = graph.call_function(opaque, (x,))
    assert EffectAnalysis(graph).conflict(read, later)


def test_mode_switch_is_a_barrier(graph):
    x = graph.placeholder("x")
    read = graph.call_function(torch.sin, (x,))
    switch = graph.call_function(torch._C._set_grad_enabled, (False,))
    assert EffectAnalysis(graph).conflict(read, switch)


def test_stored_values_alias_their_container(graph):
    x = graph.placeholder("x")
    box = graph.call_function(dict, ())
    value = graph.call_function(torch.neg, (x,))
    graph.call_function(operator.setitem, (box, "k", value))
    got = graph.call_function(operator.getitem, (box, "k"))
    write = graph.call_method("add_", (got, 1))
    read = graph.call_function(torch.sin, (value,))
    assert EffectAnalysis(graph).conflict(read, write)


def test_moving_looks_at_what_is_passed(graph):
    x = graph.placeholder("x")
    read = graph.call_function(torch.sin, (x,))
    between = graph.call_function(torch.cos, (x,))
    write = graph.call_method("add_", (x, 1))
    end = graph.output(read)
    analysis = EffectAnalysis(graph)
    assert analysis.may_move(read, between, ())
    assert analysis.may_move(read, write, ())
    assert not analysis.may_move(read, end, ())
    assert analysis.may_move(read, end, {write})
    assert not analysis.may_move(write, read, ())


def test_checks_keep_their_place_among_effects_only(graph):
    x = graph.placeholder("x")
    read = graph.call_function(torch.sin, (x,))
    check = graph.call_function(torch._assert, (x, "message"))
    second = graph.call_function(torch._assert, (x, "message"))
    write = graph.call_method("add_", (x, 1))
    analysis = EffectAnalysis(graph)
    assert not analysis.conflict(read, check)
    assert analysis.conflict(check, second)
    assert analysis.conflict(check, write)


def order(graph):
    return {(str(a), str(b)) for a, b in effect_edges(graph)}


def closure(pairs):
    found = set(pairs)
    while True:
        more = {(a, d) for a, b in found for c, d in found if b == c} - found
        if not more:
            return found
        found |= more


@pytest.mark.parametrize("seed", range(40))
def test_edges_imply_every_conflict(seed):
    generator = random.Random(seed)
    graph = Graph()
    values = [graph.placeholder("x"), graph.placeholder("y")]
    for _ in range(14):
        value = generator.choice(values)
        kind = generator.choice(["sin", "clone", "add_", "view", "rand", "assert", "opaque", "mode"])
        if kind == "rand":
            made = graph.call_function(torch.rand, (2,))
        elif kind == "assert":
            made = graph.call_function(torch._assert, (value, ""))
        elif kind == "opaque":
            made = graph.call_function(opaque, (value,))
        elif kind == "mode":
            made = (
                graph.call_function(torch._C._set_grad_enabled, (False,))
                if generator.random() < 0.3
                else None
            )
        else:
            made = graph.call_method(kind, (value,) if kind in ("sin", "clone") else (value, 1))
        if made is not None and kind in ("sin", "clone", "add_", "view", "opaque"):
            values.append(made)
    analysis = EffectAnalysis(graph)
    nodes = [n for n in graph.nodes if n.op != "placeholder"]
    wanted = {
        (str(a), str(b)) for i, a in enumerate(nodes) for b in nodes[i + 1 :] if analysis.conflict(a, b)
    }
    edges = order(graph)
    assert wanted <= closure(edges)
    assert edges <= closure(wanted)


def test_reading_an_attribute_is_not_reading_its_contents(graph):
    x = graph.placeholder("x")
    attribute = graph.create_node("get_attr", "flag")
    content = graph.call_function(torch.neg, (attribute,))
    write = graph.call_method("add_", (x, 1))
    unknown = graph.call_function(opaque, (x,))
    owner = graph.create_node("get_attr", "layer")
    assign = graph.call_function(write_attribute, (owner, "flag", x))
    analysis = EffectAnalysis(graph)
    assert not analysis.conflict(attribute, write)
    assert not analysis.conflict(attribute, unknown)
    assert analysis.conflict(attribute, assign)
    assert analysis.conflict(content, write)


@pytest.mark.parametrize("method", ["expand_as", "to", "type_as", "view_as", "reshape_as"])
def test_view_shares_storage_with_its_tensor_alone(graph, method):
    x = graph.placeholder("x")
    fresh = graph.call_method("new_zeros", (x, (2,)))
    view = graph.call_method(method, (x, fresh))
    write = graph.call_method("add_", (fresh, 1))
    other = graph.call_method("add_", (view, 1))
    analysis = EffectAnalysis(graph)
    assert analysis.writes(write) == {analysis.alias_class(fresh)} != {None}
    assert analysis.writes(other) == {None}


def test_item_of_a_tensor_shares_nothing_with_the_index(graph):
    x = graph.placeholder("x")
    fresh = graph.call_function(torch.neg, (x,))
    part = graph.call_function(operator.getitem, (fresh, x))
    write = graph.call_method("add_", (part, 1))
    analysis = EffectAnalysis(graph)
    assert analysis.writes(write) == {analysis.alias_class(fresh)} != {None}
    assert analysis.alias_class(part) is analysis.alias_class(fresh)


def test_item_of_what_may_be_a_container_may_be_anything(graph):
    x, key = graph.placeholder("x"), graph.call_function(torch.ones, (2,))
    part = graph.call_function(operator.getitem, (x, key))
    assert EffectAnalysis(graph).alias_class(part) is None


def test_assignment_to_an_item_of_a_fresh_tensor_copies(graph):
    x = graph.placeholder("x")
    fresh = graph.call_method("new_zeros", (x, (2,)))
    write = graph.call_function(operator.setitem, (fresh, 0, x))
    assert EffectAnalysis(graph).writes(write) == {EffectAnalysis(graph).alias_class(fresh)} != {None}
