"""Source of a module and of those inside it, for reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .graph_module import GraphModule

__all__ = ["readable_source", "show"]


def readable_source(
    module: GraphModule, *, include_stride: bool = False, include_device: bool = False
) -> str:
    """Return the class text of `module`, with the graph modules in it as nested classes below `forward`.

    Args:
        module: The module.
        include_stride: Show strides behind shapes.
        include_device: Show devices behind shapes.
    """
    return _source(module, type(module).__name__, include_stride, include_device)


def _source(module: GraphModule, name: str, stride: bool, device: bool) -> str:
    from .graph_module import GraphModule

    code = module.graph.python_code("self", verbose=True)
    lines = code.src.strip().splitlines()
    shown = []
    first = code.src.index("def ")
    offset = code.src[:first].count("\n") + 1
    for number, line in enumerate(lines):
        node_name = code.line_map.get(number + offset)
        node = module.graph._names.get(node_name) if node_name else None
        text = "" if node is None else _value_text(node.meta, stride, device)
        shown.append(f"    {line}{f'  # {text}' if text else ''}".rstrip())
    result = f"class {name}(torch.nn.Module):\n" + "\n".join(shown) + "\n"
    for child_name, child in module.named_children():
        if isinstance(child, GraphModule):
            nested = _source(child, child_name, stride, device)
            result += "\n" + "".join(f"    {line}\n" if line else "\n" for line in nested.splitlines())
    return result


def _value_text(meta: dict[str, Any], stride: bool, device: bool) -> str:
    value: Any = meta.get("val", meta.get("tensor_meta"))
    if value is None:
        return ""
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        return ""
    text = f"{str(value.dtype).removeprefix('torch.')}[{', '.join(map(str, value.shape))}]"
    if stride and hasattr(value, "stride"):
        strides = value.stride() if callable(value.stride) else value.stride
        text += f"[{', '.join(map(str, strides))}]"
    if device and hasattr(value, "device"):
        text += f" {value.device}"
    return text


def show(text: str, *, colored: bool) -> None:
    """Print source, highlighted on request."""
    if colored:
        # Importing it draws from Python's random generator, which is the user's.
        from rich.console import Console
        from rich.syntax import Syntax

        Console().print(Syntax(text, "python", background_color="default"))
    else:
        print(text)
