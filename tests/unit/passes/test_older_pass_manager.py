"""`passes.pass_manager` and `optimize_for_inference`, as programs written for torch.fx use them."""

import logging

import pytest
import torch
import torch.fx.passes.pass_manager as theirs
from torch import nn

import symtrace.passes.pass_manager as ours
from symtrace import Tracer, symbolic_trace
from symtrace.errors import ArgumentError
from symtrace.experimental.optimization import optimize_for_inference
from symtrace.passes import PassError


def first(items):
    items.append("first")
    return items


def second(items):
    items.append("second")
    return len(items)


@pytest.mark.parametrize("library", [ours, theirs])
def test_passes_hand_on_what_they_return(library):
    manager = library.PassManager([first, library.inplace_wrapper(second), library.loop_pass(first, 2)])
    assert manager([]) == ["first", "second", "first", "first"]
    manager.remove_pass(["second"])
    assert manager([]) == ["first"] * 3
    manager.replace_pass(first, second)
    assert manager.passes == [second, second]
    manager = library.PassManager.build_from_passlist(
        [library.loop_pass(first, predicate=lambda x: len(x) < 4)]
    )
    assert manager([]) == ["first"] * 4


@pytest.mark.parametrize("library", [ours, theirs])
def test_constraints_are_checked_before_anything_runs(library):
    for constraint in (library.this_before_that_pass_constraint, library.these_before_those_pass_constraint):
        manager = library.PassManager([second, first], [constraint(first, second)])
        items = []
        with pytest.raises(RuntimeError, match="pass schedule constraint violated"):
            manager(items)
        assert items == []
    wrapped = [library.loop_pass(second, 2), library.loop_pass(first, 2)]
    manager = library.PassManager(wrapped)
    manager.add_constraint(library.these_before_those_pass_constraint(first, second))
    with pytest.raises(RuntimeError):
        manager.validate()


def test_results_are_logged(caplog):
    with caplog.at_level(logging.INFO):
        assert ours.PassManager([ours.inplace_wrapper(ours.log_hook(second))])([1]) == [1, "second"]
    assert "Ran pass second" in caplog.text


@pytest.mark.parametrize("given", [{}, {"n_iter": 1, "predicate": bool}])
def test_a_loop_ends_in_one_way(given):
    with pytest.raises(ArgumentError):
        ours.loop_pass(first, **given)


def test_a_module_is_as_it_was_when_a_pass_fails():
    gm = symbolic_trace(lambda x: x.relu().sin())

    def fails(module):
        module.graph.erase_node(module.graph.output_node())
        raise KeyError("no")

    before = gm.code
    with pytest.raises(KeyError):
        ours.PassManager([fails])(gm)
    assert gm.code == before


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 3, 3)
        self.norm = nn.BatchNorm2d(3)
        self.drop = nn.Dropout()
        nn.init.uniform_(self.norm.running_var, 0.5, 2)
        nn.init.uniform_(self.norm.running_mean)

    def forward(self, x):
        return self.drop(torch.relu(self.norm(self.conv(x)))) * 2


def called(gm):
    return [node.target for node in gm.graph.nodes if node.op == "call_module"]


@pytest.mark.parametrize(("config", "left"), [
    (None, ["conv"]), ({"conv_bn_fuse": False}, ["conv", "norm"]), ({"remove_dropout": False}, ["conv", "drop"]),
    ({"mkldnn_layout_optimize": False}, ["conv"]), ({"mkldnn_layout_optimize": {"heuristic": len}}, ["conv"]),
])  # fmt: skip
def test_optimize_for_inference(config, left):
    model = Network().eval()
    x = torch.randn(2, 2, 5, 5)
    expected = model(x)
    gm = optimize_for_inference(model, config)
    assert called(gm) == left
    torch.testing.assert_close(gm(x), expected)
    torch.testing.assert_close(model(x), expected, rtol=0, atol=0)


def test_the_tracer_that_is_given_is_used():
    class Whole(Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return True

    model = nn.Sequential(Network()).eval()
    assert called(optimize_for_inference(model, tracer=Whole)) == ["0"]


def test_what_is_for_inference_needs_evaluation_mode():
    with pytest.raises(PassError, match="training mode"):
        optimize_for_inference(Network())
    for config in ({"conv_bn_fuse": 3}, {"mkldnn_layout_optimize": True}, {"unknown": False}):
        with pytest.raises(ArgumentError, match="pass_config"):
            optimize_for_inference(Network().eval(), config)
