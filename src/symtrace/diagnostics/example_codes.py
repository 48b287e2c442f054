"""ST03x: capturing with example inputs, and decisions that are kept."""

from __future__ import annotations

from .registry import define

define(
    "ST031",
    "argument of capture",
    "{argument} must be {expected}, not {actual}",
    help=("see the documentation of symtrace.capture",),
    explain="""\
An argument of `capture` is of a kind that it does not take.
""",
    example="""\
import torch
import symtrace as fx

fx.capture(lambda x: x + 1, (torch.ones(2),), on_guard_failure="ignore")
""",
    remedy="""\
import torch
import symtrace as fx

fx.capture(lambda x: x + 1, (torch.ones(2),), on_guard_failure="original")
""",
)
define(
    "ST032",
    "a free size would be pinned",
    "`{asked_for}` of `{condition}` would pin {names}, which has to stay free",
    help=(
        "keep the size symbolic: use it in torch functions without int(), float() or range()",
        "leave the dimension out of `dynamic`, and a guard pins it",
    ),
    explain="""\
`dynamic={"x": {0: "batch"}}` says that the captured program has to work for every batch size. A line that needs
the number itself, or decides differently for another one, would make a guard that pins it.
""",
    example="""\
import torch
import symtrace as fx


SCALES = [1.0, 0.5, 0.25, 0.125]


def forward(x):
    return x * SCALES[x.shape[0]]


fx.capture(forward, (torch.ones(2, 3),), dynamic={"x": {0: "batch"}})
""",
    remedy="""\
import torch
import symtrace as fx


SCALES = [1.0, 0.5, 0.25, 0.125]


def forward(x):
    return x * SCALES[x.shape[0]]


gm = fx.capture(forward, (torch.ones(2, 3),))
print(gm.guards[-1])
""",
)
define(
    "ST033",
    "a decision that can't be kept",
    "the program {what}, which can't be kept as part of the graph",
    help=(
        "make the branches give values of the same kind, or decide before capture",
        "make the function a leaf: symtrace.wrap",
    ),
    explain="""\
`capture` records both ways of a decision on traced values. What they leave behind has to be one value
afterwards: two tensors, or two numbers. None on one way and a tensor on the other can't be, nor can the class
of a value be asked for that is an int or a tensor depending on the data. A list or dict that changes in a
branch or loop must be held by one variable only: what else holds it would not see the change.
""",
    example="""\
import torch
import symtrace as fx


def forward(x):
    if x.sum() > 0:
        y = x
    else:
        y = "negative"
    return y


fx.capture(forward)
""",
    remedy="""\
import torch
import symtrace as fx


def forward(x):
    if x.sum() > 0:
        y = x
    else:
        y = -x
    return y


gm = fx.capture(forward)
print(gm(torch.tensor([1.0, -2.0])))
""",
)
