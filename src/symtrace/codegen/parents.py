"""Statements that look up the module around several calls once, as the program that was captured does.

`self.block.conv(x)` and `self.block.norm(y)` ask `self` for `block` twice, and a question that `nn.Module` answers
takes as long as a small kernel. In the original, `block` is bound while its `forward` runs. What is executed binds it,
too, at the end of a line; the text that is printed, and that tracebacks show, is without that.
"""

from __future__ import annotations

from collections.abc import Callable

from ..ir import Graph, Node
from .globals import Globals
from .statements import attribute_path

__all__ = ["bind_parents"]


def bind_parents(
    graph: Graph,
    lines: list[str],
    owners: list[str],
    root: str,
    names: Globals,
    is_block: Callable[[Node], bool],
) -> list[str]:
    """Return the lines to execute: of the same number, and with the same columns as far as they go.

    Args:
        graph: The graph.
        lines: Its statements.
        owners: For each line the name of its node, or nothing.
        root: Name of the module in the function.
        names: Globals of the function.
        is_block: Tells whether the lines of a node have lines of their own inside.
    """
    paths: dict[str, tuple[str, ...]] = {}
    blocks: set[str] = set()
    for node in graph.nodes:
        if node._op in ("call_module", "get_attr"):
            if "." in node._target:
                paths[node._name] = tuple(node._target.split("."))
        elif is_block(node):
            blocks.add(node._name)
    if len(paths) < 3:
        return lines
    result = lines.copy()
    binder = _Binder(root, names)
    for run in _runs(lines, owners, paths, blocks):
        binder.run(result, [(index, paths[owners[index]]) for index in run])
    return result


def _runs(
    lines: list[str], owners: list[str], paths: dict[str, tuple[str, ...]], blocks: set[str]
) -> list[list[int]]:
    """Return the indices of lines with paths, in groups that run one after the other and in any case."""
    runs: list[list[int]] = [[]]
    indent = 0
    for index, owner in enumerate(owners):
        if owner in paths:
            own = len(lines[index]) - len(lines[index].lstrip(" "))
            if own != indent:
                runs.append([])
                indent = own
            runs[-1].append(index)
        elif owner in blocks:
            runs.append([])
    return runs


class _Binder:
    """Rewrites lines that run one after the other.

    Args:
        root: Name of the module in the function.
        names: Globals of the function.
    """

    def __init__(self, root: str, names: Globals) -> None:
        self._root = root
        self._names = names
        self._variables: dict[int, str] = {}
        self._texts: dict[tuple[str, ...], str] = {}

    def run(self, lines: list[str], places: list[tuple[int, tuple[str, ...]]]) -> None:
        """Rewrite lines in their list, given the index and the path of each."""
        bound: dict[int, tuple[str, ...]] = {}  # by how many names a path has
        for place, (index, path) in enumerate(places):
            following = [_common(path, other) for _, other in places[place + 1 : place + 3]]
            depth = following[0] if following else 0
            text = ""
            if depth and bound.get(depth) != path[:depth]:
                text = self._binding(path, depth, bound)
            line = lines[index].replace(
                f" = {self._text(path)}", f" = {text or self._shorter(path, bound, pad=True)}", 1
            )
            if text:
                bound[depth] = path[:depth]
            elif depth and len(following) == 2:
                # One line more would save no more than it costs to ask twice here.
                added = self._appended(path[: min(following)], bound)
                line = f"{line[:-1]};  {added}\n" if added else line
            lines[index] = line

    def _binding(self, path: tuple[str, ...], depth: int, bound: dict[int, tuple[str, ...]]) -> str:
        """Return the text of a path that binds the module at a depth, unless there is no room for it."""
        start = self._text(path[:depth])
        text = f"({self._variable(depth)}:={self._shorter(path[:depth], bound)})"
        return self._text(path).replace(start, text.ljust(len(start)), 1) if len(text) <= len(start) else ""

    def _appended(self, parent: tuple[str, ...], bound: dict[int, tuple[str, ...]]) -> str:
        """Return a statement that binds a module, and those on the way to it, if it is worth while."""
        depth = len(parent)
        if not depth or bound.get(depth) == parent or len(self._variable(depth)) > len(self._text(parent)):
            return ""
        start = max((level for level in range(1, depth) if bound.get(level) == parent[:level]), default=0)
        text = self._variable(start) if start else self._root
        for level in range(start + 1, depth):
            text = f"({self._variable(level)} := {self._step(text, parent[level - 1])})"
            bound[level] = parent[:level]
        bound[depth] = parent
        return f"{self._variable(depth)} = {self._step(text, parent[-1])}"

    def _step(self, text: str, name: str) -> str:
        return attribute_path(text, name, self._names)

    def _shorter(self, path: tuple[str, ...], bound: dict[int, tuple[str, ...]], *, pad: bool = False) -> str:
        """Return the text of a path that starts from the innermost module that is bound."""
        whole = self._text(path)
        for depth in range(len(path) - 1, 0, -1):
            if bound.get(depth) == path[:depth]:
                start, variable = self._text(path[:depth]), self._variable(depth)
                return whole.replace(start, variable.ljust(len(start)) if pad else variable, 1)
        return whole

    def _text(self, path: tuple[str, ...]) -> str:
        text = self._texts.get(path)
        if text is None:
            before = self._text(path[:-1]) if len(path) > 1 else self._root
            text = self._texts[path] = self._step(before, path[-1])
        return text

    def _variable(self, depth: int) -> str:
        if depth not in self._variables:
            self._variables[depth] = self._names.claim_local(f"_m{depth}")
        return self._variables[depth]


def _common(path: tuple[str, ...], other: tuple[str, ...]) -> int:
    """Return how many modules two paths go through together."""
    count = 0
    for one, two in zip(path[:-1], other[:-1], strict=False):
        if one != two:
            break
        count += 1
    return count
