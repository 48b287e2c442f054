"""What other packages tell torch.fx is read, not written."""

from __future__ import annotations

import pytest
import torch.fx

from symtrace.interop import (
    torch_fx_side_effectful_functions,
    torch_fx_wrapped_functions,
    torch_fx_wrapped_methods,
)


def leaf(x):
    return x


torch.fx.wrap("leaf")


def test_functions_registered_by_name():
    assert any(scope is globals() and name == "leaf" for scope, name in torch_fx_wrapped_functions())


def test_torchvision_registers_its_leaves():
    ops = pytest.importorskip("torchvision.ops")
    found = {scope[name] for scope, name in torch_fx_wrapped_functions() if name in scope}
    assert ops.stochastic_depth in found


def test_methods_and_side_effects():
    assert isinstance(torch_fx_wrapped_methods(), tuple)
    assert torch._assert in torch_fx_side_effectful_functions()


def test_reading_changes_nothing():
    before = torch_fx_wrapped_functions()
    assert torch_fx_wrapped_functions() == before
    assert torch.fx.node._side_effectful_functions == torch_fx_side_effectful_functions()


def test_captures_honour_what_torchvision_registers():
    vision = pytest.importorskip("torchvision")
    layer = vision.ops.StochasticDepth(0.5, "row")
    import symtrace

    gm = symtrace.symbolic_trace(torch.nn.Sequential(layer))
    assert [n.target for n in gm.graph.nodes if n.op == "call_function"] == [vision.ops.stochastic_depth]
    for mode in (True, False):
        gm.train(mode), layer.train(mode)
        x = torch.ones(8, 2)
        torch.manual_seed(0)
        expected = layer(x)
        torch.manual_seed(0)
        assert torch.equal(gm(x), expected)


def test_captures_honour_functions_registered_later():
    import symtrace

    scope = {"torch": torch, "__name__": "elsewhere"}
    exec("def late(x):\n    return x if x.sum() > 0 else -x\ntorch.fx.wrap('late')\n", scope)
    exec("def user(x):\n    return late(x) + 1\n", scope)
    assert symtrace.symbolic_trace(scope["user"])(torch.tensor(-1.0)).item() == 2.0
