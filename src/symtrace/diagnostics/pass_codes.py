"""ST24x: pipelines of passes, and what passes promise."""

from __future__ import annotations

from .registry import define

define(
    "ST240",
    "unreadable pipeline",
    "the pipeline {text!r} can't be read: {reason}",
    help=("write pass names between commas, and options in braces right behind a name",),
    explain="""\
A pipeline is written as the names of passes with commas between them. Options stand in braces right
behind a name, each as `option=value`, with spaces or commas between them.
""",
    example="""\
from symtrace.passes import Pipeline

Pipeline("dce,,cse")
""",
    remedy="""\
from symtrace.passes import Pipeline

Pipeline("dce,cse,fuse-conv-bn{eval-only=true}")
""",
)
define(
    "ST241",
    "unknown pass",
    "there is no pass {name!r}: {nearest}",
    help=("`symtrace passes` lists all passes with their options",),
    explain="""\
Passes are known by their names: those of this package, those that a program has registered with
`register_pass`, and those that installed packages offer as entry points of the group `symtrace.passes`.
A pass that registers itself needs a name that no other has.
""",
    example="""\
from symtrace.passes import Pipeline

Pipeline("dcee")
""",
    remedy="""\
from symtrace.passes import Pipeline

Pipeline("dce")
""",
)
define(
    "ST242",
    "wrong option of a pass",
    "the pass {name!r} can't be made: {reason}",
    help=("`symtrace passes` lists all passes with their options",),
    explain="""\
The options of a pass are the fields of its class, written with dashes. A value is read as the type of
the field's default: `true` and `false`, numbers, or text.
""",
    example="""\
from symtrace.passes import Pipeline

Pipeline("fuse-conv-bn{eval-only=perhaps}")
""",
    remedy="""\
from symtrace.passes import Pipeline

Pipeline("fuse-conv-bn{eval-only=true}")
""",
)
define(
    "ST243",
    "broken contract of a pass",
    "the pass {name!r} broke its contract: {reason}",
    help=("correct the pass, or declare what it does: changes_state, changes_signature",),
    explain="""\
A pass says whether it changed something, and by its class attributes what it may change: parameters,
buffers and modules (`changes_state`), inputs and the structure of the result (`changes_signature`).
Both are checked when it has run, and the graph is linted. The module is as it was before the pass.
""",
    example="""\
from dataclasses import dataclass
import torch
import symtrace as fx
from symtrace.passes import Pass


@dataclass(frozen=True)
class Quiet(Pass):
    name = "quiet"

    def run(self, graph, ctx):
        for node in graph.find_nodes(op="call_function", target=torch.relu):
            node.target = torch.tanh
        return False


Quiet()(fx.symbolic_trace(lambda x: torch.relu(x)))
""",
    remedy="""\
from dataclasses import dataclass
import torch
import symtrace as fx
from symtrace.passes import Pass


@dataclass(frozen=True)
class Quiet(Pass):
    name = "quiet"

    def run(self, graph, ctx):
        found = graph.find_nodes(op="call_function", target=torch.relu)
        for node in found:
            node.target = torch.tanh
        return bool(found)


Quiet()(fx.symbolic_trace(lambda x: torch.relu(x)))
""",
)
define(
    "ST244",
    "a pass changed the meaning",
    "the pass {name!r} changed what the module does: {reason}",
    help=("leave the pass out, or raise rtol and atol if it only rounds otherwise",),
    explain="""\
A pipeline with `verify=` runs the module on the given inputs before and after each pass that changes
something, from the same random state, and compares results, inputs, state and random draws. The pass in
the message is the first after which something differed. The module is as it was before the first pass.
""",
    example="""\
import torch
import symtrace as fx
from symtrace.passes import Pipeline


def double(gm):
    for node in gm.graph.find_nodes(op="call_function", target=torch.relu):
        node.target = torch.tanh


Pipeline([double], verify=(torch.ones(2),))(fx.symbolic_trace(lambda x: torch.relu(x)))
""",
    remedy="""\
import torch
import symtrace as fx
from symtrace.passes import Pipeline

Pipeline("cse,dce", verify=(torch.ones(2),))(fx.symbolic_trace(lambda x: torch.relu(x)))
""",
)
define(
    "ST245",
    "unknown feature",
    "{name!r} names nothing in the graph in {mode} mode; nearest: {nearest}",
    help=("symtrace.passes.feature_names(model) lists the names in both modes",),
    explain="""\
A feature is named by the path of a module (`layer1.0.relu`) or by the path of the module whose forward
computes it, a dot, and the name of the operation (`layer1.0.add`). The path of a module alone stands
for what it computes last. A node that runs in one mode only has a name in that mode only.
""",
    example="""\
import torch
from symtrace.passes import extract_features

extract_features(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()), ["2"])
""",
    remedy="""\
import torch
from symtrace.passes import extract_features

extract_features(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()), ["1"])
""",
)
define(
    "ST246",
    "nothing to minimise",
    "{reason}",
    help=("check the inputs and the comparison: the whole program has to fail",),
    explain="""\
A minimiser looks for the smallest part of a program that still fails. That needs a program that fails
as a whole, and two ways to run it that can be compared.
""",
    example="""\
import torch
import symtrace as fx
from symtrace.partition import minimize

gm = fx.symbolic_trace(lambda x: torch.relu(x) + 1)
minimize(gm, (torch.ones(2),), lambda part, args: part(*args))
""",
    remedy="""\
import torch
import symtrace as fx
from symtrace.partition import minimize


def candidate(part, args):
    wrong = any(node.target is torch.relu for node in part.graph.nodes)
    return part(*args) + wrong


gm = fx.symbolic_trace(lambda x: torch.relu(x) + 1)
print(minimize(gm, (torch.ones(2),), candidate))
""",
)
define(
    "ST247",
    "control flow can't be lowered",
    "`{node}` can't become an operation that torch's compilers keep: {reason}",
    help=(
        "a program with plain `if` and `while` runs anywhere but under torch.export; leave it as it is there",
        "functionalize first: it takes writes to a value of the program's own out of the way",
    ),
    explain="""\
`torch.cond` runs one of two functions that only compute: they write to nothing from outside and to no
state, give tensors only, and the same number on both ways. What decides is one element of type bool.
Where a decision does more than that, it stays Python, and `lower-control-flow` says why.
""",
    example="""\
import torch
import symtrace as fx
from symtrace.passes import Pipeline


def counting(x, count):
    if x.sum() > 0:
        count.add_(1)
    return x + count


Pipeline("lower-control-flow")(fx.capture(counting))
""",
    remedy="""\
import torch
import symtrace as fx
from symtrace.passes import Pipeline


def counting(x, count):
    if x.sum() > 0:
        count = count + 1
    return x + count


Pipeline("lower-control-flow")(fx.capture(counting))
""",
)
