"""`Graph` with everything that needs torch: source text, effects, tables and drawings."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from .. import visualize
from ..codegen import CodeGen, PythonCode, generate
from ..errors import ArgumentError
from ..ir import Graph as PlainGraph
from ..ir import Node
from ..ops import effects, is_removable, normalize_function, normalize_module

__all__ = ["Graph", "find_module"]

BodyTransformer = Callable[[list[str]], list[str]]


def find_module(root: Any, target: str) -> Any:
    """Return the object at a dotted path of `root`, or None where nothing is."""
    found = root
    for atom in target.split(".") if target else ():
        found = getattr(found, atom, None)
        if found is None:
            return None
    return found


def _is_impure(node: Node) -> bool:
    return node.is_impure()


class _RestoreTransformer:
    """Puts an earlier body transformer back at the end of a `with` statement."""

    def __init__(self, graph: Graph, before: BodyTransformer | None) -> None:
        self._graph = graph
        self._before = before

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._graph._codegen._body_transformer = self._before
        self._graph._touch("settings_changed")


class Graph(PlainGraph):
    """A program as an ordered list of nodes, with torch's meaning of each.

    Building and editing are described at the methods; the invariants, at `symtrace.ir.Graph`.

    Args:
        owning_module: The module in which `get_attr` and `call_module` targets resolve.
        tracer_cls: Class of the tracer that made the graph.
        tracer_extras: Its extra settings.

    Attributes:
        interned: Objects from outside the module that capture came across, by the target that reads them.

    >>> import torch
    >>> graph = Graph()
    >>> x = graph.placeholder("x")
    >>> result = graph.output(graph.call_function(torch.relu, (x,)))
    >>> print(graph.to_code())
    def forward(self, x):
        relu = torch.relu(x);  x = None
        return relu
    """

    def __init__(
        self,
        owning_module: Any = None,
        tracer_cls: type | None = None,
        tracer_extras: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(owning_module, tracer_cls, tracer_extras)
        self._codegen = CodeGen()
        self.interned: dict[str, Any] = {}

    # ------------------------------------------------------------------ source text

    def python_code(self, root_module: str = "self", *, verbose: bool = False, **_: Any) -> PythonCode:
        """Return the graph as Python source.

        Args:
            root_module: Name of the module in the text.
            verbose: Show the user's source lines as comments.

        Returns:
            Source, globals and the map from lines to nodes.

        Cost: linear.
        """
        return generate(self, self._codegen, root_module, verbose=verbose)

    def to_code(self, *, verbose: bool = False) -> str:
        """Return the source of `forward` alone, without surrounding blank lines."""
        return self.python_code(verbose=verbose).src.strip()

    def set_codegen(self, codegen: CodeGen) -> None:
        """Take arguments and give results as `codegen` says.

        Raises:
            ArgumentError: ST112, it is no `CodeGen`.
        """
        if not isinstance(codegen, CodeGen):
            raise ArgumentError("ST112", what="codegen", expected="a CodeGen", actual=type(codegen).__name__)
        self._codegen = codegen
        self._touch("settings_changed")

    def on_generate_code(
        self, make_transformer: Callable[[BodyTransformer | None], BodyTransformer]
    ) -> _RestoreTransformer:
        """Change the body of generated code from now on.

        Args:
            make_transformer: Gets the transformer in force, or None, and returns the new one: a function from a
                list of lines, each with its line end, to such a list.

        Returns:
            A context manager that puts the earlier transformer back.
        """
        before = self._codegen._body_transformer
        self._codegen._body_transformer = make_transformer(before)
        self._touch("settings_changed")
        return _RestoreTransformer(self, before)

    def process_inputs(self, *args: Any) -> Any:
        """Return the values of the placeholders for the arguments of a call."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out: Any) -> Any:
        """Return what a call gives for the value of the output node."""
        return self._codegen.process_outputs(out)

    # ------------------------------------------------------------------ meaning

    def _module_of(self, node: Node) -> Any:
        owner = self.owning_module
        return None if owner is None or node.op != "call_module" else find_module(owner, node.target)

    def is_impure(self, node: Node, impure_random: bool = True) -> bool:
        """Tell whether `node` does more than compute its value, so that it must not be removed.

        What a module does in training counts also while it is in evaluation mode: the answer holds in either.

        Args:
            node: A node of this graph.
            impure_random: Count a random draw as an effect.
        """
        if node.op in ("placeholder", "output"):
            return True
        effect = effects(node.op, node.target, node.args, node.kwargs, self._module_of(node), any_mode=True)
        return not is_removable(effect, keep_random=impure_random)

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Erase nodes that have no effect and whose value is not used, in regions too.

        What has an effect in training stays also while the module is in evaluation mode, so that `train()` finds it.

        Args:
            is_impure_node: Decides instead of `Node.is_impure` which nodes must stay.

        Returns:
            Whether anything was erased.

        Raises:
            LintError: ST116, the graph is broken; then nothing is erased.

        Cost: linear.
        """
        impure = _is_impure if is_impure_node is None else is_impure_node
        return self.eliminate_dead(lambda node: not impure(node))

    def normalized_arguments(self, node: Node, root: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the arguments of `node` as its operator's signature orders them; see `Node.normalized_arguments`."""
        arg_types, kwarg_types = (*args, None, None)[:2]
        if node.op == "call_function":
            return normalize_function(
                node.target, node.args, dict(node.kwargs), arg_types, kwarg_types, **kwargs
            )
        if node.op == "call_module":
            return normalize_module(root, node.target, node.args, dict(node.kwargs), **kwargs)
        return None

    # ------------------------------------------------------------------ looking

    def print_tabular(self) -> None:
        """Print the nodes as a table."""
        print(visualize.format_table(self))

    def to_dot(self) -> str:
        """Return the graph in the DOT language."""
        return visualize.to_dot(self)

    def draw(self, path: str | os.PathLike[str]) -> Path:
        """Draw the graph to a file whose ending tells the format, such as `.svg` or `.png`."""
        return visualize.draw(self, path)

    # ------------------------------------------------------------------ storing

    def _blank(self) -> Graph:
        blank = super()._blank()
        blank._codegen = self._codegen
        blank.interned = dict(self.interned)
        return blank

    def _extra_state(self) -> dict[str, Any]:
        return {"codegen": self._codegen, "interned": self.interned}

    def _set_extra_state(self, state: dict[str, Any]) -> None:
        self._codegen = state["codegen"]
        self.interned = state["interned"]
