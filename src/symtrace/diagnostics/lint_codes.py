"""ST1xx, what `lint` checks: output, targets and the invariants as a whole."""

from __future__ import annotations

from .registry import define

define(
    "ST113",
    "graph without output",
    "the graph has no output",
    help=("end it with graph.output(value)",),
    explain="""\
A graph becomes a function, and a function made from a graph returns what its output node holds. For a
program that returns nothing, write `graph.output(None)`.
""",
    example="""\
import torch
import symtrace as fx

graph = fx.Graph()
x = graph.placeholder("x")
graph.call_function(torch.relu, (x,))
graph.output_node()
""",
    remedy="""\
import torch
import symtrace as fx

graph = fx.Graph()
x = graph.placeholder("x")
graph.output(graph.call_function(torch.relu, (x,)))
print(graph.output_node())
""",
)
define(
    "ST115",
    "unresolved target",
    "`{node}`: {kind} target `{target}` does not resolve in {module}",
    help=("the nearest names are: {nearest}",),
    explain="""\
`get_attr` and `call_module` nodes name an attribute or a submodule of the module that owns the graph,
by its dotted path. The path was misspelt, or the attribute is gone.
""",
    example="""\
import torch
import symtrace as fx

graph = fx.Graph()
x = graph.placeholder("x")
graph.output(graph.call_module("layer", (x,)))
fx.GraphModule(torch.nn.Module(), graph)
""",
    remedy="""\
import torch
import symtrace as fx

graph = fx.Graph()
x = graph.placeholder("x")
graph.output(graph.call_module("layer", (x,)))
gm = fx.GraphModule({"layer": torch.nn.Linear(2, 4)}, graph)
print(gm(torch.ones(1, 2)).shape)
""",
)
define(
    "ST116",
    "invariants broken",
    "{count} fault(s) in the graph\n{details}",
    explain="""\
`Graph.lint` checks what every graph must keep: one owner, definitions before uses, users that match the
arguments, placeholders first, one output, last, unique valid names, targets that resolve in the owning
module. All faults are listed, each with its own code. Edits through `Graph` and `Node` are checked as
they are made; what lint finds comes from changes elsewhere, such as a submodule that was deleted.
""",
    example="""\
import torch
import symtrace as fx

gm = fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()))
del gm._modules["0"]
gm.graph.lint()
""",
    remedy="""\
import torch
import symtrace as fx

gm = fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()))
layer = next(n for n in gm.graph.nodes if n.op == "call_module")
layer.replace_all_uses_with(layer.args[0])
gm.graph.erase_node(layer)
gm.delete_submodule("0")
gm.graph.lint()
""",
)
