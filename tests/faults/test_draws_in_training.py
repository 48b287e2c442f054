"""A way of training that draws from numpy or Python leaves the way of evaluation to be captured, with a guard."""

import random

import numpy as np
import pytest
import torch
from torch import nn

import symtrace
from symtrace.errors import GuardError


class Masks(nn.Module):
    def __init__(self, draw):
        super().__init__()
        self.draw = draw

    def forward(self, x):
        if self.training:
            x = x * self.draw()
        return x + 1


@pytest.mark.parametrize("draw", [lambda: float(np.random.rand()), random.random])
def test_it_is_captured_as_it_evaluates(draw):
    before = random.getstate(), np.random.get_state()[1].copy()
    module = symtrace.capture(Masks(draw).eval(), (torch.ones(3),))
    assert torch.equal(module(torch.ones(4)), torch.full((4,), 2.0))
    assert random.getstate() == before[0]
    assert (np.random.get_state()[1] == before[1]).all()
    with pytest.raises(GuardError, match="training"):
        module.train()(torch.ones(3))
