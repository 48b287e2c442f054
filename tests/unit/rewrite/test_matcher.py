"""Where a pattern is found, and where it is not."""

import time

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from symtrace.errors import PatternError
from symtrace.ir import Graph
from symtrace.passes.utils.matcher_with_name_node_map_utils import SubgraphMatcherWithNameNodeMap
from symtrace.rewrite import SubgraphMatcher, replace_pattern
from symtrace.tracing import symbolic_trace


def matches(model, pattern, **options):
    return SubgraphMatcher(symbolic_trace(pattern).graph, **options).match(symbolic_trace(model).graph)


def count(model, pattern, **options):
    return len(matches(model, pattern, **options))


def shared(x):
    a = torch.relu(x)
    return a + a


SAME_CALL = [
    (lambda x: torch.flatten(x, 1), lambda x: torch.flatten(x, start_dim=1)),
    (lambda x: torch.flatten(x, 1, -1), lambda x: x.flatten(1)),
    (lambda x: torch.cumsum(x, 0), lambda x: torch.cumsum(x, dim=0)),
    (lambda x: torch.sum(x, 1), lambda x: torch.sum(x, dim=(1,))),
    (lambda x: torch.sum(x, 1), lambda x: torch.sum(x, axis=1)),
    (lambda x: torch.max(x, 1), lambda x: torch.max(x, dim=1)),
    (lambda x: x.relu(), lambda x: torch.relu(x)),
    (lambda x: x.view(2, 3), lambda x: x.view((2, 3))),
    (lambda x: x.permute(0, 1), lambda x: torch.permute(x, (0, 1))),
    (lambda x: F.relu(x), lambda x: F.relu(x, inplace=False)),
    (lambda x: F.max_pool2d(x, 2), lambda x: F.max_pool2d(x, kernel_size=2)),
    (lambda x, w: F.conv2d(x, w, stride=2), lambda x, w: F.conv2d(x, w, None, (2, 2))),
    (lambda x: torch.cat((x, x)), lambda x: torch.cat([x, x], dim=0)),
    (lambda x: x[1:, ..., None], lambda x: x[1:, ..., None]),
    (lambda x: torch.full((2,), float("nan")) + x, lambda x: torch.full((2,), float("nan")) + x),
]


@pytest.mark.parametrize(("model", "pattern"), SAME_CALL)
def test_spellings_of_one_call_match(model, pattern):
    assert count(model, pattern) == 1


OTHER_CALL = [
    (lambda x: torch.flatten(x, 2), lambda x: torch.flatten(x, 1)),
    (lambda x: x + 1, lambda x: x + 1.0),
    (lambda x: x + 1, lambda x: x + True),
    (lambda x: x + 0.0, lambda x: x + -0.0),
    (lambda x: x[1:], lambda x: x[2:]),
    (lambda x: torch.relu_(x), lambda x: torch.relu(x)),
    (lambda x: F.relu(x, True), lambda x: F.relu(x)),
    (lambda x: x - 1, lambda x: 1 - x),
    (lambda x: torch.neg(x), lambda x: torch.relu(x)),
    (lambda x: x + x, lambda x, y: x + y),
    (shared, lambda x: torch.relu(x) + torch.relu(x)),
    (lambda x: torch.relu(x) + torch.relu(x), shared),
]


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize(("model", "pattern"), OTHER_CALL)
def test_other_calls_do_not_match(model, pattern, normalize):
    assert count(model, pattern, normalize=normalize) == 0


WITH_NORMALIZE = [
    (lambda x: F.relu(x), lambda x: torch.relu(x)),
    (lambda x: F.relu(x, inplace=False), lambda x: x.relu()),
    (lambda x: x + 1, lambda x: torch.add(x, 1)),
    (lambda x: 1 + x, lambda x: x + 1),
    (lambda x: x.view(-1) + x, lambda x: x + x.view(-1)),
    (lambda x: F.softmax(x, 1), lambda x: torch.softmax(x, dim=1)),
    (lambda x, y: torch.neg(y) * torch.relu(x), lambda x, y: torch.relu(x) * torch.neg(y)),
]


@pytest.mark.parametrize(("model", "pattern"), WITH_NORMALIZE)
def test_equivalent_functions_match_on_request(model, pattern):
    assert count(model, pattern) == 0
    assert count(model, pattern, normalize=True) == 1


def test_map_names_every_node_of_the_pattern():
    (match,) = matches(lambda x, y: torch.neg(x) + torch.relu(y), lambda a, b: torch.neg(a) + torch.relu(b))
    names = {str(key): str(value) for key, value in match.nodes_map.items()}
    assert names == {"add": "add", "neg": "neg", "relu": "relu", "a": "x", "b": "y"}
    assert [str(n) for n in match.placeholder_nodes] == ["x", "y"]
    assert [str(n) for n in match.returning_nodes] == ["add"]


def test_input_of_the_pattern_may_stand_for_a_literal():
    (match,) = matches(lambda x: torch.flatten(x, 1) + 1, lambda x, n: torch.flatten(x, n) + n)
    assert match.placeholder_nodes[1] == 1
    assert count(lambda x: torch.flatten(x, 1) + 2, lambda x, n: torch.flatten(x, n) + n) == 0


def test_inner_nodes_with_other_users_do_not_match():
    def leaks(x):
        a = torch.neg(x)
        return torch.relu(a), a

    assert count(leaks, lambda x: torch.relu(torch.neg(x))) == 0
    assert count(leaks, leaks) == 1


def test_overlapping_matches_keep_the_first():
    three, two = (lambda x: torch.neg(torch.neg(torch.neg(x)))), (lambda x: torch.neg(torch.neg(x)))
    assert [str(m.returning_nodes[0]) for m in matches(three, two)] == ["neg_1"]
    assert count(three, two, remove_overlapping_matches=False) == 2


def test_options():
    assert count(lambda x: x + 1, lambda x: x + 7, ignore_literals=True) == 1
    assert count(lambda x: torch.neg(torch.neg(x)), lambda x: torch.neg(x), match_placeholder=True) == 1
    assert count(lambda x: torch.neg(torch.neg(x)), lambda x: torch.neg(x), match_output=True) == 1
    named = SubgraphMatcher(symbolic_trace(lambda x: torch.neg(x)).graph)
    assert len(named.match(symbolic_trace(lambda x: torch.relu(x)).graph, node_name_match="rel")) == 1


def test_results_without_common_input():
    pair = lambda x, y: (torch.neg(x), torch.relu(y))
    assert count(pair, pair) == 1


class Holder(torch.nn.Module):
    def __init__(self, layer, name="layer"):
        super().__init__()
        self.name = name
        self.add_module(name, layer)

    def forward(self, x):
        return getattr(self, self.name)(x)


@pytest.mark.parametrize(
    ("mine", "theirs", "expected"),
    [
        (torch.nn.MaxPool1d(4), torch.nn.MaxPool1d(4), 1),
        (torch.nn.MaxPool1d(4), torch.nn.MaxPool1d(2), 0),
        (torch.nn.ReLU(), torch.nn.ReLU(inplace=True), 0),
        (torch.nn.ReLU(), torch.nn.Sigmoid(), 0),
        (torch.nn.Linear(2, 3), torch.nn.Linear(2, 3), 1),
        (torch.nn.Linear(2, 3), torch.nn.Linear(2, 3, bias=False), 0),
        (torch.nn.Linear(2, 3), torch.nn.Linear(3, 3), 0),
        (torch.nn.BatchNorm1d(3), torch.nn.BatchNorm1d(3).eval(), 1),
        (torch.nn.BatchNorm1d(3), torch.nn.BatchNorm1d(3, eps=1.0), 0),
    ],
)
def test_modules_are_compared_by_class_and_configuration(mine, theirs, expected):
    assert count(Holder(mine), Holder(theirs)) == expected


def test_modules_with_weights_match_under_their_own_path_only():
    assert count(Holder(torch.nn.ReLU(), "one"), Holder(torch.nn.ReLU(), "other")) == 1
    assert count(Holder(torch.nn.Linear(2, 2), "one"), Holder(torch.nn.Linear(2, 2), "other")) == 0


def test_patterns_that_compute_nothing_are_refused():
    for source in (lambda x: x, lambda x: 3):
        with pytest.raises(PatternError) as caught:
            SubgraphMatcher(symbolic_trace(source).graph)
        assert caught.value.code == "ST202"
    with pytest.raises(ValueError, match="ST202"):
        SubgraphMatcher(Graph())


def test_dead_code_in_a_pattern_is_refused():
    def dead(x):
        torch.neg(x)
        return torch.relu(x)

    with pytest.raises(PatternError, match="ST203"):
        SubgraphMatcher(symbolic_trace(dead).graph)


def chain(length):
    graph = Graph()
    value = graph.placeholder("x")
    for _ in range(length):
        value = graph.call_function(torch.neg, (value,))
    graph.output(value)
    return graph


def test_long_patterns_need_no_deep_stack():
    assert len(SubgraphMatcher(chain(1200)).match(chain(1300))) == 1
    assert len(SubgraphMatcher(chain(1000)).match(chain(5000))) == 5


def test_cost_does_not_multiply_for_exchangeable_operands():
    def tree(leaf):
        graph = Graph()
        x = graph.placeholder("x")
        values = [graph.call_function(torch.neg, (x,)) for _ in range(63)] + [graph.call_function(leaf, (x,))]
        while len(values) > 1:
            pairs = zip(values[::2], values[1::2], strict=True)
            values = [graph.call_function(torch.add, pair) for pair in pairs]
        graph.output(values[0])
        return graph

    start = time.perf_counter()
    matcher = SubgraphMatcher(tree(torch.relu), normalize=True)
    assert len(matcher.match(tree(torch.neg))) == 0
    assert len(matcher.match(tree(torch.relu))) == 1
    assert time.perf_counter() - start < 20


def test_values_that_leave_and_come_back_do_not_match():
    def model(x, w):
        a = torch.mm(x, w)
        return a * torch.sigmoid(a)

    def pattern(x, w, c):
        a = torch.mm(x, w)
        return a, a * c

    assert count(model, pattern) == 0
    assert count(lambda x, w, c: pattern(x, w, c), pattern) == 1


def test_patterns_that_name_their_nodes():
    def pattern(x):
        a = torch.neg(x)
        b = torch.relu(a)
        return b, {"first": a, "second": b}

    matcher = SubgraphMatcherWithNameNodeMap(symbolic_trace(pattern))
    (match,) = matcher.match(symbolic_trace(lambda x: torch.relu(torch.neg(x)) + 1).graph)
    assert {name: str(node) for name, node in match.name_node_map.items()} == {
        "first": "neg",
        "second": "relu",
    }
    assert [str(n) for n in match.returning_nodes] == ["relu"]
    with pytest.raises(PatternError, match="ST211"):
        SubgraphMatcherWithNameNodeMap(symbolic_trace(lambda x: torch.neg(x)))


def test_constants_are_literals_and_parameters_are_not():
    one, other, equal = torch.full((2,), 5.0), torch.full((2,), 7.0), torch.full((2,), 5.0)
    model = lambda x: torch.relu(x) + one
    assert count(model, lambda x: torch.relu(x) + one) == 1
    assert count(model, lambda x: torch.relu(x) + equal) == 1
    assert count(model, lambda x: torch.relu(x) + other) == 0

    class Scaled(torch.nn.Module):
        def __init__(self, value):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.full((2,), value))
            self.register_buffer("shift", torch.full((3,), value))

        def forward(self, x):
            return x * self.scale + self.shift.sum()

    assert count(Scaled(1.0), Scaled(2.0)) == 1


def test_guards_of_the_pattern_are_not_looked_for():
    def pattern(x, bias=None):
        y = torch.neg(x)
        return y if bias is None else y + bias

    guarded = symbolic_trace(pattern, concrete_args={"bias": None}).graph
    assert len(SubgraphMatcher(guarded).match(symbolic_trace(lambda x: torch.neg(x) * 2).graph)) == 1


SIZES = [
    (nn.MaxPool2d(2), lambda x: F.max_pool2d(x, 2)),
    (nn.MaxPool2d(2), lambda x: torch.max_pool2d(x, (2, 2), [2, 2])),
    (nn.MaxPool1d(3, 1), lambda x: F.max_pool1d(x, 3, stride=1)),
    (nn.AvgPool2d(2), lambda x: F.avg_pool2d(x, 2)),
    (nn.AvgPool2d((2, 2)), lambda x: F.avg_pool2d(x, 2, 2)),
    (nn.Softplus(), lambda x: F.softplus(x)),
    (nn.GLU(), lambda x: F.glu(x)),
    (nn.AdaptiveAvgPool1d(2), lambda x: F.adaptive_avg_pool1d(x, 2)),
]


@pytest.mark.parametrize("number", range(len(SIZES)))
def test_layers_match_functions_with_what_is_implied(number):
    layer, function = SIZES[number]
    for model, pattern in ((nn.Sequential(layer), function), (function, nn.Sequential(layer))):
        gm = symbolic_trace(model)
        assert len(replace_pattern(gm, pattern, lambda x: x.tanh(), normalize=True)) == 1


@pytest.mark.parametrize(
    "layer",
    [nn.MaxPool2d(3), nn.MaxPool2d(2, 1), nn.MaxPool2d(2, ceil_mode=True), nn.MaxPool2d(2, return_indices=True),
     nn.AvgPool2d(2), nn.MaxPool1d(2)],
)  # fmt: skip
def test_other_poolings_do_not_match(layer):
    gm = symbolic_trace(nn.Sequential(layer))
    assert not replace_pattern(gm, lambda x: F.max_pool2d(x, 2), lambda x: x.tanh(), normalize=True)
