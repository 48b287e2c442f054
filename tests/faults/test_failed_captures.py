"""A capture leaves Python and torch as they were, whatever the program reaches."""

import builtins

import pytest
import torch

import symtrace

namespace = {}
exec("def made(x):\n    return x * 2\n", namespace)  # noqa: S102 - which puts the builtins into it


@pytest.mark.parametrize("example", [None, (torch.ones(2),)])
def test_globals_with_the_builtins_in_them_get_no_hooks_back(example):
    before = dict(vars(builtins))
    module = symtrace.capture(lambda x: namespace["made"](x), example)
    assert torch.equal(module(torch.ones(2)), torch.full((2,), 2.0))
    assert all(vars(builtins)[name] is value for name, value in before.items())
