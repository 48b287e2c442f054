"""What a pass is: a frozen record of its options that edits graphs in place and says whether it did."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import torch
from torch import nn

from ..analysis import EffectAnalysis
from ..ir import Node, all_graphs
from ..rewrite.pattern import resolve
from ..rewrite.sources import check_graph_module
from ..runtime import Graph, GraphModule
from .base import PassResult

__all__ = ["Context", "FunctionPass", "Pass", "Remark", "as_pass", "graphs_of"]


def graphs_of(module: GraphModule) -> Iterator[Graph]:
    """Yield every graph of a module that passes work on, regions in front of the graph around them."""
    graphs: list[Any] = list(all_graphs(module.graph))
    yield from reversed(graphs)


@dataclass(frozen=True)
class Remark:
    """Something that a pass has left alone although it looks like its business.

    Attributes:
        node: Name of the node.
        reason: Why.
    """

    node: str
    reason: str


@dataclass
class Context:
    """What a pass may ask and change besides the graph.

    Attributes:
        module: The module that is worked on.
        example: Example inputs, if some are known.
        remarks: What passes have left alone, and why.
    """

    module: GraphModule
    example: tuple[Any, ...] | None = None
    remarks: list[Remark] = field(default_factory=list)
    _effects: dict[tuple[int, bool], tuple[Graph, int, EffectAnalysis]] = field(default_factory=dict)
    _sets: bool | None = None
    _writes: bool | None = None

    def effects(self, graph: Graph, any_mode: bool = False) -> EffectAnalysis:
        """Return the effects of a graph as it is now; computed again only after an edit.

        Args:
            graph: The graph.
            any_mode: Count what modules do in training also when they are in evaluation mode: what is removed or
                merged on account of it stays right after `train()`.
        """
        key = id(graph), any_mode
        known = self._effects.get(key)
        if known is None or known[0] is not graph or known[1] != graph.version:
            known = self._effects[key] = (graph, graph.version, EffectAnalysis(graph, any_mode))
        return known[2]

    @property
    def sets_attributes(self) -> bool:
        """Whether anything in the program, regions included, may change which objects attributes of modules are."""
        if self._sets is None:
            self._sets = self.effects(self.module.graph).sets_attributes
        return self._sets

    @property
    def writes_outside(self) -> bool:
        """Whether anything in the program may write to an input, a parameter, a buffer or what is not known."""
        if self._writes is None:
            self._writes = self.effects(self.module.graph).writes_outside
        return self._writes

    def is_written(self, node: Node) -> bool:
        """Return whether anything in the program may write to storage that a node shares, regions and what is around
        them included.
        """
        graph: Any = node.graph
        analysis = self.effects(graph)
        if analysis.is_written(node):
            return True
        # what a region is given may be any value of the program around it
        return analysis.alias_class(node) is None and self.is_region(graph) and self.writes_anything

    @property
    def writes_anything(self) -> bool:
        """Whether anything in the program, regions included, may write to any value."""
        return any(self.effects(graph).writes_anything for graph in graphs_of(self.module))

    def may_change(self, path: str) -> bool:
        """Return whether the program may write to tensors of the module at a path, other than by calling it."""
        if not (self.writes_outside or self.sets_attributes):
            return False
        nodes = (node for graph in graphs_of(self.module) for node in graph.nodes if node.op == "get_attr")
        return any(refers_to(node, path) for node in nodes)

    def is_region(self, graph: Graph) -> bool:
        """Return whether a graph is a part of the program that need not run, or that runs several times."""
        return graph is not self.module.graph

    def submodule(self, node: Node) -> nn.Module | None:
        """Return the module that a `call_module` node calls; None for other nodes."""
        if node.op != "call_module":
            return None
        found = resolve(self.module, node.target)
        return found if isinstance(found, nn.Module) else None

    def value(self, node: Any) -> torch.Tensor | None:
        """Return the tensor that a `get_attr` node reads if nothing in the graph can change which one it is."""
        if not isinstance(node, Node) or node.op != "get_attr":
            return None
        found = resolve(self.module, node.target)
        return None if not isinstance(found, torch.Tensor) or self.sets_attributes else found

    def is_training(self, node: Node) -> bool:
        """Return whether a `call_module` node calls a module in training mode."""
        module = self.submodule(node)
        return module is None or any(part.training for part in module.modules())

    def add_module(self, stem: str, module: nn.Module) -> str:
        """Register a module under `stem` or a free path like it; return the path."""
        path = self.free_path(stem)
        self.module.add_submodule(path, module)
        self._effects.clear()
        return path

    def add_constant(self, stem: str, value: torch.Tensor) -> str:
        """Keep a tensor that is no part of the state and stays where it is; return its path."""
        path = self.free_path(stem.replace(".", "_"))
        self.module.__dict__[path] = value
        return path

    def free_path(self, stem: str) -> str:
        """Return `stem`, or a path like it at which nothing stands in the module."""
        parent, _, name = stem.rpartition(".")
        owner = resolve(self.module, parent) if parent else self.module
        found, number = name, 0
        while hasattr(owner, found):
            number += 1
            found = f"{name}_{number}"
        return f"{parent}.{found}" if parent else found

    def drop_unused(self, path: str) -> None:
        """Remove the module at `path` unless a node still refers to it, to a part of it, or to what it is part of."""
        for graph in graphs_of(self.module):
            if any(refers_to(node, path) for node in graph.nodes):
                return
        self.module.delete_submodule(path)
        self._effects.clear()

    def remark(self, node: Node, reason: str) -> None:
        """Note that `node` was left alone."""
        self.remarks.append(Remark(node.name, reason))

    def specialise(self, what: str) -> None:
        """Note that the module now holds for evaluation only; `train()` warns of it."""
        done = self.module.meta.get("evaluation_only", ())
        if what not in done:
            self.module.meta["evaluation_only"] = (*done, what)


def refers_to(node: Node, path: str) -> bool:
    """Return whether a node refers to what stands at a path, to a part of it, or to what it is part of."""
    if node.op not in ("call_module", "get_attr"):
        return False
    target = str(node.target)
    return target == path or target.startswith(path + ".") or path.startswith(target + ".")


@dataclass(frozen=True)
class Pass(ABC):
    """A change of a program that keeps its meaning. Subclasses are frozen dataclasses; their fields are options.

    An instance is called with a module, which it edits in place: all of it or, when it fails, nothing. What it
    claims is checked: see `symtrace.passes.contract`.

    Attributes:
        name: How the pass is called in pipelines and on the command line.
        changes_state: The pass may add, replace or remove parameters, buffers and modules.
        changes_signature: The pass may change inputs or the structure of the result.
        evaluation_only: The result holds for modules in evaluation mode.
    """

    name: ClassVar[str] = ""
    changes_state: ClassVar[bool] = False
    changes_signature: ClassVar[bool] = False
    evaluation_only: ClassVar[bool] = False

    @abstractmethod
    def run(self, graph: Graph, ctx: Context) -> bool:
        """Edit one graph.

        Args:
            graph: Graph to edit, by its own methods only.
            ctx: What else may be asked and changed.

        Returns:
            Whether anything was changed.
        """

    def __call__(self, graph_module: nn.Module) -> PassResult:
        """Run the pass on a module, in place.

        Args:
            graph_module: A GraphModule.

        Returns:
            The module and whether anything was changed.

        Raises:
            ArgumentError: It is no GraphModule (ST112).
            PassError: The pass breaks its contract (ST243); the module is as it was.
        """
        from .contract import run_checked

        check_graph_module(graph_module, "graph_module")
        module: Any = graph_module
        return run_checked(self, module, Context(module))

    def apply(self, ctx: Context) -> PassResult:
        """Run the pass on every graph of a module, without checks."""
        changed = False
        for graph in list(graphs_of(ctx.module)):
            changed = bool(self.run(graph, ctx)) or changed
        return PassResult(ctx.module, changed)

    def spell(self) -> str:
        """Return the text that stands for this pass in a pipeline: its name, and options that are not default."""
        options = []
        for option in fields(self):
            value = getattr(self, option.name)
            if value != option.default:
                text = str(value).lower() if isinstance(value, bool) else str(value)
                options.append(f"{option.name.replace('_', '-')}={text}")
        return f"{self.name}{{{' '.join(options)}}}" if options else self.name


@dataclass(frozen=True)
class FunctionPass(Pass):
    """A pass made of a function of a module, such as the passes of `torch.fx` are.

    Attributes:
        function: Takes a module; returns a `PassResult`, a module, or None for the module it was given.
    """

    function: Callable[..., Any] = field(default=lambda module: None)
    changes_state: ClassVar[bool] = True
    changes_signature: ClassVar[bool] = True

    def run(self, graph: Graph, ctx: Context) -> bool:
        """Not used: the function takes the whole module."""
        raise NotImplementedError

    def apply(self, ctx: Context) -> PassResult:
        """Call the function."""
        result = self.function(ctx.module)
        if isinstance(result, tuple) and hasattr(result, "graph_module") and hasattr(result, "modified"):
            return PassResult(result.graph_module, bool(result.modified))
        return PassResult(result if isinstance(result, nn.Module) else ctx.module, True)

    def spell(self) -> str:
        """Return the name of the function."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))


def as_pass(source: Any) -> Pass:
    """Return `source` if it is a pass, else a pass that calls it.

    Args:
        source: A `Pass`, or any function of a module.
    """
    return source if isinstance(source, Pass) else FunctionPass(source)
