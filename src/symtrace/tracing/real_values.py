"""Values of a program on real example inputs, for captures that follow what the data of the examples decides."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import torch
import torch.utils._pytree as pytree  # the public home of pytrees, underscore and all (torch 2.13, 2.14)

from ..errors import ArgumentError
from ..ir import Node
from ..ops import effects, program
from ..runtime import Interpreter
from ..values import outside_modes
from .hooks import unwatched
from .known import Unknown
from .process_state import RandomStates

if TYPE_CHECKING:
    from .recording import TracerBase

__all__ = ["RealValues"]


class RealValues:
    """Runs what is recorded so far on copies of the example inputs and of the module.

    Each node runs once, in the order of the graph, so that writes to inputs and state are seen by what comes after.
    What rests on random draws, or on an input without an example, has no value.

    Args:
        tracer: Records.
        root: The module whose state the program reads.
        examples: Real values by placeholder.

    Raises:
        ArgumentError: ST031, they can't be copied.
    """

    def __init__(self, tracer: TracerBase, root: Any, examples: dict[Node, Any]) -> None:
        self._tracer = tracer
        self._graph = tracer.graph
        self._memo: dict[int, Any] = {}
        with unwatched():
            try:
                self._runner = _Runner(self._copy(root), self)
                self._runner.env = {node: self._copy(value) for node, value in examples.items()}
            except Exception as error:  # whatever `__deepcopy__` of the user's raises
                expected = "for real values a module and examples that can be copied"
                raise ArgumentError(
                    "ST031", argument="root", expected=expected, actual=repr(error)
                ) from error
        self._interned: dict[str, Any] = {}
        self._seen: set[Node] = set(examples)
        self._unreliable: set[Node] = set()
        self._open_modes: list[Node] = []
        self._is_broken = False

    def of(self, node: Node) -> Any:
        """Return what a node computes for the examples.

        Raises:
            Unknown: It rests on random draws, is in a region, or can't be run.

        Cost: that of all nodes recorded so far, once.
        """
        if self._tracer.levels:
            raise Unknown
        self._advance()
        if node not in self._runner.env or node in self._unreliable:
            raise Unknown
        return self._runner.env[node]

    def knows(self, node: Node) -> bool:
        """Tell whether a node has a value for the examples."""
        try:
            self.of(node)
        except Unknown:
            return False
        return True

    def interned(self, head: str, value: Any) -> Any:
        """Return the copy of a value that the graph brought along."""
        if head not in self._interned:
            self._interned[head] = self._copy(value)
        return self._interned[head]

    def _copy(self, value: Any) -> Any:
        for leaf in pytree.tree_leaves(value):
            if isinstance(leaf, torch.Tensor) and not leaf.is_leaf:  # which Python does not copy
                self._memo.setdefault(id(leaf), leaf.detach().clone().requires_grad_())
        return copy.deepcopy(value, self._memo)

    def _advance(self) -> None:
        new: list[Node] = []
        for node in reversed(self._graph.nodes):
            if node in self._seen:
                break
            new.append(node)
        if self._is_broken or not new:
            return
        with unwatched(), outside_modes():
            states, grad_mode = RandomStates(), torch.is_grad_enabled()
            try:
                for entered in self._open_modes:
                    self._runner.env[entered] = self._runner.run_node(entered)
                for node in reversed(new):
                    self._seen.add(node)
                    self._run(node)
            except (
                Exception
            ):  # whatever the program raises on the examples, the run has no values from there on
                self._is_broken = True
            finally:
                for entered in reversed(self._open_modes):
                    program.exit_mode(self._runner.env[entered])
                torch.set_grad_enabled(grad_mode)
                states.restore()

    def _run(self, node: Node) -> None:
        if node.op in ("placeholder", "output"):
            return
        module = self._tracer.attribute(node.target) if node.op == "call_module" else None
        effect = effects(node.op, node.target, node.args, node.kwargs, module)
        used = node.all_input_nodes
        if any(one not in self._runner.env for one in used):
            if not effect.is_pure and node.target is not program.guard:
                raise Unknown  # it may write to what later nodes read
            return
        if effect.random or any(one in self._unreliable for one in used):
            if effect.mutates or effect.writes_state:
                raise Unknown
            self._unreliable.add(node)
        if node.target is program.exit_mode:
            self._open_modes.remove(used[0])
        self._runner.env[node] = self._runner.run_node(node)
        if node.target is program.enter_mode:
            self._open_modes.append(node)


class _Runner(Interpreter):
    """Runs nodes on the copies."""

    def __init__(self, module: Any, values: RealValues) -> None:
        super().__init__(module, garbage_collect_values=False, graph=values._graph)
        self._values = values

    def fetch_attr(self, target: str) -> Any:
        """Return an attribute of the copied module, or of what the graph brought along."""
        head, _, rest = target.partition(".")
        if head not in self.graph.interned:
            return super().fetch_attr(target)
        found = self._values.interned(head, self.graph.interned[head])
        for atom in rest.split(".") if rest else ():
            found = getattr(found, atom)
        return found
