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
        "write it in a way that the graph can keep, or decide before capture",
        "make the function a leaf: symtrace.wrap",
    ),
    explain="""\
`capture` records both ways of a decision on traced values, and what they leave behind becomes results of it.
A list or dict that changes on one way or in a loop must be held by one variable only: what else holds it would
not see the change. In a loop a value keeps its kind and structure from round to round. An exception that one
way only raises can't be handled by the program. The message says which of these it is.
""",
    example="""\
import torch
import symtrace as fx


def forward(x):
    kept = [x]
    held = {"kept": kept}
    if x.sum() > 0:
        kept.append(x * 2)
    return held["kept"]


fx.capture(forward)
""",
    remedy="""\
import torch
import symtrace as fx


def forward(x):
    kept = [x]
    if x.sum() > 0:
        kept.append(x * 2)
    return kept


gm = fx.capture(forward)
print(gm(torch.tensor([1.0, 2.0])))
""",
)
