"""ST2xx: operator schemas, patterns, passes and partitions."""

from __future__ import annotations

from .registry import define

define(
    "ST201",
    "ambiguous overload",
    "Tried to normalize arguments to {target} but the schema match was ambiguous! "
    "Please provide argument types to the normalize_arguments() call. Available schemas:\n{schemas}",
    help=("give arg_types and kwarg_types",),
    explain="""\
The arguments of an operator can be brought into one form (all by keyword, defaults filled in) only when
it is known which of its overloads is meant. Here the arguments at hand fit more than one.
""",
)
define(
    "ST202",
    "empty pattern",
    "the pattern computes nothing: {reason}",
    help=("let the pattern call at least one function, method or module and return its result",),
    explain="""\
Every place where a pattern occurs is replaced. A pattern that only passes its inputs on occurs
everywhere.
""",
    example="""\
import torch
import symtrace as fx

gm = fx.symbolic_trace(lambda x, y: torch.relu(x + y))
fx.replace_pattern(gm, lambda a: a, lambda a: torch.neg(a))
""",
    remedy="""\
import torch
import symtrace as fx

gm = fx.symbolic_trace(lambda x, y: torch.relu(x + y))
fx.replace_pattern(gm, lambda a: torch.relu(a), lambda a: torch.neg(a))
""",
)
define(
    "ST203",
    "dead code in a pattern",
    "`{node}` in the pattern is used by nothing and has no effect",
    help=("remove it, or return it",),
    explain="""\
All nodes of a pattern must be found in the graph and are replaced together. A node that nothing in the
pattern uses says nothing about where the pattern ends, so it is most likely a slip.
""",
    example="""\
import torch
import symtrace as fx

gm = fx.symbolic_trace(lambda x, y: torch.relu(x + y))


def pattern(a, b):
    torch.neg(a)
    return a + b


fx.replace_pattern(gm, pattern, lambda a, b: a * b)
""",
    remedy="""\
import torch
import symtrace as fx

gm = fx.symbolic_trace(lambda x, y: torch.relu(x + y))


def pattern(a, b):
    return a + b


fx.replace_pattern(gm, pattern, lambda a, b: a * b)
""",
)
define(
    "ST204",
    "replacement takes other inputs",
    "the pattern has {pattern} input(s), the replacement {replacement}",
    help=("give both the same parameters, also those that one of them does not use",),
    explain="""\
The inputs of the replacement stand for the values found at the inputs of the pattern, one by one in
order.
""",
    example="""\
import torch
import symtrace as fx

gm = fx.symbolic_trace(lambda x, y: torch.relu(x + y))
fx.replace_pattern(gm, lambda a, b: a + b, lambda a: a * 2)
""",
    remedy="""\
import torch
import symtrace as fx

gm = fx.symbolic_trace(lambda x, y: torch.relu(x + y))
fx.replace_pattern(gm, lambda a, b: a + b, lambda a, b: a * 2)
""",
)
define(
    "ST205",
    "replacement returns another number of values",
    "the pattern returns {pattern} value(s), the replacement {replacement}",
    help=("return one value of the replacement for each value of the pattern",),
    explain="""\
The values that the replacement returns take the place of those that the pattern returns, one by one in
order.
""",
    example="""\
import torch
import symtrace as fx

gm = fx.symbolic_trace(lambda x, y: torch.relu(x + y))
fx.replace_pattern(gm, lambda a, b: a + b, lambda a, b: (a * b, a))
""",
    remedy="""\
import torch
import symtrace as fx

gm = fx.symbolic_trace(lambda x, y: torch.relu(x + y))
fx.replace_pattern(gm, lambda a, b: a + b, lambda a, b: a * b)
""",
)
define(
    "ST206",
    "input unknown",
    "the replacement uses its input `{name}`, but the pattern uses nothing in its place",
    help=("use the input in the pattern too, or not in the replacement",),
    explain="""\
An input of the pattern that none of its nodes uses has no counterpart in the graph, so there is nothing
that the replacement could use in its place.
""",
    example="""\
import torch
import symtrace as fx

gm = fx.symbolic_trace(lambda x, y: torch.relu(x + y))
fx.replace_pattern(gm, lambda a, b: torch.relu(a), lambda a, b: a + b)
""",
    remedy="""\
import torch
import symtrace as fx

gm = fx.symbolic_trace(lambda x, y: torch.relu(x + y))
fx.replace_pattern(gm, lambda a, b: torch.relu(a + b), lambda a, b: a + b)
""",
)
define(
    "ST207",
    "not a pattern",
    "{what} must be a Graph, a GraphModule, an nn.Module or a callable, not {actual}",
    explain="""\
A pattern and its replacement are programs: a function or a module, which is traced, or a graph.
""",
    example="""\
import torch
import symtrace as fx

gm = fx.symbolic_trace(lambda x, y: torch.relu(x + y))
fx.replace_pattern(gm, "relu", lambda a: torch.neg(a))
""",
    remedy="""\
import torch
import symtrace as fx

gm = fx.symbolic_trace(lambda x, y: torch.relu(x + y))
fx.replace_pattern(gm, lambda a: torch.relu(a), lambda a: torch.neg(a))
""",
)
define(
    "ST208",
    "target missing in both modules",
    "the replacement uses `{target}`, which neither it nor the module that is rewritten has",
    help=("give the replacement as an nn.Module that has it",),
    explain="""\
The nodes of a replacement become nodes of the module that is rewritten. Parameters and submodules that
they name are copied from the replacement if it is a module that has them, and looked up in the
rewritten module otherwise.
""",
    example="""\
import torch
import symtrace as fx

gm = fx.symbolic_trace(lambda x, y: torch.relu(x + y))
replacement = fx.Graph()
a = replacement.placeholder("a")
replacement.output(replacement.call_module("head", (a,)))
fx.replace_pattern(gm, lambda a: torch.relu(a), replacement)
""",
    remedy="""\
import torch
import symtrace as fx


class Head(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.ReLU6()

    def forward(self, a):
        return self.head(a)


gm = fx.symbolic_trace(lambda x, y: torch.relu(x + y))
fx.replace_pattern(gm, lambda a: torch.relu(a), Head())
print(gm(torch.ones(1), torch.ones(1)))
""",
)
define(
    "ST209",
    "no replacement",
    "replace_pattern_with_filters needs a replacement or a replacement_callback",
    help=("pass one of them",),
    explain="""\
What a match is replaced by is either one program for all matches or made for each match by a function.
""",
    example="""\
import torch
import symtrace as fx
from symtrace.subgraph_rewriter import replace_pattern_with_filters

gm = fx.symbolic_trace(lambda x: torch.relu(x))
replace_pattern_with_filters(gm, lambda a: torch.relu(a))
""",
    remedy="""\
import torch
import symtrace as fx
from symtrace.subgraph_rewriter import replace_pattern_with_filters

gm = fx.symbolic_trace(lambda x: torch.relu(x))
replace_pattern_with_filters(gm, lambda a: torch.relu(a), lambda a: torch.neg(a))
""",
)
define(
    "ST210",
    "pattern returns an input",
    "the pattern returns its input `{name}`, which the replacement replaces by something else",
    help=("leave the input out of what the pattern and the replacement return",),
    explain="""\
Where a pattern returns one of its inputs, that input is a value from outside the match. Replacing it by
another value would have to change every other use of it too.
""",
    example="""\
import torch
import symtrace as fx

gm = fx.symbolic_trace(lambda x, y: torch.relu(x + y))
fx.replace_pattern(gm, lambda a, b: (a + b, a), lambda a, b: (a * b, b))
""",
    remedy="""\
import torch
import symtrace as fx

gm = fx.symbolic_trace(lambda x, y: torch.relu(x + y))
fx.replace_pattern(gm, lambda a, b: a + b, lambda a, b: a * b)
""",
)
define(
    "ST211",
    "pattern without names",
    "the pattern has to return a dict from names to nodes behind its results",
    help=('end it with: return result, {{"name": node}}',),
    explain="""\
A matcher that reports its nodes by name takes the names from the pattern: its last result is a dict
whose values are nodes of the pattern.
""",
    example="""\
import torch
import symtrace as fx
from symtrace.passes.utils.matcher_with_name_node_map_utils import SubgraphMatcherWithNameNodeMap

SubgraphMatcherWithNameNodeMap(fx.symbolic_trace(lambda x: torch.relu(x)))
""",
    remedy="""\
import torch
import symtrace as fx
from symtrace.passes.utils.matcher_with_name_node_map_utils import SubgraphMatcherWithNameNodeMap

def pattern(x):
    relu = torch.relu(x)
    return relu, {"relu": relu}

SubgraphMatcherWithNameNodeMap(fx.symbolic_trace(pattern))
""",
)
define(
    "ST220",
    "cycle between partitions",
    "cycle exists between partitions! {cycle} need each other's values, or"
    " effects in an order that no sequence of them keeps",
    help=("put nodes that depend on each other in a ring into one partition",),
    explain="""\
Each partition becomes one call, so the partitions need an order in which each has what it needs when it
runs. Where one needs a value of another and the other way round there is none. Effects count as well: a
write and a read of the same value keep their order.
""",
    example="""\
import torch
import symtrace as fx
from symtrace.passes.split_module import split_module


def forward(x):
    a = torch.relu(x)
    b = torch.neg(a)
    return a + b


gm = fx.symbolic_trace(forward)
split_module(gm, gm, lambda node: 0 if node.target in (torch.relu,) or node.name == "add" else 1)
""",
    remedy="""\
import torch
import symtrace as fx
from symtrace.passes.split_module import split_module


def forward(x):
    a = torch.relu(x)
    b = torch.neg(a)
    return a + b


gm = fx.symbolic_trace(forward)
split_module(gm, gm, lambda node: 0 if node.target is torch.relu else 1)
""",
)
define(
    "ST221",
    "wrong partition",
    "{what}",
    explain="""\
A partition is a set of nodes of one graph that can run as one call: it is not empty, shares no node
with another partition, and none of its values comes back to it through a node outside.
""",
    example="""\
import torch
import symtrace as fx
from symtrace.passes.utils.fuser_utils import fuse_as_graphmodule

gm = fx.symbolic_trace(lambda x: torch.relu(torch.neg(torch.abs(x))))
absolute, neg, relu = [n for n in gm.graph.nodes if n.op == "call_function"]
fuse_as_graphmodule(gm, [absolute, relu], "Fused")
""",
    remedy="""\
import torch
import symtrace as fx
from symtrace.passes.utils.fuser_utils import fuse_as_graphmodule

gm = fx.symbolic_trace(lambda x: torch.relu(torch.neg(torch.abs(x))))
absolute, neg, relu = [n for n in gm.graph.nodes if n.op == "call_function"]
fused, inputs, outputs = fuse_as_graphmodule(gm, [absolute, neg], "Fused")
print(fused.code)
""",
)
define(
    "ST230",
    "pass failed",
    "An error occurred when running the {name!r} pass after the following passes: {before}",
    explain="""\
A pass of a `PassManager` raised. What it raised is the cause of this error and stands above it in the
traceback; the passes named in the message had run before.
""",
    example="""\
import torch
import symtrace as fx
from symtrace.passes.infra.pass_manager import PassManager, pass_result_wrapper


def rename(gm):
    raise KeyError("no such node")


gm = fx.symbolic_trace(torch.nn.Sequential(torch.nn.ReLU()))
PassManager([pass_result_wrapper(rename)])(gm)
""",
    remedy="""\
import torch
import symtrace as fx
from symtrace.passes.infra.pass_manager import PassManager, pass_result_wrapper


def rename(gm):
    gm.graph.lint()


gm = fx.symbolic_trace(torch.nn.Sequential(torch.nn.ReLU()))
PassManager([pass_result_wrapper(rename)])(gm)
""",
)
define(
    "ST231",
    "no PassResult",
    "The result of the pass {name} should be type PassResult, not {actual}. Please wrap it"
    " with pass_result_wrapper()",
    explain="""\
A pass says whether it changed something by returning a `PassResult`. A function that returns a module
or nothing becomes such a pass by `pass_result_wrapper`.
""",
    example="""\
import torch
import symtrace as fx
from symtrace.passes.infra.pass_manager import PassManager, pass_result_wrapper


def rename(gm):
    return gm


gm = fx.symbolic_trace(torch.nn.Sequential(torch.nn.ReLU()))
PassManager([rename])(gm)
""",
    remedy="""\
import torch
import symtrace as fx
from symtrace.passes.infra.pass_manager import PassManager, pass_result_wrapper


def rename(gm):
    return gm


gm = fx.symbolic_trace(torch.nn.Sequential(torch.nn.ReLU()))
PassManager([pass_result_wrapper(rename)])(gm)
""",
)
define(
    "ST232",
    "constraint violated",
    "pass schedule constraint violated. Expected {first} before {second} but found"
    " {first} at index {first_index} and {second} at index {second_index} in pass list.",
    help=("call solve_constraints(), or reorder the passes",),
    explain="""\
The constraints of a `PassManager` say which pass has to run before which, and its list of passes has
them in another order.
""",
    example="""\
from symtrace.passes.infra.pass_manager import PassManager, this_before_that_pass_constraint


def first(gm):
    return gm


def second(gm):
    return gm


manager = PassManager([second, first], constraints=[this_before_that_pass_constraint(first, second)])
manager.validate_constraints()
""",
    remedy="""\
from symtrace.passes.infra.pass_manager import PassManager, this_before_that_pass_constraint


def first(gm):
    return gm


def second(gm):
    return gm


manager = PassManager([second, first], constraints=[this_before_that_pass_constraint(first, second)])
manager.solve_constraints()
manager.validate_constraints()
""",
)
define(
    "ST233",
    "circular constraints",
    "Circular dependency detected within the following passes: {passes}",
    help=("drop one of the constraints",),
    explain="""\
The constraints of a `PassManager` ask for an order in which a pass comes before itself.
""",
    example="""\
from symtrace.passes.infra.pass_manager import PassManager, this_before_that_pass_constraint


def first(gm):
    return gm


def second(gm):
    return gm


constraints = [
    this_before_that_pass_constraint(first, second),
    this_before_that_pass_constraint(second, first),
]
PassManager([first, second], constraints=constraints).solve_constraints()
""",
    remedy="""\
from symtrace.passes.infra.pass_manager import PassManager, this_before_that_pass_constraint


def first(gm):
    return gm


def second(gm):
    return gm


constraints = [this_before_that_pass_constraint(first, second)]
PassManager([first, second], constraints=constraints).solve_constraints()
""",
)
define(
    "ST234",
    "shapes do not fit",
    "ShapeProp error for: node={node}: {reason}",
    explain="""\
`ShapeProp` runs the graph on the example inputs, and a node raised. The reason is what it said; most
often the shape or dtype of an input does not fit.
""",
    example="""\
import torch
import symtrace as fx
from symtrace.passes.shape_prop import ShapeProp

gm = fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(4, 2)))
ShapeProp(gm).propagate(torch.ones(1, 3))
""",
    remedy="""\
import torch
import symtrace as fx
from symtrace.passes.shape_prop import ShapeProp

gm = fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(4, 2)))
ShapeProp(gm).propagate(torch.ones(1, 4))
""",
)
define(
    "ST235",
    "training mode",
    "Fusion only for eval!: `{module}` is in training mode",
    help=("call model.eval() first",),
    explain="""\
In training mode a batch norm uses the statistics of the batch at hand, which no convolution can do.
Only with the fixed statistics of eval mode can the two become one.
""",
    example="""\
import torch
from symtrace.experimental.optimization import fuse

model = torch.nn.Sequential(torch.nn.Conv2d(1, 1, 1), torch.nn.BatchNorm2d(1))
fuse(model)
""",
    remedy="""\
import torch
from symtrace.experimental.optimization import fuse

model = torch.nn.Sequential(torch.nn.Conv2d(1, 1, 1), torch.nn.BatchNorm2d(1))
fuse(model.eval())
""",
)
