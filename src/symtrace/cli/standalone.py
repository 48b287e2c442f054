"""A captured module as the text of a Python file that needs torch alone, and its tensors."""

from __future__ import annotations

import ast
import builtins
import keyword
import textwrap
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from .embedded import embedded_text
from .expressions import LONGEST_TENSOR, Writer, quoted
from .module_plan import ModulePlan

if TYPE_CHECKING:
    import torch
    from torch import nn

__all__ = ["Standalone", "standalone"]

# Modules with no more numbers than this have them in the text; others have a file beside it.
INLINE_NUMBERS = LONGEST_TENSOR


@dataclass(frozen=True)
class Standalone:
    """Text of a file, the tensors that belong beside it (none when the text has them), its object's name."""

    source: str
    weights: dict[str, torch.Tensor]
    model: str


@dataclass
class _Tensors:
    """The tensors of a module by dotted name, and what is special about some."""

    values: dict[str, torch.Tensor] = field(default_factory=dict)
    frozen: set[str] = field(default_factory=set)
    tied: dict[str, str] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)

    def add(self, name: str, value: torch.Tensor) -> None:
        import torch

        if type(value) not in (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer):
            raise UsageError("ST409", what=name, reason=f"it is a tensor of class `{type(value).__name__}`")
        if value.layout != torch.strided or value.is_quantized or value.is_meta:
            raise UsageError("ST409", what=name, reason="it is sparse, quantised or without values")
        if id(value) in self.names:
            self.tied[name] = self.names[id(value)]
            return
        self.names[id(value)] = name
        self.values[name] = value.detach()


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _collect_tensors(plan: ModulePlan) -> _Tensors:
    found = _Tensors()
    for path, module in plan.first_paths.items():
        for name, parameter in module._parameters.items():
            if parameter is not None:
                full = _join(path, name)
                found.add(full, parameter)
                if not parameter.requires_grad:
                    found.frozen.add(full)
        for name, buffer in module._buffers.items():
            if buffer is not None:
                found.add(_join(path, name), buffer)
    return found


def _read_paths(function: ast.FunctionDef) -> Iterator[tuple[str, ...]]:
    """Yield what the function reads of its first parameter, as `("layer1", "0", "weight")`."""
    owner = [*function.args.posonlyargs, *function.args.args][0].arg

    def path(node: ast.AST) -> tuple[str, ...] | None:
        if isinstance(node, ast.Name):
            return () if node.id == owner else None
        name = None
        if isinstance(node, ast.Attribute):
            name, inner = node.attr, node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
            inner = node.args[0]
            if len(node.args) == 2 and isinstance(node.args[1], ast.Constant):
                name = str(node.args[1].value)
        if name is None:
            return None
        before = path(inner)
        return None if before is None else (*before, name)

    for node in ast.walk(function):
        found = path(node) if isinstance(node, ast.Attribute | ast.Call) else None
        if found:
            yield found


def _collect_attributes(
    root: nn.Module, function: ast.FunctionDef, tensors: _Tensors, plan: ModulePlan, writer: Writer
) -> dict[str, str]:
    """Return the other attributes that the code reads, as source text; tensors among them join `tensors`."""
    import torch

    texts: dict[str, str] = {}
    for path in _read_paths(function):
        owner: Any = root
        for depth, name in enumerate(path):
            if name in owner._modules:
                owner = owner._modules[name]
                continue
            full = ".".join(path[: depth + 1])
            if name in vars(owner):
                value = vars(owner)[name]
                if isinstance(value, torch.Tensor):
                    if full not in tensors.values and full not in tensors.tied:
                        tensors.add(full, value)
                elif isinstance(value, torch.nn.Module):
                    texts[full] = plan.plain_module(full, value)
                elif name != "training":
                    texts[full] = writer.expression(value, full)
            break
    return texts


def _class_name(root: nn.Module) -> str:
    name = type(root).__name__
    return name if name.isidentifier() and not keyword.iskeyword(name) else "Captured"


def _free_name(name: str, taken: set[str]) -> str:
    while name in taken or name in dir(builtins):
        name += "_"
    return name


def _forward(code: str) -> tuple[ast.FunctionDef, str]:
    """Return the function of the generated code, parsed and as text."""
    tree = ast.parse(code)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    function = functions[-1]
    lines = code.splitlines()[function.lineno - 1 : function.end_lineno]
    return function, "\n".join(lines)


def _globals(function: ast.FunctionDef, scope: dict[str, Any], writer: Writer) -> tuple[list[str], list[str]]:
    """Return assignments and functions that define the global names of the function; imports go to the writer."""
    lines, functions = [], []
    used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    for name in sorted(used & scope.keys()):
        value = scope[name]
        if getattr(builtins, name, None) is value and value is not None:
            continue
        if isinstance(value, types.ModuleType):
            writer.imports.add(value.__name__)
            if value.__name__ != name:
                lines.append(f"{name} = {value.__name__}")
            continue
        embedded = embedded_text(value, name)
        if embedded is not None:
            functions.append(embedded)
            continue
        text = writer.expression(value, name)
        if text != name:
            lines.append(f"{name} = {text}")
    return lines, functions


def standalone(gm: Any) -> Standalone:
    """Write a captured module as a Python file.

    Args:
        gm: A GraphModule.

    Returns:
        The text, which defines a class named as the module's and an object `model` of it, and the tensors
        to be saved beside it.

    Raises:
        UsageError: Something in the module has no text (ST409).
    """
    python_code = gm.graph.python_code("self")
    function, forward = _forward(python_code.src)
    writer = Writer()
    called = {node.target for node in gm.graph.nodes if node.op == "call_module"}
    plan = ModulePlan(gm, called, writer)
    tensors = _collect_tensors(plan)
    attributes = _collect_attributes(gm, function, tensors, plan, writer)
    assignments, functions = _globals(function, python_code.globals, writer)
    inline = _is_small(tensors)
    taken = set(python_code.globals)
    name, model = _free_name(_class_name(gm), taken), _free_name("model", taken)
    parts = [
        _header(name, model, writer, inline),
        *(["\n".join(assignments)] if assignments else []),
        *functions,
        *([_tensor_text(tensors, inline, writer)] if tensors.values else []),
        *(text for name, text in _HELPERS.items() if name in plan.helpers),
        _class_text(name, gm, plan, tensors, attributes) + textwrap.indent(forward, "    "),
        f"{model} = {name}()",
    ]
    return Standalone("\n\n\n".join(parts) + "\n", {} if inline else dict(tensors.values), model)


def _is_small(tensors: _Tensors) -> bool:
    numbers = sum(value.numel() for value in tensors.values.values())
    return numbers <= INLINE_NUMBERS and not any(v.dtype.is_complex for v in tensors.values.values())


def _header(name: str, model: str, writer: Writer, inline: bool) -> str:
    where = "in this file" if inline else "in the .safetensors file beside this one"
    lines = [
        f'"""{name}, captured by symtrace and written as plain PyTorch.',
        "",
        f"`{name}()` makes a new module each time, `{model}` is one of them.",
        f"Its tensors are {where}.",
        '"""',
        "",
    ]
    if not inline:
        lines += ["from pathlib import Path", ""]
    lines += [f"import {module}" for module in sorted(writer.imports)]
    if not inline:
        lines += ["from safetensors.torch import load_file"]
    return "\n".join(lines)


def _tensor_text(tensors: _Tensors, inline: bool, writer: Writer) -> str:
    if not inline:
        return 'def _tensors():\n    return load_file(Path(__file__).with_suffix(".safetensors"))'
    rows = []
    for name, value in tensors.values.items():
        text = writer.expression(value, name)
        lines = textwrap.wrap(text, 92, break_long_words=False, subsequent_indent=" " * 12)
        rows.append(f"        {quoted(name)}: " + "\n".join(lines) + ",\n")
    return (
        "def _tensors():\n    return {\n" + "".join(rows) + "    }"
        if rows
        else "def _tensors():\n    return {}"
    )


_HELPERS = {
    "restore": '''\
def _restore(kind, attributes):
    """Make a module as it was, without calling its constructor."""
    module = kind.__new__(kind)
    torch.nn.Module.__init__(module)
    module.__dict__.update(attributes)
    return module''',
    "declare": '''\
def _declare(module, parameters, buffers):
    """Register names of parameters, and of buffers with their persistence."""
    for name in parameters:
        module.register_parameter(name, None)
    for name, persistent in buffers.items():
        module.register_buffer(name, None, persistent=persistent)
    return module''',
}


def _class_text(
    name: str, root: nn.Module, plan: ModulePlan, tensors: _Tensors, attributes: dict[str, str]
) -> str:
    body = ["super().__init__()"]
    if plan.lines:
        body += [
            "",
            "def add(path, module):",
            '    parent, _, name = path.rpartition(".")',
            "    self.get_submodule(parent).add_module(name, module)",
            "",
            'with torch.device("meta"):  # the tensors come below; making them at random first takes time',
            *(f"    {line}" for line in plan.lines),
        ]
    body += _loading_lines(tensors)
    body += [f"{_target(path)} = {text}" for path, text in attributes.items()]
    body += _mode_lines(root, plan)
    lines = "\n".join(f"        {line}".rstrip() for line in body)
    return f"class {name}(torch.nn.Module):\n    def __init__(self):\n{lines}\n\n"


def _owner(path: str) -> tuple[str, str]:
    """Return the text of the module that holds `path`, and the last name of the path."""
    parent, _, name = path.rpartition(".")
    return (f"self.get_submodule({quoted(parent)})" if parent else "self"), name


def _target(path: str) -> str:
    owner, name = _owner(path)
    return f"{owner}.{name}"


def _loading_lines(tensors: _Tensors) -> list[str]:
    if not tensors.values:
        return []
    frozen = ", ".join(quoted(name) for name in sorted(tensors.frozen))
    grad = "path not in frozen" if frozen else "True"
    lines = [
        "",
        *([f"frozen = {{{frozen}}}"] if frozen else []),
        "for path, value in _tensors().items():",
        '    parent, _, name = path.rpartition(".")',
        "    owner = self.get_submodule(parent)",
        "    if name in owner._parameters:",
        f"        value = torch.nn.Parameter(value, requires_grad={grad})",
        "    setattr(owner, name, value)",
    ]
    for path, first in tensors.tied.items():
        (owner, name), (origin, origin_name) = _owner(path), _owner(first)
        lines.append(f"setattr({owner}, {quoted(name)}, getattr({origin}, {quoted(origin_name)}))")
    return lines


def _mode_lines(root: nn.Module, plan: ModulePlan) -> list[str]:
    lines = [] if root.training else ["self.eval()"]
    odd = [path for path, module in plan.first_paths.items() if module.training != root.training]
    if odd:
        paths = ", ".join(map(quoted, odd))
        lines += [f"for path in [{paths}]:", f"    self.get_submodule(path).training = {not root.training}"]
    return lines
