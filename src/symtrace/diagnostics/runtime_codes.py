"""ST3xx: running a captured module."""

from __future__ import annotations

from .registry import define

define(
    "ST301",
    "guard failed",
    "this call breaks an assumption made at capture: {condition}",
    help=("capture again with arguments like these",),
    explain="""\
A decision that the program made on a size, a dtype, an option or an example value was followed at
capture and written down as a guard. This call would have decided otherwise, so the captured program may
not be right for it; nothing has been run or changed. Capture again for such arguments, or decide inside
the graph (`torch.where`, `torch.cond`).
""",
    example="""\
import torch
import symtrace as fx


def forward(x):
    return x if x.shape[0] > 2 else -x


gm = fx.capture(forward, (torch.ones(3),))
gm(torch.ones(1))
""",
    remedy="""\
import torch
import symtrace as fx


def forward(x):
    return x if x.shape[0] > 2 else -x


gm = fx.capture(forward, (torch.ones(1),))
print(gm(torch.ones(1)), gm(torch.ones(2)))
""",
)
define(
    "ST123",
    "arguments don't fit the parameters",
    "{reason}; the parameters are: {parameters}",
    help=("pass the arguments as the module's signature says",),
    explain="""\
The Interpreter binds arguments as the module itself does: by position, by keyword, with defaults, and
refuses those that are missing or surplus.
""",
    example="""\
import torch
import symtrace as fx

gm = fx.symbolic_trace(lambda x: torch.relu(x) + 1)
fx.Interpreter(gm).run(torch.ones(2), torch.ones(2))
""",
    remedy="""\
import torch
import symtrace as fx

gm = fx.symbolic_trace(lambda x: torch.relu(x) + 1)
fx.Interpreter(gm).run(torch.ones(2))
""",
)
define(
    "ST124",
    "value not computed",
    "node `{node}` needs the value of `{value}`, which has not been computed in this run",
    help=("run the nodes in order, or give the value in initial_env",),
    explain="""\
A step of the Interpreter was asked for a node whose inputs are not in `env`.
""",
    example="""\
import torch
import symtrace as fx

gm = fx.symbolic_trace(lambda x: torch.relu(x) + 1)
interpreter = fx.Interpreter(gm)
add = gm.graph.output_node().args[0]
interpreter.run_node(add)
""",
    remedy="""\
import torch
import symtrace as fx

gm = fx.symbolic_trace(lambda x: torch.relu(x) + 1)
x = next(iter(gm.graph.nodes))
relu = next(iter(x.users))
print(fx.Interpreter(gm).run(initial_env={x: torch.ones(2), relu: torch.zeros(2)}))
""",
)
