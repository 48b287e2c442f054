"""Splitting a module into the parts that a backend supports and the rest, under the spellings of `torch.fx`."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import nn

from ..analysis import effect_edges
from ..ir import Node
from ..passes.operator_support import OperatorSupportBase
from ..passes.shape_prop import ShapeProp
from ..rewrite.sources import check_graph_module
from ..runtime import GraphModule
from .acc_nodes import FxNetAccNodesFinder
from .tags import split_by_tags

__all__ = ["SplitResult", "_SplitterBase", "_SplitterSettingBase", "generate_inputs_for_submodules"]


class SplitResult(NamedTuple):
    """A split module with inputs of its parts.

    Attributes:
        split_module: The module that calls the parts.
        submodule_inputs: For each part by name, the arguments that it gets.
        non_acc_submodule_prefix: Start of the names of the parts that the backend does not support.
    """

    split_module: GraphModule
    submodule_inputs: dict[str, Any]
    non_acc_submodule_prefix: str


@dataclass
class _SplitterSettingBase:
    """Settings of a splitter.

    Attributes:
        min_acc_module_size: Parts with fewer computing nodes are left to the rest.
        allow_non_tensor: Numbers and other values that are no tensors may pass between the parts; else what gives them
            to the rest, or gets them from there, is left to the rest.
    """

    min_acc_module_size: int = 1
    allow_non_tensor: bool = False


class _SplitterBase:
    """Splits a module into parts that a backend supports and parts that it does not, as few as the order allows.

    Parts follow the order of effects. Subclasses may override `_lower_model_to_backend`.

    Args:
        module: Module to split; it is left as it is.
        sample_input: Arguments of one call, with which a copy of the module is run to see what is a tensor.
        operator_support: Tells which nodes are supported.
        settings: Settings.
        non_acc_submodule_name: Start of the names of the parts that are not supported.
    """

    def __init__(
        self,
        module: GraphModule,
        sample_input: Any,
        operator_support: OperatorSupportBase,
        settings: _SplitterSettingBase | None = None,
        non_acc_submodule_name: str = "_run_on_cpu_",
    ) -> None:
        check_graph_module(module, "module")
        self.module = module
        self.sample_input = sample_input
        self.operator_support = operator_support
        self.settings = settings or _SplitterSettingBase()
        self.non_acc_submodule_name = non_acc_submodule_name
        self.acc_nodes = self._find()

    def _find(self) -> set[Node]:
        """Return the nodes for the backend."""
        if self.settings.allow_non_tensor:
            return FxNetAccNodesFinder(self.module, self.operator_support, True)()
        trial = copy.deepcopy(self.module)
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            ShapeProp(trial).propagate(*copy.deepcopy(tuple(self.sample_input)))
        found = FxNetAccNodesFinder(trial, self.operator_support, False)()
        pairs = zip(self.module.graph.nodes, trial.graph.nodes, strict=True)
        return {node for node, tried in pairs if tried in found}

    def node_support_preview(self, dump_graph: bool = False) -> str:
        """Return which functions and modules are supported, and which are not."""
        lines = ["Supported node types in the model:"]
        nodes = [node for node in self.module.graph.nodes if node.op.startswith("call_")]
        lines += dict.fromkeys(f"  {_kind(node)}" for node in nodes if node in self.acc_nodes)
        lines.append("Unsupported node types in the model:")
        lines += dict.fromkeys(f"  {_kind(node)}" for node in nodes if node not in self.acc_nodes)
        return "\n".join(lines)

    def split_preview(self, dump_graph: bool = False) -> str:
        """Return the parts that a split would make, with their nodes."""
        parts = self._parts()
        lines = [f"{len(parts)} parts"]
        return "\n".join(
            [*lines, *(f"  {name}: {', '.join(map(str, nodes))}" for name, nodes in parts.items())]
        )

    def __call__(self) -> GraphModule:
        """Return a module that calls the parts: `_run_on_acc_0`, `_run_on_cpu_1`, and so on."""
        parts = self._parts()
        for name, nodes in parts.items():
            for node in nodes:
                node.tag = name  # type: ignore[attr-defined]
        try:
            result: GraphModule = split_by_tags(self.module, list(parts))
        finally:
            for nodes in parts.values():
                for node in nodes:
                    del node.tag  # type: ignore[attr-defined]
        for name in parts:
            if name.startswith("_run_on_acc_"):
                lowered = self._lower_model_to_backend(result.get_submodule(name), None)
                result.add_module(name, lowered)
        return result

    def _lower_model_to_backend(self, mod: nn.Module, inputs: Any) -> nn.Module:
        """Return what takes the place of a supported part; by default, the part itself."""
        return mod

    def generate_split_results(self) -> SplitResult:
        """Split the module, and run it once to find out what each part gets."""
        split = self()
        names = [name for name, _ in split.named_children() if name.startswith("_run_on_")]
        inputs = generate_inputs_for_submodules(split, self.sample_input, names)
        return SplitResult(split, inputs, self.non_acc_submodule_name)

    def _parts(self) -> dict[str, list[Node]]:
        """Return the nodes of each part, in the order in which the parts run."""
        parts = _alternating(self.module, self.acc_nodes)
        small = {
            node
            for supported, nodes in parts
            if supported and len(nodes) < self.settings.min_acc_module_size
            for node in nodes
        }
        if small:
            parts = _alternating(self.module, self.acc_nodes - small)
        names = {True: "_run_on_acc_", False: self.non_acc_submodule_name}
        return {f"{names[supported]}{number}": nodes for number, (supported, nodes) in enumerate(parts)}


def _kind(node: Node) -> str:
    return f"{node.op} {node.target if isinstance(node.target, str) else getattr(node.target, '__name__', node.target)}"


def _alternating(module: GraphModule, supported: set[Node]) -> list[tuple[bool, list[Node]]]:
    """Return parts that take turns: each takes all nodes of its kind that depend on nothing later."""
    waiting: dict[Node, int] = {}
    followers: dict[Node, list[Node]] = {}
    nodes = [node for node in module.graph.nodes if node.op.startswith("call_")]
    members = set(nodes)
    pairs = [(used, node) for node in nodes for used in node.all_input_nodes if used in members]
    pairs += [(a, b) for a, b in effect_edges(module.graph) if a in members and b in members]
    for before, after in pairs:
        followers.setdefault(before, []).append(after)
        waiting[after] = waiting.get(after, 0) + 1
    ready = {True: [], False: []}  # type: dict[bool, list[Node]]
    for node in nodes:
        if not waiting.get(node):
            ready[node in supported].append(node)
    parts: list[tuple[bool, list[Node]]] = []
    kind = not (ready[False] and (not ready[True] or ready[False][0] < ready[True][0]))
    while ready[True] or ready[False]:
        part: list[Node] = []
        queue = ready[kind]
        while queue:
            node = queue.pop()
            part.append(node)
            for after in followers.get(node, ()):
                waiting[after] -= 1
                if not waiting[after]:
                    ready[after in supported].append(after)
        if part:
            parts.append((kind, sorted(part)))
        kind = not kind
    return parts


def generate_inputs_for_submodules(
    model: nn.Module, inputs: Any, target_submodules: Any, deepcopy: bool = False
) -> dict[str, Any]:
    """Return the arguments with which submodules are called in one call of a model.

    Args:
        model: The model.
        inputs: Arguments of the call.
        target_submodules: Paths of the submodules.
        deepcopy: Copy the arguments, so that later writes do not show.
    """
    found: dict[str, Any] = {}
    handles = []
    for name in target_submodules:

        def note(_: nn.Module, args: Any, name: str = name) -> None:
            found[name] = copy.deepcopy(args) if deepcopy else args

        handles.append(model.get_submodule(name).register_forward_pre_hook(note))
    try:
        with torch.no_grad():
            model(*inputs)
    finally:
        for handle in handles:
            handle.remove()
    return found
