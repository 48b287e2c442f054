"""Short texts for a node, shared by tree and drawing: its call, its value, the modules around it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from .._base.qualified import qualified_name
from ..ir import Region

__all__ = ["ModuleCall", "call_text", "module_path", "nodes_of", "regions_in", "target_text", "value_text"]

_DTYPES = {
    "float64": "f64",
    "float32": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "int64": "i64",
    "int32": "i32",
    "int16": "i16",
    "int8": "i8",
    "uint8": "u8",
    "bool": "b8",
    "complex64": "c64",
    "complex128": "c128",
}
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def nodes_of(graph: Any) -> Iterator[Any]:
    """Return the nodes of a graph, or of the graph of a GraphModule."""
    return iter(getattr(graph, "graph", graph).nodes)


def regions_in(node: Any) -> list[tuple[str, Any]]:
    """Return the graphs in a node, each with a name for it: what the parameter of the operation is called."""
    graphs = [(place, value.graph) for place, value in enumerate(node.args) if type(value) is Region]
    if not graphs:
        return []
    code = getattr(node.target, "__code__", None)
    names = code.co_varnames if code is not None else ()
    return [(names[place] if place < len(names) else str(place), graph) for place, graph in graphs]


def target_text(node: Any) -> str:
    """Return the target as a reader would write it: `torch.relu`, `layer1.0.conv1`, `view`."""
    return node.target if isinstance(node.target, str) else qualified_name(node.target)


def _module_class(node: Any) -> str:
    stack = node.meta.get("nn_module_stack")
    if stack:
        path, kind = list(stack.values())[-1]
        if path == node.target:
            return kind if isinstance(kind, str) else getattr(kind, "__name__", str(kind))
    owner = getattr(node.graph, "owning_module", None)
    if owner is not None:
        try:
            return type(owner.get_submodule(node.target)).__name__
        except AttributeError:
            pass
    return str(node.target)


def _arguments(args: Any, kwargs: Any) -> str:
    parts = [_ADDRESS.sub("", repr(arg)) for arg in args]
    parts += [f"{key}={_ADDRESS.sub('', repr(value))}" for key, value in kwargs.items()]
    return ", ".join(parts)


def call_text(node: Any) -> str:
    """Return what the node does as one line of code-like text."""
    op, args, kwargs = node.op, node.args, node.kwargs
    if op == "placeholder":
        return f"input, default {args[0]!r}" if args else "input"
    if op == "get_attr":
        return f"self.{node.target}"
    if op == "output":
        return f"return {args[0]!r}" if args else "return"
    if op == "call_module":
        return f"{_module_class(node)}({_arguments(args, kwargs)})"
    if op == "call_method" and args:
        return f"{args[0]!r}.{node.target}({_arguments(args[1:], kwargs)})"
    return f"{target_text(node)}({_arguments(args, kwargs)})"


def _tensor_text(value: Any) -> str:
    sizes = ", ".join(str(size) for size in value.shape)
    dtype = str(value.dtype).removeprefix("torch.")
    return f"{_DTYPES.get(dtype, dtype)}[{sizes}]"


def value_text(node: Any) -> str:
    """Return dtype and shape of the value as the metadata has them, such as `f32[1, 64]`, or `""`."""
    for key in ("val", "tensor_meta", "spec"):
        value = node.meta.get(key)
        if value is None:
            continue
        if hasattr(value, "shape") and hasattr(value, "dtype"):
            return _tensor_text(value)
        if isinstance(value, tuple | list) and value and all(hasattr(v, "dtype") for v in value):
            return "(" + ", ".join(_tensor_text(v) for v in value) + ")"
    return ""


class ModuleCall(NamedTuple):
    """One call of a module, while which nodes were recorded."""

    key: str
    path: str
    kind: str


def module_path(node: Any) -> tuple[ModuleCall, ...]:
    """Return the module calls around the node, outermost first.

    A `call_module` node does not count as being inside the module that it calls.
    """
    stack = node.meta.get("nn_module_stack")
    if stack:
        calls = [
            ModuleCall(str(key), path, kind.rsplit(".", 1)[-1] if isinstance(kind, str) else kind.__name__)
            for key, (path, kind) in stack.items()
            if path
        ]
        if node.op == "call_module" and calls and calls[-1].path == node.target:
            calls.pop()
        return tuple(calls)
    if node.op not in ("call_module", "get_attr") or not isinstance(node.target, str):
        return ()
    parts = node.target.split(".")[:-1]
    paths = [".".join(parts[: end + 1]) for end in range(len(parts))]
    return tuple(ModuleCall(path, path, "") for path in paths)
