"""Fake tensors of all values."""

import torch
from torch import nn

from symtrace import capture, symbolic_trace
from symtrace.passes.fake_tensor_prop import FakeTensorProp


def test_each_node_has_its_fake_tensor():
    gm = symbolic_trace(nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)))
    before = {name: value.clone() for name, value in gm.state_dict().items()}
    result = FakeTensorProp(gm).propagate(torch.ones(4, 2))
    values = [node.meta["val"] for node in gm.graph.nodes if node.op != "output"]
    assert [tuple(value.shape) for value in values] == [(4, 2), (4, 3), (4, 3)]
    assert {type(value) for value in (*values, result)} == {type(result)} != {torch.Tensor}
    assert all(torch.equal(value, before[name]) for name, value in gm.state_dict().items())
    assert not hasattr(gm.get_parameter("0.weight"), "fake_mode")


def test_regions_get_theirs():
    gm = capture(lambda x: x.sin() if x.sum() > 0 else x * 2)
    FakeTensorProp(gm).propagate(torch.ones(3))
    assert tuple(gm.graph.output_node().args[0].meta["val"].shape) == (3,)


def test_the_mode_may_be_given():
    from torch._subclasses.fake_tensor import FakeTensorMode

    mode = FakeTensorMode()
    gm = symbolic_trace(lambda x: x + 1)
    fake = mode.from_tensor(torch.ones(3))
    assert FakeTensorProp(gm, mode).propagate_dont_convert_inputs(fake).fake_mode is mode
