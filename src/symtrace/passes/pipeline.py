"""Pipelines: passes that run one after the other, with a history of what each did."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from torch import nn

from ..ir import all_graphs
from ..rewrite.sources import check_graph_module
from ..runtime import GraphModule
from .base import PassResult
from .contract import run_checked
from .core import Context, Pass, Remark, as_pass
from .errors import PassError
from .registry import make_pass

__all__ = ["History", "Pipeline", "Step", "parse_pipeline"]


@dataclass(frozen=True)
class Step:
    """What one run of one pass did.

    Attributes:
        name: The pass with its options, as in the text of a pipeline.
        modified: Whether it changed anything.
        seconds: How long it took, checks included.
        nodes: Number of nodes before and after, regions included.
        remarks: What it left alone, and why.
        diff: What it changed, as text; empty unless the pipeline keeps it.
    """

    name: str
    modified: bool
    seconds: float
    nodes: tuple[int, int]
    remarks: tuple[Remark, ...] = ()
    diff: str = ""


@dataclass
class History:
    """The steps of one run of a pipeline, in order. Printed, it is a table."""

    steps: list[Step] = field(default_factory=list)

    def __iter__(self) -> Any:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, index: Any) -> Any:
        return self.steps[index]

    def __str__(self) -> str:
        rows = [("pass", "changed", "nodes", "ms")]
        for step in self.steps:
            before, after = step.nodes
            nodes = f"{before} -> {after}" if before != after else str(before)
            rows.append((step.name, "yes" if step.modified else "-", nodes, f"{step.seconds * 1e3:.2f}"))
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        return "\n".join(
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        )

    @property
    def diff(self) -> str:
        """What all steps changed, one after the other; empty unless the pipeline keeps it."""
        return "\n".join(f"== {step.name}\n{step.diff}" for step in self.steps if step.diff)


class Pipeline:
    """Passes that run one after the other, in place: all of them or, when one fails, none.

    Args:
        passes: Passes, functions of a module, or a text such as `"dce,cse,fuse-conv-bn{eval-only=true}"`.
        repeat: Run all of them again, at most this many times, while something changes.
        keep_diffs: Keep in the history what each pass changed.
        verify: Example inputs. After each pass that changed something, the module is run on them, and a pass
            that changes results, state or random draws is refused.
        rtol: Relative tolerance of `verify`.
        atol: Absolute tolerance of `verify`.

    Attributes:
        passes: The passes, in order.
        history: What the last run did.

    Raises:
        PassError: The text can't be read (ST240), or names an unknown pass or option (ST241, ST242).

    >>> import torch, symtrace
    >>> gm = symtrace.symbolic_trace(lambda x: torch.relu(x) + torch.relu(x))
    >>> Pipeline("cse,dce")(gm).modified
    True
    """

    def __init__(
        self,
        passes: str | Iterable[Any] = (),
        *,
        repeat: int = 1,
        keep_diffs: bool = False,
        verify: tuple[Any, ...] | None = None,
        rtol: float = 1e-4,
        atol: float = 1e-5,
    ) -> None:
        self.passes = parse_pipeline(passes) if isinstance(passes, str) else [as_pass(p) for p in passes]
        self.repeat = repeat
        self.keep_diffs = keep_diffs
        self.verify = verify
        self.tolerance = {"rtol": rtol, "atol": atol}
        self.history = History()

    def __str__(self) -> str:
        return ",".join(step.spell() for step in self.passes)

    def __call__(self, graph_module: nn.Module) -> PassResult:
        """Run the passes on a module.

        Args:
            graph_module: A GraphModule; it is changed in place.

        Returns:
            The module and whether anything was changed. (A function among the passes may return another module.)

        Raises:
            ArgumentError: `graph_module` is no GraphModule (ST112).
            PassError: A pass failed (ST230), broke its contract (ST243) or changed the meaning (ST244); the
                module is as it was before the first pass.
        """
        from .transaction import ModuleCheckpoint

        check_graph_module(graph_module, "graph_module")
        module: Any = graph_module
        history = History()
        before = ModuleCheckpoint(module)
        modified = False
        try:
            for _ in range(self.repeat):
                changed = False
                for step in self.passes:
                    module, step_changed = self._step(step, module, history)
                    changed = changed or step_changed
                modified = modified or changed
                if not changed:
                    break
        except BaseException:
            before.restore()
            raise
        self.history = history
        return PassResult(module, modified)

    def _step(self, run: Pass, module: GraphModule, history: History) -> tuple[GraphModule, bool]:
        ctx = Context(module, self.verify)
        name = run.spell()
        keeps = self.keep_diffs or self.verify is not None
        original = _snapshot(module) if keeps else None
        count = _count(module)
        start = time.perf_counter()
        try:
            result = run_checked(run, module, ctx)
        except PassError:
            raise
        except Exception as error:
            raise PassError("ST230", name=name, before=[step.name for step in history]) from error
        seconds = time.perf_counter() - start
        after: Any = result.graph_module
        check_graph_module(after, f"the result of {name}")
        text = ""
        if result.modified and original is not None:
            if self.keep_diffs:
                from ..visualize import diff

                text = str(diff(original, after))
            if self.verify is not None:
                self._verify(name, original, after)
        nodes = (count, _count(after))
        history.steps.append(Step(name, result.modified, seconds, nodes, tuple(ctx.remarks), text))
        return after, result.modified

    def _verify(self, name: str, original: GraphModule, after: GraphModule) -> None:
        from .verifying import difference

        assert self.verify is not None
        found = difference(original, after, self.verify, **self.tolerance)
        if found is not None:
            raise PassError("ST244", name=name, reason=found)


def _count(module: GraphModule) -> int:
    return sum(len(graph.nodes) for graph in all_graphs(module.graph))


def _snapshot(module: GraphModule) -> GraphModule:
    """Return the module as it stands, with a graph of its own; tensors and modules are shared."""
    import copy

    from ..runtime.submodules import shallow_module

    copies = {id(part): shallow_module(part) for part in module.modules() if part is not module}
    snapshot = copy.copy(module)
    for part in (snapshot, *copies.values()):
        table = part.__dict__["_modules"]
        for name, child in table.items():
            table[name] = copies.get(id(child), child)
    return snapshot


def parse_pipeline(text: str) -> list[Pass]:
    """Return the passes that a text stands for: `dce,cse,fuse-conv-bn{eval-only=true}`.

    Options stand in braces behind the name, separated by spaces or commas.

    Args:
        text: The text; empty for no passes.

    Raises:
        PassError: It can't be read (ST240), or names an unknown pass or option (ST241, ST242).

    >>> [step.spell() for step in parse_pipeline("dce, cse")]
    ['dce', 'cse']
    """
    passes: list[Pass] = []
    for part in _parts(text):
        name, brace, rest = part.partition("{")
        options: dict[str, str] = {}
        if brace:
            for item in rest[:-1].replace(",", " ").split():
                key, equals, value = item.partition("=")
                if not equals or not key or not value:
                    raise PassError("ST240", text=text, reason=f"`{item}` is not of the form option=value")
                options[key] = value
        passes.append(make_pass(name.strip(), options))
    return passes


def _parts(text: str) -> list[str]:
    """Return the parts between commas outside of braces."""
    parts, start, depth = [], 0, 0
    for place, letter in enumerate(text + ","):
        if letter == "{":
            depth += 1
        elif letter == "}":
            depth -= 1
        if depth not in (0, 1):
            raise PassError("ST240", text=text, reason=f"a brace at character {place + 1} has no partner")
        if letter == "," and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    if depth:
        raise PassError("ST240", text=text, reason="a brace is not closed")
    for part in parts:
        if "{" in part and not part.endswith("}"):
            raise PassError("ST240", text=text, reason=f"a comma is missing behind the braces in `{part}`")
    if any(not part for part in parts) and text.strip():
        raise PassError("ST240", text=text, reason="there is nothing between two commas")
    return [part for part in parts if part]
