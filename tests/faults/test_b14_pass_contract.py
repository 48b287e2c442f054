"""B14: a pass's postcondition is checked on its result; a pass that changes nothing changes nothing."""

import pytest
import torch

import symtrace as fx


def make_pass(changed, postcondition):
    from symtrace.passes.infra.pass_base import PassBase, PassResult

    class Replace(PassBase):
        def call(self, graph_module):
            if changed:
                for n in graph_module.graph.nodes:
                    if n.target is torch.relu:
                        n.target = torch.neg
            return PassResult(graph_module, changed)

        def ensures(self, graph_module):
            postcondition(graph_module)

    return Replace()


def no_relu(gm):
    if any(n.target is torch.relu for n in gm.graph.nodes):
        raise ValueError("relu is left")


def test_postcondition_sees_the_result():
    gm = fx.symbolic_trace(lambda x: torch.relu(x))
    result = make_pass(True, no_relu)(gm)
    assert result.modified
    assert result.graph_module(torch.tensor(2.0)).item() == -2.0


def test_postcondition_of_a_pass_that_did_nothing_fails():
    gm = fx.symbolic_trace(lambda x: torch.relu(x))
    with pytest.raises(ValueError, match="relu is left"):
        make_pass(False, no_relu)(gm)


def test_a_pass_that_changes_nothing_keeps_the_code_object():
    gm = fx.symbolic_trace(lambda x: torch.relu(x))
    gm(torch.ones(1))
    before, version = gm.code, gm.graph.version
    result = make_pass(False, lambda gm: None)(gm)
    assert not result.modified
    assert gm.code is before
    assert gm.graph.version == version
