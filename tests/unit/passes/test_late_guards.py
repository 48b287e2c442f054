"""What a call may have to undo, and what it need not copy for."""

import torch
from torch import nn

from symtrace import symbolic_trace


class Asserting(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x):
        torch._assert(x.ndim == 2, "two dimensions are wanted")
        x = torch.relu_(x * 2)
        if self.training:
            self.count.add_(1)
        return x + 1


def test_an_assertion_in_front_of_a_guard_changes_nothing():
    gm = symbolic_trace(Asserting().eval())
    assert gm.guards
    assert not gm._checks_late()


def test_a_write_to_an_input_in_front_of_a_guard_is_undone():
    class Writing(Asserting):
        def forward(self, x):
            x.mul_(2)
            return super().forward(x)

    assert symbolic_trace(Writing().eval())._checks_late()
