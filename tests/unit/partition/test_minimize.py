"""The smallest part that goes wrong."""

import pytest
import torch
from torch import nn

from symtrace import symbolic_trace
from symtrace.partition import PartitionError, minimize


def program(x):
    for _ in range(10):
        x = torch.sin(x) + 1
    x = torch.relu(x - 1.5) * 2
    for _ in range(10):
        x = torch.cos(x)
    return x


def broken(part, args):
    for node in part.graph.find_nodes(op="call_function", target=torch.relu):
        node.target = torch.tanh
    return part(*args)


def test_one_wrong_node_is_found():
    gm = symbolic_trace(program)
    before = gm.code
    found = minimize(gm, (torch.rand(4),), broken)
    assert [node.name for node in found.nodes] == ["relu"]
    assert found.reason == "the results differ"
    assert "torch.relu" in str(found)
    assert not torch.allclose(found.module(*found.inputs)[0], torch.tanh(found.inputs[0]))
    assert gm.code == before


def test_nodes_that_only_fail_together_are_found():
    def fails(part, args):
        targets = [node.target for node in part.graph.nodes]
        if torch.relu in targets and targets[-3] is torch.cos:
            raise RuntimeError("too much")
        return part(*args)

    found = minimize(symbolic_trace(program), (torch.rand(4),), fails)
    assert found.reason == "RuntimeError: too much"
    assert [node.name for node in found.nodes][0] == "relu"


def test_state_and_inputs_stay_as_they_are():
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.ReLU(inplace=True))
    gm = symbolic_trace(model)
    state = {name: value.clone() for name, value in gm.state_dict().items()}
    x = torch.rand(3, 2)
    copied = x.clone()
    found = minimize(gm, (x,), lambda part, args: [value + 1 for value in part(*args)])
    assert len(found.nodes) == 1
    assert torch.equal(x, copied)
    assert all(torch.equal(value, state[name]) for name, value in gm.state_dict().items())


def test_a_program_that_is_right_can_not_be_minimised():
    with pytest.raises(PartitionError, match="ST246"):
        minimize(symbolic_trace(program), (torch.rand(4),), lambda part, args: part(*args))
