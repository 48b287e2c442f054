"""ST0xx: capturing a program."""

from __future__ import annotations

from .registry import define

define(
    "ST001",
    "not a callable root",
    "root must be an nn.Module or a callable, not {actual}",
    explain="""\
What is captured is a program: an `nn.Module` (its `forward` is traced) or a function. A class is
neither: make an object of it first.
""",
    example="""\
import symtrace as fx

fx.symbolic_trace([1, 2, 3])
""",
    remedy="""\
import torch
import symtrace as fx

gm = fx.symbolic_trace(torch.nn.Linear(2, 2))
print(gm.code)
""",
)
define(
    "ST012",
    "`if` on a traced value",
    "{construct} on a traced value: symbolically traced variables cannot be used as inputs to control flow",
    help=(
        "symtrace.capture(model) keeps both branches",
        "give example inputs, so that decisions on sizes and types are answered",
        "use torch.where or torch.cond instead of the branch",
        "make the function a leaf: symtrace.wrap, or Tracer.is_leaf_module for a module",
    ),
    explain="""\
While a program is traced its inputs stand for values that are not known yet. Python decides an `if`, a
`while`, an `assert` or an `and` at once, and for that it needs the value: either branch could be the
wrong one for the next input, so neither is taken.

What to do depends on what decides:

- **the data** (`if x.sum() > 0`): `torch.where(cond, a, b)` computes both sides and picks; a function
  marked with `symtrace.wrap` is kept as one call, whatever it does inside;
- **a size, dtype or number of dimensions** (`if x.shape[1] > 8`): give example inputs, and the decision
  is followed and guarded;
- **an option of the program** (`if flag`): fix it with `concrete_args={"flag": True}`.
""",
    example="""\
import torch
import symtrace as fx


def forward(x):
    h = torch.relu(x)
    if h.sum() > 0:
        return h
    return -h


fx.symbolic_trace(forward)
""",
    remedy="""\
import torch
import symtrace as fx


def forward(x):
    h = torch.relu(x)
    return torch.where(h.sum() > 0, h, -h)


gm = fx.symbolic_trace(forward)
print(gm(torch.tensor([1.0, -2.0])))
""",
)
