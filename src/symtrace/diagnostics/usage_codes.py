"""ST4xx: the command line and files."""

from __future__ import annotations

from .registry import define

define(
    "ST400",
    "bad command line",
    "{reason}",
    help=("`symtrace --help` lists the commands, `symtrace COMMAND --help` their options",),
    explain="""\
The command line names no known command, lacks an argument, or has an option or a value that the command
does not know.
""",
    example="""\
$ symtrace show --fromat table torch.nn:ReLU
""",
    remedy="""\
$ symtrace show --format table torch.nn:ReLU
""",
)
define(
    "ST401",
    "bad target",
    "can't load `{target}`: {reason}",
    help=("write `module.path:name` or `path/to/file.py:name`",),
    explain="""\
A target names a Python object: the importable module or the file it is in, a colon, and the name in it
(dots reach into classes and modules). What it names is then made into a program:

- an `nn.Module` object is the program;
- a class of modules is called, with what `--config` gives;
- a function whose parameters all have defaults is called, and if it returns an `nn.Module` (as
  `torchvision.models:resnet18` does) that module is the program;
- any other function is itself the program.
""",
    example="""\
$ symtrace show torchvision.models:resnet19
""",
    remedy="""\
$ symtrace show torchvision.models:resnet18
""",
)
define(
    "ST402",
    "unknown code",
    "there is no diagnostic `{text}`; the nearest are {nearest}",
    help=("`symtrace explain` lists all codes",),
    explain="""\
A code is `ST` and three digits, as printed at the start of each error: `ST0..` for capture, `ST1..` for
graphs, `ST2..` for rewriting, `ST3..` for running and `ST4..` for the command line.
""",
    example="""\
$ symtrace explain ST999
""",
    remedy="""\
$ symtrace explain ST012
""",
)
define(
    "ST403",
    "bad input",
    "can't read the input `{text}`: {reason}",
    help=(
        "write sizes joined by x and a dtype if it is not float32: `--input 1x3x8x8`, `--input 8x16:int64`",
    ),
    explain="""\
`--input` makes one tensor argument: `1x3x224x224` has that shape and the dtype `float32`; another dtype
is named after a colon, as torch spells it. A tensor without dimensions is `scalar`. Values are random
for floating dtypes and zero for others. For anything else (containers, numbers, keyword arguments) give
`--inputs` a Python expression; it may use `torch`.
""",
    example="""\
$ symtrace show torch.nn:ReLU --input 1x3xA
""",
    remedy="""\
$ symtrace show torch.nn:ReLU --input 1x3x8
""",
)
define(
    "ST404",
    "bad input expression",
    "can't evaluate the inputs `{text}`: {reason}",
    help=("write what stands between the parentheses of a call: `--inputs 'torch.ones(2), mask=None'`",),
    explain="""\
The text after `--inputs` is what would stand between the parentheses of a call of the program:
positional arguments, then keyword arguments. It is evaluated with `torch` in scope.
""",
    example="""\
$ symtrace show torch.nn:ReLU --inputs torch.onez(2)
""",
    remedy="""\
$ symtrace show torch.nn:ReLU --inputs torch.ones(2)
""",
)
define(
    "ST405",
    "file can't be written",
    "can't write `{path}`: {reason}",
    help=("name a file in a folder that exists and may be written to",),
    explain="""\
The result is written beside its destination under another name and then moved there in one step, so a
failure leaves an older file as it was. The folder must exist and be writable, and the destination must
not be a folder.
""",
    example="""\
$ symtrace code torch.nn:ReLU -o no/such/folder/relu.py
""",
    remedy="""\
$ symtrace code torch.nn:ReLU -o relu.py
""",
)
define(
    "ST406",
    "drawing tool missing",
    "can't draw `{path}`: {reason}",
    help=(
        "install the Python package `graphviz` and the program `dot`",
        "write a `.dot` file, which needs neither",
    ),
    explain="""\
The layout of a drawing is computed by the program `dot` of the Graphviz project, reached through the
Python package `graphviz` (`pip install 'symtrace[draw]'`). Text in the DOT language needs neither: name
the file `.dot` or `.gv`, or call `graph.to_dot()`.
""",
    remedy="""\
$ symtrace draw torch.nn:ReLU -o relu.dot
""",
)
define(
    "ST407",
    "unknown format",
    "`{value}` is not a known {what}; use one of {known}",
    explain="""\
The value picks one of a few ways to show or write the result; the message lists them.
""",
    example="""\
import symtrace as fx
from symtrace.visualize import format_table

graph = fx.symbolic_trace(lambda x: x + 1).graph
format_table(graph, style="spreadsheet")
""",
    remedy="""\
import symtrace as fx
from symtrace.visualize import format_table

graph = fx.symbolic_trace(lambda x: x + 1).graph
print(format_table(graph, style="simple"))
""",
)
define(
    "ST408",
    "the program refuses its inputs",
    "the program {signature} can't be run with these inputs: {reason}",
    help=("check the number, shapes and dtypes of the inputs against the program's parameters",),
    explain="""\
The program was called with the inputs of the command line, as `program(*args, **kwargs)`, and raised.
The reason is what it said. Give each tensor parameter without a default one `--input`, in order, or all
arguments at once with `--inputs`.
""",
    example="""\
$ symtrace show torchvision.models:resnet18 --input 1x4x64x64
""",
    remedy="""\
$ symtrace show torchvision.models:resnet18 --input 1x3x64x64
""",
)
define(
    "ST409",
    "value can't be written as code",
    "can't write `{what}` as Python code: {reason}",
    help=("make it an attribute of an importable module, or remove it from the program",),
    explain="""\
`symtrace code` writes a file that is imported without the program it came from. Each layer and function
in the graph must therefore be found again under the name it was imported by; a class or function
defined inside another function, in `__main__`, or as a lambda has no such name.
""",
)
define(
    "ST410",
    "configuration can't be read",
    "can't read the configuration `{text}`: {reason}",
    help=("write --config NAME=VALUE, once for each name",),
    explain="""\
`--config NAME=VALUE` is a keyword argument for the class or factory that the target names, or for its
configuration class where it has one, as models of transformers do. The value is a Python literal, such
as `2`, `0.5`, `True`, `None` or `[1, 2]`; anything else is taken as a string.
""",
    example="""\
$ symtrace show torchvision.models:resnet18 --config num_classes
""",
    remedy="""\
$ symtrace show torchvision.models:resnet18 --config num_classes=10
""",
)
