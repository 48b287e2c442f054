"""ST1xx: edits, invariants and arguments of a graph."""

from __future__ import annotations

from .registry import define

define(
    "ST101",
    "foreign node",
    "node `{node}` belongs to another graph and can't be used in `{user}`",
    help=("copy it first with Graph.node_copy or Graph.graph_copy",),
    explain="""\
A node is owned by one graph. Arguments of a node must come from the same graph, otherwise the value
they stand for would not exist when the graph runs.
""",
    example="""\
import torch
import symtrace as fx

one, two = fx.Graph(), fx.Graph()
x = one.placeholder("x")
two.call_function(torch.relu, (x,))
""",
    remedy="""\
import torch
import symtrace as fx

one, two = fx.Graph(), fx.Graph()
x = one.placeholder("x")
copy = two.node_copy(x)
two.call_function(torch.relu, (copy,))
""",
)
define(
    "ST102",
    "erased node",
    "node `{node}` has been erased and can't be used in `{user}`",
    help=("use the node that replaced it, or create it again",),
    explain="""\
`Graph.erase_node` takes a node out for good: its name is free again and nothing computes its value. A
pass usually gets here by keeping a node in a list or dict while another step erases it.
""",
    example="""\
import torch
import symtrace as fx

graph = fx.Graph()
x = graph.placeholder("x")
relu = graph.call_function(torch.relu, (x,))
graph.erase_node(relu)
graph.call_function(torch.neg, (relu,))
""",
    remedy="""\
import torch
import symtrace as fx

graph = fx.Graph()
x = graph.placeholder("x")
relu = graph.call_function(torch.relu, (x,))
gelu = graph.call_function(torch.nn.functional.gelu, (x,))
relu.replace_all_uses_with(gelu)
graph.erase_node(relu)
graph.call_function(torch.neg, (gelu,))
""",
)
define(
    "ST103",
    "node still in use",
    "can't erase `{node}`: it must be unused, but it still had {count} users in the graph: {users}",
    help=("call node.replace_all_uses_with(other) first", "erase its users first"),
    explain="""\
Erasing a node whose value is still an argument elsewhere would leave a use without a definition.
Redirect its users to another node first, or erase from the end of the graph backwards.
""",
    example="""\
import torch
import symtrace as fx

gm = fx.symbolic_trace(lambda x: torch.relu(x) + 1)
relu = next(n for n in gm.graph.nodes if n.target is torch.relu)
gm.graph.erase_node(relu)
""",
    remedy="""\
import torch
import symtrace as fx

gm = fx.symbolic_trace(lambda x: torch.relu(x) + 1)
relu = next(n for n in gm.graph.nodes if n.target is torch.relu)
relu.replace_all_uses_with(relu.args[0])
gm.graph.erase_node(relu)
print(gm.code)
""",
)
define(
    "ST104",
    "definition after use",
    "`{user}` would use `{node}` before it is defined",
    help=("insert `{node}` earlier, or `{user}` later",),
    explain="""\
Nodes run in the order in which they stand in the graph, so each argument must stand before the node
that uses it. New nodes go to the end unless an insertion point is set with `inserting_before` or
`inserting_after`.
""",
    example="""\
import torch
import symtrace as fx

graph = fx.Graph()
x = graph.placeholder("x")
relu = graph.call_function(torch.relu, (x,))
neg = graph.call_function(torch.neg, (x,))
relu.args = (neg,)
""",
    remedy="""\
import torch
import symtrace as fx

graph = fx.Graph()
x = graph.placeholder("x")
relu = graph.call_function(torch.relu, (x,))
neg = graph.call_function(torch.neg, (x,))
relu.prepend(neg)
relu.args = (neg,)
""",
)
define(
    "ST105",
    "placeholder out of place",
    "placeholder `{node}` would stand after a node that computes",
    help=("move it to the top: first_placeholder.append(node)",),
    explain="""\
Placeholders are the parameters of the generated function; their order in the graph is their order in
the signature. They stand together at the top; a new one is put there by itself.
""",
    example="""\
import torch
import symtrace as fx

graph = fx.Graph()
x = graph.placeholder("x")
y = graph.placeholder("y")
relu = graph.call_function(torch.relu, (x,))
relu.append(y)
""",
    remedy="""\
import torch
import symtrace as fx

graph = fx.Graph()
x = graph.placeholder("x")
y = graph.placeholder("y")
relu = graph.call_function(torch.relu, (x,))
x.prepend(y)
""",
)
define(
    "ST106",
    "output not last",
    "`{node}` would stand after the output",
    help=("insert it with graph.inserting_before(graph.output_node())",),
    explain="""\
The output node is the `return` of the program: nothing behind it runs. Set an insertion point before
it.
""",
    example="""\
import torch
import symtrace as fx

gm = fx.symbolic_trace(lambda x: torch.relu(x))
output = gm.graph.output_node()
gm.graph.call_function(torch.neg, (output.args[0],))
""",
    remedy="""\
import torch
import symtrace as fx

gm = fx.symbolic_trace(lambda x: torch.relu(x))
output = gm.graph.output_node()
with gm.graph.inserting_before(output):
    neg = gm.graph.call_function(torch.neg, (output.args[0],))
output.args = (neg,)
print(gm(torch.ones(2)))
""",
)
define(
    "ST107",
    "second output",
    "the graph has an output already: `{node}`",
    help=("change its arguments: graph.output_node().args = (value,)",),
    explain="""\
A graph has one output. To return something else, change the arguments of the output that is there; to
return several values, give it a tuple or a dict.
""",
    example="""\
import symtrace as fx

gm = fx.symbolic_trace(lambda x: x + 1)
gm.graph.output(gm.graph.output_node().args[0])
""",
    remedy="""\
import symtrace as fx

gm = fx.symbolic_trace(lambda x: x + 1)
output = gm.graph.output_node()
value = output.args[0]
output.args = ((value, value),)
print(gm.code)
""",
)
define(
    "ST108",
    "name taken",
    "the name `{name}` is taken by another node",
    help=("leave the name out to get a free one",),
    explain="""\
Names of nodes become variables of the generated code, so they are unique in their graph. A name given
as a wish when a node is created is made free by a suffix (`relu_1`); a name assigned later must be free
already.
""",
    example="""\
import torch
import symtrace as fx

graph = fx.Graph()
x = graph.placeholder("x")
relu = graph.call_function(torch.relu, (x,))
relu.name = "x"
""",
    remedy="""\
import torch
import symtrace as fx

graph = fx.Graph()
x = graph.placeholder("x")
relu = graph.call_function(torch.relu, (x,))
relu.name = "activated"
""",
)
define(
    "ST109",
    "invalid name",
    "`{name}` is not a valid node name",
    help=("a node name is a Python identifier that is no keyword",),
    explain="""\
Names of nodes become variables of the generated code. A name given as a wish when a node is created is
made valid (`2d.conv` becomes `_2d_conv`); a name assigned later must be valid already.
""",
    example="""\
import symtrace as fx

graph = fx.Graph()
x = graph.placeholder("x")
x.name = "my input"
""",
    remedy="""\
import symtrace as fx

graph = fx.Graph()
x = graph.placeholder("x")
x.name = "my_input"
""",
)
define(
    "ST110",
    "self reference",
    "`{node}` would use itself",
    help=("replace_all_uses_with(..., delete_user_cb=...) can leave some users as they are",),
    explain="""\
This happens when a node is wrapped (`y = f(x)` put behind `x`) and then all uses of `x` are redirected
to `y`, including the one in `y` itself. Redirect the other users only, or set the arguments of `y`
afterwards.
""",
    example="""\
import torch
import symtrace as fx

graph = fx.Graph()
x = graph.placeholder("x")
relu = graph.call_function(torch.relu, (x,))
relu.args = (relu,)
""",
    remedy="""\
import torch
import symtrace as fx

gm = fx.symbolic_trace(lambda x: x + 1)
add = next(n for n in gm.graph.nodes if n.op == "call_function")
with gm.graph.inserting_after(add):
    relu = gm.graph.call_function(torch.relu, (add,))
add.replace_all_uses_with(relu, delete_user_cb=lambda user: user is not relu)
print(gm.code)
""",
)
define(
    "ST111",
    "unknown op",
    "`{op}` is not an op kind; use one of {known}",
    explain="""\
The `op` of a node says how its target is to be read: `placeholder` (an input), `get_attr` (a parameter,
buffer or other attribute), `call_function`, `call_method`, `call_module` and `output`. The operator
itself, such as `torch.relu`, is the target.
""",
    example="""\
import torch
import symtrace as fx

graph = fx.Graph()
x = graph.placeholder("x")
graph.create_node("relu", torch.relu, (x,))
""",
    remedy="""\
import torch
import symtrace as fx

graph = fx.Graph()
x = graph.placeholder("x")
graph.create_node("call_function", torch.relu, (x,))
""",
)
define(
    "ST112",
    "wrong argument type",
    "{what} must be {expected}, not {actual}",
    explain="""\
Nothing has been changed: the argument was checked before the work began. The message says which
argument it was, what fits there and what was given.
""",
    example="""\
import torch
import symtrace as fx

graph = fx.Graph()
x = graph.placeholder("x")
graph.call_function(torch.relu, x)
""",
    remedy="""\
import torch
import symtrace as fx

graph = fx.Graph()
x = graph.placeholder("x")
graph.call_function(torch.relu, (x,))
""",
)
define(
    "ST114",
    "node hidden in a value",
    "`{user}` holds a node inside a {container}, where the graph can't see it",
    help=("put nodes in a tuple, list, dict or slice",),
    explain="""\
Arguments of a node are numbers, strings, dtypes and the like, other nodes, and tuples, lists, dicts and
slices of those. A node inside a set or an object of another class would not be counted as used: it
could be erased while in use, and the generated code could not name it.
""",
    example="""\
import torch
import symtrace as fx

graph = fx.Graph()
x = graph.placeholder("x")
graph.call_function(torch.stack, ({x},))
""",
    remedy="""\
import torch
import symtrace as fx

graph = fx.Graph()
x = graph.placeholder("x")
graph.call_function(torch.stack, ([x],))
""",
)
define(
    "ST117",
    "not in this graph",
    "node `{node}` is not part of this graph",
    explain="""\
The node belongs to another graph or has been erased from this one, so it can't be erased, moved or used
as a place here. Copies made by `copy.deepcopy` or `graph_copy` have nodes of their own; find them by
name in the copy.
""",
    example="""\
import symtrace as fx

one, two = fx.Graph(), fx.Graph()
x = one.placeholder("x")
two.erase_node(x)
""",
    remedy="""\
import symtrace as fx

one = fx.Graph()
x = one.placeholder("x")
one.erase_node(x)
""",
)
define(
    "ST118",
    "insertion point",
    "the insertion point `{node}` {reason}",
    help=("set another one with graph.inserting_before or graph.inserting_after",),
    explain="""\
New nodes go to the insertion point, which is the end of the graph unless `inserting_before` or
`inserting_after` set another. The output can only stand at the end.
""",
    example="""\
import torch
import symtrace as fx

graph = fx.Graph()
x = graph.placeholder("x")
relu = graph.call_function(torch.relu, (x,))
with graph.inserting_before(relu):
    graph.output(x)
""",
    remedy="""\
import torch
import symtrace as fx

graph = fx.Graph()
x = graph.placeholder("x")
relu = graph.call_function(torch.relu, (x,))
graph.output(x)
""",
)
define(
    "ST120",
    "an erased node can't be copied or stored",
    "node `{node}` is in no graph any more and can't be copied or pickled",
    help=("copy or pickle it before it is erased",),
    explain="""\
A node refers to the nodes it uses and to those that use it: a copy of a node comes with a copy of its graph.
A node that has been erased has no graph that could be copied with it.
""",
    example="""\
import pickle
import symtrace as fx

graph = fx.Graph()
x = graph.placeholder("x")
graph.erase_node(x)
pickle.dumps(x)
""",
    remedy="""\
import pickle
import symtrace as fx

graph = fx.Graph()
x = graph.placeholder("x")
graph.output(x)
print(pickle.loads(pickle.dumps(x)).graph)
""",
)
define(
    "ST121",
    "op kind is fixed",
    "`{node}` is a `{old}` node and can't become a `{new}` node",
    help=("make a new node and call replace_all_uses_with",),
    explain="""\
Placeholders stand at the top of a graph and the output at its end. A node that became one of them, or
ceased to be one, would stand in a wrong place.
""",
    example="""\
import symtrace as fx

graph = fx.Graph()
x = graph.placeholder("x")
x.op = "get_attr"
""",
    remedy="""\
import symtrace as fx

graph = fx.Graph()
x = graph.placeholder("x")
weight = graph.get_attr("weight")
x.replace_all_uses_with(weight)
graph.erase_node(x)
""",
)
define(
    "ST122",
    "arguments of another structure",
    "the arguments are nested differently than at capture: {reason}",
    help=("capture again with arguments of this structure",),
    explain="""\
A graph captured with nested `concrete_args` takes its arguments apart in one fixed way. Arguments with
other keys, lengths or container types have no place in it.
""",
    example="""\
import torch
import symtrace as fx

inputs = {"batch": {"a": fx.PH, "b": fx.PH}}
gm = fx.symbolic_trace(lambda batch: batch["a"] + batch["b"], concrete_args=inputs)
gm({"a": torch.ones(2)})
""",
    remedy="""\
import torch
import symtrace as fx

inputs = {"batch": {"a": fx.PH, "b": fx.PH}}
gm = fx.symbolic_trace(lambda batch: batch["a"] + batch["b"], concrete_args=inputs)
gm({"a": torch.ones(2), "b": torch.ones(2)})
""",
)
