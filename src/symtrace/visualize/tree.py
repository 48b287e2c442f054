"""A graph as a tree by module path, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .describe import ModuleCall, call_text, module_path, nodes_of, regions_in, value_text

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree

__all__ = ["OP_STYLES", "graph_tree"]

OP_STYLES = {
    "placeholder": "green",
    "get_attr": "magenta",
    "call_module": "bold cyan",
    "call_function": "yellow",
    "call_method": "bright_blue",
    "output": "bold green",
}


def _line(node: Any) -> Text:
    from rich.text import Text

    line = Text(no_wrap=True, overflow="ellipsis")
    line.append(node.name, style=OP_STYLES.get(node.op, ""))
    line.append("  ")
    line.append(call_text(node))
    shape = value_text(node)
    if shape:
        line.append(f"  {shape}", style="dim")
    return line


def _branch_label(call: ModuleCall, parent: str) -> Text:
    from rich.text import Text

    label = Text(call.path.removeprefix(f"{parent}."), style="bold", no_wrap=True, overflow="ellipsis")
    if call.kind:
        label.append(f" ({call.kind})", style="dim")
    return label


def graph_tree(graph: Any, title: str = "") -> Tree:
    """Return the nodes of `graph` in order, each under the modules whose code it stands in.

    A module that is called twice has two branches, one for each call. Shapes are shown where the
    metadata has them (after `shape_prop`, or when captured with example inputs).

    Args:
        graph: A Graph or GraphModule.
        title: Text of the root; by default the class of the owning module, or `graph`.

    Returns:
        A `rich.tree.Tree`, to be printed with `rich.print`.
    """
    from rich.tree import Tree

    inner = getattr(graph, "graph", graph)
    if not title:
        owner = getattr(inner, "owning_module", None)
        title = type(owner).__name__ if owner is not None else "graph"
    root = Tree(title, guide_style="dim", style="default")
    open_path: list[ModuleCall] = []
    branches: list[Tree] = [root]
    for node in nodes_of(graph):
        path = module_path(node)
        shared = 0
        while shared < min(len(path), len(open_path)) and path[shared] == open_path[shared]:
            shared += 1
        del open_path[shared:], branches[shared + 1 :]
        for call in path[shared:]:
            parent = open_path[-1].path if open_path else ""
            branches.append(branches[-1].add(_branch_label(call, parent)))
            open_path.append(call)
        _add_regions(branches[-1].add(_line(node)), node)
    return root


def _add_regions(branch: Tree, node: Any) -> None:
    from rich.text import Text

    for name, graph in regions_in(node):
        inner = branch.add(Text(name, style="bold"))
        for part in graph.nodes:
            _add_regions(inner.add(_line(part)), part)
