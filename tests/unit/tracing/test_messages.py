"""The text of a traced value in the message of a check is for people to read, and no decision."""

import pytest
import torch

import symtrace


def asserted(x):
    torch._assert(x.dim() == 2, f"expected a matrix, got {x.dim()} dimensions")
    return x + 1


def checked(x):
    torch._assert(x.shape[1] == 3, f"wrong width {x.shape[1]}")
    return x + 1


@pytest.mark.parametrize("program", [asserted, checked])
def test_checks_with_messages_are_captured(program):
    captured = symtrace.symbolic_trace(program)
    x = torch.ones(2, 3)
    assert torch.equal(captured(x), program(x))
    with pytest.raises(AssertionError):
        captured(torch.ones(2, 3, 4) if program is asserted else torch.ones(2, 4))
