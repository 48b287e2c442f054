"""Functions that were made from one piece of text are told apart, however many of them there are."""

import pytest
import torch

import symtrace


def made(scale):
    def program(x):
        if x.sum() > 0:
            return x * scale
        return x - scale

    return program


@pytest.mark.parametrize("example", [None, (torch.ones(3),)])
def test_each_is_lifted(example):
    programs = [made(scale) for scale in (2.0, 3.0, 4.0)]
    modules = [symtrace.capture(program, example) for program in programs]
    for module, program in zip(modules, programs, strict=True):
        for x in (torch.ones(3), -torch.ones(3)):
            assert torch.equal(module(x), program(x))


def test_one_calls_another():
    inner, outer = made(2.0), made(3.0)

    def program(x):
        return inner(x) + outer(-x)

    module = symtrace.capture(program)
    for x in (torch.ones(3), -torch.ones(3)):
        assert torch.equal(module(x), program(x))
