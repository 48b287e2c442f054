"""With examples, a list of tensors that a module keeps and assigns anew at each call is state."""

import copy

import pytest
import torch
from torch import nn

import symtrace
from symtrace.errors import TraceError


class Anchors(nn.Module):
    def __init__(self):
        super().__init__()
        self.anchors = [torch.ones(3), torch.zeros(3)]

    def forward(self, x):
        self.anchors = [anchor.to(x.dtype) + x for anchor in self.anchors]
        return self.anchors[0] * self.anchors[1]


class Appends(Anchors):
    def forward(self, x):
        before = self.anchors
        before.append(x)
        self.anchors = [x, x]
        return before[0] + x


def test_it_is_read_and_assigned_at_each_call():
    original = Anchors()
    module = symtrace.capture(original, (torch.ones(3),))
    eager = copy.deepcopy(original)
    for scale in (1.0, 2.0, -1.0):
        x = torch.arange(3.0) * scale
        assert torch.equal(module(x), eager(x))
    assert all(map(torch.equal, module.anchors, eager.anchors))
    assert torch.equal(original.anchors[0], torch.ones(3))


def test_a_change_of_the_list_itself_is_refused():
    original = Appends()
    with pytest.raises(TraceError, match="anchors") as caught:
        symtrace.capture(original, (torch.ones(3),))
    assert caught.value.code == "ST022"
    assert len(original.anchors) == 2
