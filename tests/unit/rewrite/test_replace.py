"""What replacing a pattern leaves behind."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from symtrace.errors import ArgumentError, PatternError
from symtrace.rewrite import replace_pattern, replace_pattern_with_filters
from symtrace.tracing import symbolic_trace


def targets(gm):
    return [
        getattr(n.target, "__name__", n.target)
        for n in gm.graph.nodes
        if n.op not in ("placeholder", "output")
    ]


def rewritten(model, pattern, replacement, **options):
    gm = symbolic_trace(model)
    found = replace_pattern(gm, pattern, replacement, **options)
    gm.graph.lint()
    return gm, found


def test_result_has_the_form_of_fx():
    gm, found = rewritten(
        lambda a, b: torch.sub(a, b), lambda x, y: torch.sub(x, y), lambda x, y: torch.add(x, y)
    )
    (match,) = found
    assert match.anchor.name == "sub"
    assert {str(k): str(v) for k, v in match.nodes_map.items()} == {"sub": "sub", "x": "a", "y": "b"}
    assert targets(gm) == ["add"]
    assert gm(torch.tensor(1.0), torch.tensor(2.0)) == 3


def test_inputs_are_matched_by_position():
    gm, _ = rewritten(
        lambda a, b: torch.sub(a, b), lambda x, y: torch.sub(x, y), lambda y, x: torch.sub(y, x)
    )
    assert gm(torch.tensor(1.0), torch.tensor(2.0)) == -1


def test_matches_back_to_back():
    four = lambda x: torch.neg(torch.neg(torch.neg(torch.neg(x))))
    gm, found = rewritten(four, lambda x: torch.neg(torch.neg(x)), lambda x: torch.relu(x))
    assert len(found) == 2
    assert targets(gm) == ["relu", "relu"]
    assert str(found[1].nodes_map[found[1].anchor.args[0].args[0]]) == "relu"
    gm, found = rewritten(four, lambda x: torch.neg(torch.neg(x)), lambda x: x)
    assert targets(gm) == []
    assert gm(torch.tensor(2.0)) == 2


def test_several_results():
    def two(x):
        a = torch.neg(x)
        return a, torch.relu(a)

    gm, found = rewritten(lambda x: sum(two(x * 2)), two, lambda x: (torch.sin(x), torch.cos(x)))
    assert len(found) == 1
    x = torch.tensor(0.5)
    assert gm(x) == torch.sin(x * 2) + torch.cos(x * 2)


def test_replacement_may_return_literals_and_inputs():
    gm, _ = rewritten(lambda x: torch.relu(x) + 1, lambda x: torch.relu(x), lambda x: 3)
    assert gm(torch.tensor(1.0)) == 4
    gm, _ = rewritten(lambda x: torch.relu(x) + 1, lambda x: torch.relu(x), lambda x: x)
    assert gm(torch.tensor(-1.0)) == 0


def test_literals_bound_to_inputs_are_passed_on():
    gm, _ = rewritten(
        lambda x: torch.flatten(x, 1), lambda x, n: torch.flatten(x, n), lambda x, n: torch.unsqueeze(x, n)
    )
    assert gm(torch.ones(2, 3)).shape == (2, 1, 3)


def test_new_nodes_inherit_metadata():
    gm = symbolic_trace(lambda x: torch.relu(x))
    for node in gm.graph.nodes:
        node.meta["val"] = (4,)
        node.meta["stack_trace"] = "here"
    replace_pattern(gm, lambda x: torch.relu(x), lambda x: torch.neg(torch.sin(x)))
    kept = {n.name: (n.meta.get("val"), n.meta["stack_trace"]) for n in gm.graph.nodes}
    assert kept["neg"] == ((4,), "here")
    assert kept["sin"] == (None, "here")
    assert gm.graph.node("neg").origin.history[-1] == "replace_pattern"


def test_filters_and_callback():
    model = lambda x: torch.neg(x + 1) * torch.neg(x)
    gm = symbolic_trace(model)
    only_sums = lambda match, graph, pattern: match.placeholder_nodes[0].op != "placeholder"
    found = replace_pattern_with_filters(gm, lambda x: torch.neg(x), lambda x: torch.relu(x), [only_sums])
    assert [[str(n) for n in place.replacements] for place in found] == [["relu"]]
    assert sorted(targets(gm)) == ["add", "mul", "neg", "relu"]

    gm = symbolic_trace(model)
    made = lambda match, graph, pattern: symbolic_trace(lambda x: torch.sin(x)).graph
    assert len(replace_pattern_with_filters(gm, lambda x: torch.neg(x), replacement_callback=made)) == 2
    assert sorted(targets(gm)) == ["add", "mul", "sin", "sin"]


class Act(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.act = layer

    def forward(self, x):
        return self.act(x)


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.full((1,), 3.0))
        self.register_buffer("shift", torch.ones(1), persistent=False)
        self.act = nn.Tanh()

    def forward(self, x):
        return self.act(x) * self.scale + self.shift


def test_replacement_brings_its_own_modules_and_tensors():
    gm, found = rewritten(Act(nn.ReLU()), Act(nn.ReLU()), Scaled())
    assert len(found) == 1
    assert set(dict(gm.named_parameters())) == {"scale"}
    assert set(gm.state_dict()) == {"scale"}
    assert [type(m) for m in gm.children()] == [nn.Tanh]
    x = torch.tensor([0.5])
    assert gm(x) == torch.tanh(x) * 3 + 1


def test_replacement_refers_to_layers_of_the_module_by_name():
    layer = nn.Linear(1, 1)
    gm, _ = rewritten(nn.Sequential(layer, nn.ReLU()), nn.Sequential(nn.Linear(1, 1), nn.ReLU()),
                      nn.Sequential(nn.Linear(1, 1)))  # fmt: skip
    x = torch.tensor([0.5])
    assert gm(x) == layer(x)


def test_failures_change_nothing():
    class Missing(nn.Module):
        def forward(self, x):
            return x

    gm = symbolic_trace(lambda x, y: torch.neg(x) + y)
    before = str(gm.graph)
    bad = [
        (lambda x: x, lambda x: x, "ST202"),
        (lambda x: torch.neg(x), lambda x, y: torch.neg(x), "ST204"),
        (lambda x: torch.neg(x), lambda x: (x, x), "ST205"),
        (lambda x, y: torch.neg(x), lambda x, y: torch.neg(x) + y, "ST206"),
        (3, lambda x: x, "ST207"),
        (lambda x: torch.neg(x), 3, "ST207"),
        (lambda x: torch.neg(x), None, "ST209"),
        (lambda x: (torch.neg(x), x), lambda x: (x, torch.neg(x)), "ST210"),
    ]
    for pattern, replacement, code in bad:
        with pytest.raises(PatternError) as caught:
            replace_pattern(gm, pattern, replacement)
        assert caught.value.code == code
        assert str(gm.graph) == before


def test_graph_modules_of_torch_fx_are_refused_with_a_remedy():
    import torch.fx

    with pytest.raises(ArgumentError, match="from_torch_fx"):
        replace_pattern(torch.fx.symbolic_trace(lambda x: x + 1), lambda x: x + 1, lambda x: x)
    with pytest.raises(TypeError, match="GraphModule"):
        replace_pattern(nn.Linear(1, 1), lambda x: x + 1, lambda x: x)


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.last = nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 4)

    def forward(self, x):
        return F.relu(self.last(F.relu(self.second(F.relu(self.first(x))))))


class Layer(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.inner = kind(3, 3)

    def forward(self, x):
        return F.relu(self.inner(x))


def test_modules_of_one_class_and_settings_match_wherever_they_are():
    gm = symbolic_trace(Layers())
    assert not replace_pattern(gm, Layer(nn.Linear), lambda x: x + 1)
    own = Layer(lambda *size: nn.Linear(*size, bias=False))
    found = replace_pattern(gm, Layer(nn.Linear), own, any_path=True)
    assert len(found) == 2
    assert [gm.get_submodule(n.target).bias is None for n in gm.graph.nodes if n.op == "call_module"] == [
        True,
        True,
        False,
    ]
    assert torch.equal(gm.inner.weight, own.inner.weight)
    assert gm.inner is not own.inner
