"""Random graphs: code, Interpreter, copies, pickles and conversions agree with a naive evaluation."""

from __future__ import annotations

import copy
import pickle
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import symtrace as fx
from symtrace.interop import from_torch_fx, to_torch_fx
from symtrace.testing import random_graph

relaxed = settings(deadline=None, max_examples=80)
choices = st.randoms(use_true_random=False)
lengths = st.integers(0, 12)


def substitute(value: Any, environment: dict[Any, Any]) -> Any:
    """Return an argument with each node replaced by its value."""
    if isinstance(value, fx.Node):
        return environment[value]
    if isinstance(value, slice):
        return slice(*(substitute(part, environment) for part in (value.start, value.stop, value.step)))
    if isinstance(value, dict):
        return {key: substitute(item, environment) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(substitute(item, environment) for item in value)
    if isinstance(value, list):
        return [substitute(item, environment) for item in value]
    return value


def evaluate(graph: fx.Graph, inputs: list[int]) -> Any:
    """Evaluate the graph in the plainest way."""
    environment: dict[Any, Any] = {}
    remaining = iter(inputs)
    for n in graph.nodes:
        if n.op == "placeholder":
            environment[n] = next(remaining)
        elif n.op == "output":
            return substitute(n.args[0], environment)
        else:
            args, kwargs = substitute(n.args, environment), substitute(dict(n.kwargs), environment)
            environment[n] = n.target(*args, **kwargs)
    raise AssertionError("no output")


def inputs_of(graph: fx.Graph) -> list[int]:
    return [3 * i + 2 for i, n in enumerate(graph.nodes) if n.op == "placeholder"]


@relaxed
@given(choices, lengths)
def test_code_and_interpreter_agree_with_evaluation(random, length):
    graph = random_graph(random, length)
    inputs = inputs_of(graph)
    expected = evaluate(graph, inputs)
    gm = fx.GraphModule(nn.Module(), graph)
    assert gm(*inputs) == expected
    assert fx.Interpreter(gm).run(*inputs) == expected


@relaxed
@given(choices, lengths)
def test_copies_are_equal(random, length):
    graph = random_graph(random, length)
    gm = fx.GraphModule(nn.Module(), graph)
    fresh = fx.Graph()
    fresh.output(fresh.graph_copy(graph, {}))
    for other in (fresh, copy.deepcopy(graph), pickle.loads(pickle.dumps(graph)), copy.deepcopy(gm).graph,
                  pickle.loads(pickle.dumps(gm)).graph, from_torch_fx(to_torch_fx(gm)).graph):  # fmt: skip
        other.lint()
        assert str(other) == str(graph)
    assert to_torch_fx(gm)(*inputs_of(graph)) == gm(*inputs_of(graph))


@relaxed
@given(choices, lengths)
def test_dead_code_elimination_keeps_just_what_is_needed(random, length):
    graph = random_graph(random, length)
    expected = evaluate(graph, inputs_of(graph))
    needed: set[Any] = set()
    pending = [graph.output_node()]
    while pending:
        n = pending.pop()
        if n not in needed:
            needed.add(n)
            pending += n.all_input_nodes
    keep = [n for n in graph.nodes if n in needed or n.op == "placeholder"]
    changed = len(keep) != len(graph.nodes)
    # the functions of these graphs are pure, which nobody has declared
    assert graph.eliminate_dead_code(is_impure_node=lambda n: n.op in ("placeholder", "output")) is changed
    assert list(graph.nodes) == keep
    graph.lint()
    assert evaluate(graph, inputs_of(graph)) == expected


@relaxed
@given(choices, lengths)
def test_undone_edits_leave_the_graph_as_it_was(random, length):
    graph = random_graph(random, length)
    before = str(graph)
    for n in list(graph.nodes):
        if n.op != "call_function":
            continue
        args, kwargs = n.args, n.kwargs
        n.args, n.kwargs = (), {}
        n.args, n.kwargs = args, kwargs
        with graph.inserting_before(n):
            graph.erase_node(graph.call_function(max, (1, 2)))
    graph.lint()
    assert str(graph) == before
