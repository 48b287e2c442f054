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
        "if the data decides, use torch.where or torch.cond instead of the branch",
        "if sizes or types decide, symtrace.capture(model, (example,)) follows the example and guards it",
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
define(
    "ST013",
    "a number or length is needed",
    "`{asked_for}` of traced value `{node}` is not known while tracing",
    help=(
        "give example inputs: symtrace.capture(model, (example,)) answers it from the example and guards it",
        "keep sizes symbolic: use them in torch functions without int(), float() or range()",
        "make the function a leaf: symtrace.wrap",
    ),
    explain="""\
Python wants a plain number here, and a traced value has none: it stands for whatever a call will bring.
With example inputs the number is taken from the example, and a guard checks at each call that it still
holds.
""",
    example="""\
import symtrace as fx

fx.symbolic_trace(lambda x: [x + i for i in range(x.size(0))])
""",
    remedy="""\
import torch
import symtrace as fx

fx.capture(lambda x: [x + i for i in range(x.size(0))], (torch.ones(2),))
""",
)
define(
    "ST014",
    "signature not known",
    "the parameters of {root} can't be told: {reason}",
    help=("wrap it in a plain function that names its parameters",),
    explain="""\
Capture makes one input of the graph for each parameter, and has to know them.
""",
    example="""\
import symtrace as fx

fx.symbolic_trace(max)
""",
    remedy="""\
import symtrace as fx

fx.symbolic_trace(lambda x, y: max(x, y), concrete_args={"x": 1, "y": 2})
""",
)
define(
    "ST015",
    "examples don't fit",
    "the arguments don't fit the parameters: {reason}; the parameters are: {parameters}",
    help=("pass them as the module takes them",),
    explain="""\
Example inputs and concrete arguments are bound as a call of the module would bind them.
""",
    example="""\
import torch
import symtrace as fx

fx.capture(lambda x: x + 1, (torch.ones(1), torch.ones(1)))
""",
    remedy="""\
import torch
import symtrace as fx

fx.capture(lambda x: x + 1, (torch.ones(1),))
""",
)
define(
    "ST016",
    "can't wrap",
    "{what} can't be wrapped: {reason}",
    help=("decorate the function itself with @symtrace.wrap",),
    explain="""\
`wrap` takes a function, or at the top level of a module the name of a function that the module uses.
""",
    example="""\
import symtrace as fx

fx.wrap(3)
""",
    remedy="""\
import symtrace as fx


@fx.wrap
def helper(x):
    return x
""",
)
define(
    "ST017",
    "object with traced values in it",
    "a {kind} that holds traced values can't be built again at each call",
    help=(
        "use a tuple, list, dict, NamedTuple or dataclass",
        "make the function that takes it a leaf: symtrace.wrap",
    ),
    explain="""\
What goes into a node, or out of the program, is built anew at each call. That works for containers
whose constructor takes their content, and for objects that are no more than their attributes; how to make
one of another class symtrace can't know.
""",
    example="""\
import symtrace as fx


class Box:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


fx.symbolic_trace(lambda x: Box(x))
""",
    remedy="""\
import dataclasses
import symtrace as fx


@dataclasses.dataclass
class Box:
    value: object


fx.symbolic_trace(lambda x: Box(x))
""",
)
define(
    "ST018",
    "operation writes to its arguments",
    "mutable operation {call} writes to its arguments, which this tracer refuses",
    help=("use the operation that returns a new tensor", "leave check_mutable_operations off"),
    explain="""\
A tracer with `check_mutable_operations = True` is for programs that must be functional.
""",
    example="""\
import torch
import symtrace as fx

tracer = fx.Tracer()
tracer.check_mutable_operations = True
tracer.trace(lambda x: torch.relu_(x))
""",
    remedy="""\
import torch
import symtrace as fx

tracer = fx.Tracer()
tracer.check_mutable_operations = True
tracer.trace(lambda x: torch.relu(x))
""",
)
define(
    "ST019",
    "numpy on a traced value",
    "traced value `{node}` can't become a numpy array",
    help=(
        "use the torch function of the same name",
        "make the function that uses numpy a leaf: symtrace.wrap",
    ),
    explain="""\
numpy needs the content of an array, and a traced value has none. A function that works in numpy can
stay one node.
""",
    example="""\
import numpy
import symtrace as fx

fx.symbolic_trace(lambda x: numpy.asarray(x))
""",
    remedy="""\
import torch
import symtrace as fx


@fx.wrap
def through_numpy(x):
    return torch.from_numpy(x.numpy() + 1)


fx.symbolic_trace(lambda x: through_numpy(x))
""",
)
define(
    "ST020",
    "iterating over a traced value",
    "traced value `{node}`: Proxy object cannot be iterated, since its length is not known while tracing",
    help=(
        "give example inputs: symtrace.capture(model, (example,))",
        "unpack into a fixed number of names: a, b = x",
        "make the function a leaf: symtrace.wrap",
    ),
    explain="""\
A loop over a tensor, a star in a call, or `list(x)` needs a length. Unpacking into names tells it;
otherwise an example does, with a guard on the length.
""",
    example="""\
import symtrace as fx


def forward(x):
    return [row + 1 for row in x]


fx.symbolic_trace(forward)
""",
    remedy="""\
import torch
import symtrace as fx


def forward(x):
    return [row + 1 for row in x]


fx.capture(forward, (torch.ones(2, 3),))
""",
)
define(
    "ST021",
    "unknown concrete argument",
    "concrete_args names {unknown}, which is no parameter; the parameters are: {parameters}",
    help=("check the spelling",),
    explain="""\
Every key of `concrete_args` is the name of a parameter of the module or function that is traced.
""",
    example="""\
import symtrace as fx

fx.symbolic_trace(lambda x, scale=1.0: x * scale, concrete_args={"scal": 3.0})
""",
    remedy="""\
import symtrace as fx

fx.symbolic_trace(lambda x, scale=1.0: x * scale, concrete_args={"scale": 3.0})
""",
)
define(
    "ST022",
    "container changed",
    "the program changes {attribute}, a container, which a captured program could not do again",
    help=("return the values instead of storing them", "store a tensor in a buffer: self.register_buffer"),
    explain="""\
A list, dict, set or array that outlives the call was changed while the program ran: one in an attribute of
the module, in a global, or in a variable of an enclosing function. Capture has put it back as it was. The
captured program could not repeat the change at each call, so that its state would differ from the
original's.
""",
    example="""\
import torch
import symtrace as fx


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = []

    def forward(self, x):
        self.seen.append(x)
        return x + 1


fx.symbolic_trace(Model())
""",
    remedy="""\
import torch
import symtrace as fx


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("last", torch.zeros(1))

    def forward(self, x):
        self.last = x
        return x + 1


fx.symbolic_trace(Model())
""",
)
define(
    "ST023",
    "state that can't be kept",
    "the program {what} `{attribute}`, which a captured program could not do again",
    help=("make the attribute in __init__ with a tensor or number", "make the module a leaf"),
    explain="""\
Assignments of tensors and numbers to attributes of modules are recorded and made at each call. Deleting
attributes, registering or replacing modules and buffers, attributes that are created at the first call and
looked for afterwards, and assignments to globals or to attributes of other objects are not part of a graph.
Capture has put everything back as it was.
""",
    example="""\
import torch
import symtrace as fx


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = 1

    def forward(self, x):
        del self.first
        return x + 1


fx.symbolic_trace(Model())
""",
    remedy="""\
import torch
import symtrace as fx


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls = self.calls + 1
        return x + 1


gm = fx.symbolic_trace(Model())
gm(torch.ones(1))
print(gm.calls)
""",
)
define(
    "ST024",
    "C function on a traced value",
    "a function written in C takes no traced value: {reason}",
    help=(
        "give example inputs: symtrace.capture(model, (example,))",
        "make the Python function around it a leaf: symtrace.wrap",
    ),
    explain="""\
Functions of Python or of an extension that are written in C look into their arguments directly, and find a traced value
where they need a number or an array.
""",
)
define(
    "ST025",
    "autograd function applied under another name",
    "`{function}.apply` is called under a name that was bound before the capture, where it can't be seen",
    help=("call {function}.apply(...) by its full name",),
    explain="""\
An autograd function stays one node, so that its own backward is used. For that, capture watches
`Function.apply`. A name that was bound to it earlier (`snap = Snap.apply` at module level) leads past the
watch, and tracing into `forward` would lose the backward.
""",
    example="""\
import torch
import symtrace as fx


class Snap(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, grad):
        return grad


snap = Snap.apply
fx.symbolic_trace(lambda x: snap(x))
""",
    remedy="""\
import torch
import symtrace as fx


class Snap(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, grad):
        return grad


fx.symbolic_trace(lambda x: Snap.apply(x))
""",
)
define(
    "ST026",
    "state of the process",
    "the program {what}, which a captured program could not do again",
    help=(
        "draw random numbers with torch, whose draws are recorded",
        "make the function that does it a leaf: symtrace.wrap",
        "for a checkpoint: use_reentrant=False",
    ),
    explain="""\
A graph holds calls of torch on values. What a program changes in the process is not part of it: the states
of random generators outside of torch, defaults such as the dtype of new tensors, hooks for saved tensors. A
reentrant checkpoint hides its function from the graph, and with it which module's state and flags it uses;
and a module that is one node can't run with other parameters than its own (`torch.func.functional_call`).
Capture has put everything back as it was.
""",
    example="""\
import random
import symtrace as fx

fx.symbolic_trace(lambda x: x * random.random())
""",
    remedy="""\
import torch
import symtrace as fx

gm = fx.symbolic_trace(lambda x: x * torch.rand(()))
print(gm.code)
""",
)
