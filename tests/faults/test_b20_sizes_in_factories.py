"""B20: traced sizes work in factories, `torch.Size`, `int`, `len`."""

import math

import pytest
import torch

import symtrace as fx

PROGRAMS = {
    "ones of sizes": lambda x: torch.ones(x.size(0), 3),
    "zeros of shape items": lambda x: torch.zeros(x.shape[0], x.shape[1]),
    "zeros of a tuple": lambda x: torch.zeros((x.shape[0], 3)),
    "zeros of a list": lambda x: torch.zeros([x.shape[0], 3]),
    "empty": lambda x: torch.empty(x.size(0), 2).fill_(1.0),
    "full": lambda x: torch.full((x.size(0), 2), 7.0),
    "rand": lambda x: torch.rand(x.size(0), 2) * 0,
    "randn with dtype": lambda x: torch.randn(x.size(0), 2, dtype=torch.float64) * 0,
    "eye": lambda x: torch.eye(x.size(0)),
    "arange": lambda x: torch.arange(x.size(1)),
    "arange of two": lambda x: torch.arange(1, x.size(1)),
    "linspace": lambda x: torch.linspace(0, 1, x.size(1)),
    "tensor of a size": lambda x: torch.tensor(x.size(0)),
    "tensor of sizes": lambda x: torch.tensor([x.size(0), x.size(1)]),
    "torch.Size": lambda x: x.new_zeros(torch.Size([x.size(0), 2])),
    "new_ones": lambda x: x.new_ones(x.size(0), 2),
    "new_full": lambda x: x.new_full((x.size(1),), 3.0),
    "zeros_like of sizes": lambda x: torch.zeros_like(torch.ones(x.size(0), 2)),
    "arithmetic in a factory": lambda x: torch.ones(x.size(0) * 2 + 1, x.size(1) // 2),
    "star shape": lambda x: torch.ones(*x.shape),
    "star slice": lambda x: torch.ones(*x.shape[:-1], 5),
    "triangle": lambda x: torch.tril(torch.ones(x.size(1), x.size(1))),
    "int": lambda x: x[:, : int(x.size(1) / 2)],
    "float": lambda x: x * float(x.size(0)),
    "len": lambda x: x * len(x),
    "round": lambda x: x * round(x.size(1) / 3),
    "max of sizes": lambda x: x * max(x.size(0), x.size(1)),
    "math.sqrt": lambda x: x / math.sqrt(x.size(1)),
    "math.ceil": lambda x: x[:, : math.ceil(x.size(1) / 2)],
    "size in index": lambda x: x[x.size(0) - 1],
}
EXAMPLE_ONLY = {
    "star shape",
    "star slice",
    "max of sizes",
}  # how many sizes, or which is larger: needs an example
SIZES = [(2, 4), (3, 6), (5, 4)]


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n not in EXAMPLE_ONLY])
def test_symbolic_trace(name):
    gm = fx.symbolic_trace(PROGRAMS[name])
    for size in SIZES:
        x = torch.rand(size)
        assert torch.equal(gm(x), PROGRAMS[name](x)), size


@pytest.mark.parametrize("name", PROGRAMS)
def test_capture_with_an_example(name):
    gm = fx.capture(PROGRAMS[name], (torch.rand(2, 4),))
    for size in SIZES:
        x = torch.rand(size)
        assert torch.equal(gm(x), PROGRAMS[name](x)), size
