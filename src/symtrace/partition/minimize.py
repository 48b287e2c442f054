"""Finding the smallest part of a program that still goes wrong."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ..ir import Node
from ..rewrite.sources import check_graph_module
from ..runtime import GraphModule, Interpreter
from .errors import PartitionError
from .fuse import fuse_as_graphmodule

__all__ = ["Minimized", "Search", "minimize"]

Run = Callable[[GraphModule, tuple[Any, ...]], Any]
Compare = Callable[[Any, Any], bool]


@dataclass(frozen=True)
class Minimized:
    """The smallest part of a program that still goes wrong.

    Attributes:
        module: The part, as a module of its own.
        inputs: Arguments on which it goes wrong.
        nodes: Its nodes in the program.
        reason: What goes wrong.
    """

    module: GraphModule
    inputs: tuple[Any, ...]
    nodes: tuple[Node, ...]
    reason: str

    def __str__(self) -> str:
        return f"{len(self.nodes)} nodes go wrong: {self.reason}\n{self.module.code.strip()}"


def minimize(
    gm: GraphModule,
    args: Sequence[Any],
    candidate: Run,
    *,
    reference: Run | None = None,
    compare: Compare | None = None,
) -> Minimized:
    """Return the smallest run of successive nodes on which two ways to run a program differ.

    Each part is run on the values that its inputs have in the reference run of the whole, so that errors do not add
    up. The search halves the program: it needs about twice the logarithm of its length runs.

    Args:
        gm: The program; it is left as it is.
        args: Arguments of one call.
        candidate: Runs a module on arguments in the way that goes wrong: a compiler, another device, a quantised
            form. An exception counts as going wrong.
        reference: Runs a module on arguments in the way that is right; by default, just calls it.
        compare: Tells whether two results are close enough; by default `torch.testing.assert_close` does.

    Raises:
        ArgumentError: `gm` is no GraphModule (ST112).
        PartitionError: The whole program does not go wrong, or can't be run at all (ST246).
    """
    check_graph_module(gm)
    search = Search(
        gm, candidate, reference or (lambda module, inputs: module(*inputs)), compare or _is_close
    )
    search.record(args)
    nodes = search.nodes
    if not nodes or search.failure(nodes) is None:
        raise PartitionError("ST246", reason="the whole program does not go wrong on these inputs")
    end = _first(1, len(nodes), lambda count: search.failure(nodes[:count]) is not None)
    start = end - _first(1, end, lambda count: search.failure(nodes[end - count : end]) is not None)
    part = nodes[start:end]
    reason = search.failure(part)
    assert reason is not None
    module, inputs = search.part(part)
    return Minimized(module, inputs, tuple(part), reason)


def _first(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """Return the least number for which `holds`, given that it holds for `high` and, once it does, for all above."""
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


class _Recorder(Interpreter):
    """Keeps a copy of each value as it is when it is computed."""

    def __init__(self, gm: GraphModule) -> None:
        super().__init__(gm, garbage_collect_values=False)
        self.found: dict[str, Any] = {}

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        self.found[n.name] = _copied(result)
        return result


class Search:
    """Runs parts of a program both ways."""

    def __init__(self, gm: GraphModule, candidate: Run, reference: Run, compare: Compare) -> None:
        self.gm, self.candidate, self.reference, self.compare = gm, candidate, reference, compare
        self.nodes = [node for node in gm.graph.nodes if node.op not in ("placeholder", "output")]
        self.values: dict[str, Any] = {}
        self.known: dict[tuple[Node, Node], str | None] = {}

    def record(self, args: Sequence[Any]) -> None:
        """Run the whole once and keep what each node gives."""
        recorder = _Recorder(copy.deepcopy(self.gm))
        try:
            recorder.run(*_copied(tuple(args)))
        except Exception as error:
            raise PartitionError(
                "ST246", reason=f"the program can't be run on these inputs: {error}"
            ) from error
        self.values = recorder.found

    def part(self, nodes: Sequence[Node]) -> tuple[GraphModule, tuple[Any, ...]]:
        """Return a part as a module of its own, with its inputs."""
        module, inputs, _ = fuse_as_graphmodule(self.gm, nodes, "Part", always_return_tuple=True)
        return copy.deepcopy(module), tuple(_copied(self.values[node.name]) for node in inputs)

    def failure(self, nodes: Sequence[Node]) -> str | None:
        """Return how a part goes wrong; None if it does not."""
        key = nodes[0], nodes[-1]
        if key not in self.known:
            self.known[key] = self._failure(nodes)
        return self.known[key]

    def _failure(self, nodes: Sequence[Node]) -> str | None:
        state = torch.get_rng_state()
        expected = self.reference(*self.part(nodes))
        torch.set_rng_state(state)
        try:
            actual = self.candidate(*self.part(nodes))
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return None if self.compare(actual, expected) else "the results differ"


def _copied(value: Any) -> Any:
    return pytree.tree_map(
        lambda leaf: leaf.detach().clone() if isinstance(leaf, torch.Tensor) else leaf, value
    )


def _is_close(actual: Any, expected: Any) -> bool:
    try:
        torch.testing.assert_close(actual, expected, equal_nan=True)
    except AssertionError:
        return False
    return True
