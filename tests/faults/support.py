"""Shared by the fault tests: a process of its own for what could break one, and small comparisons."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

SOURCE = Path(__file__).parents[2] / "src"


def in_own_process(program: str, timeout: float = 120) -> str:
    """Run `program` in a fresh interpreter and return what it prints; it must succeed."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=timeout,
        env=environment,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def node(gm: Any, name: str) -> Any:
    """Return the node called `name`."""
    return next(n for n in gm.graph.nodes if n.name == name)


def targets(gm: Any, op: str) -> list[Any]:
    """Return the targets of all nodes of one kind, in order."""
    return [n.target for n in gm.graph.nodes if n.op == op]


def shape_of(graph: Any) -> list[tuple[Any, ...]]:
    """Return a graph as rows, to see whether an edit left a trace."""
    rows = [
        (n.op, n.name, n.target, repr(n.args), repr(n.kwargs), [u.name for u in n.users]) for n in graph.nodes
    ]
    return rows


def gradient(model: Callable[..., Any], *inputs: torch.Tensor) -> list[torch.Tensor]:
    """Return the gradients of the summed result for each input."""
    leaves = [t.clone().requires_grad_() for t in inputs]
    return list(torch.autograd.grad(model(*leaves).sum(), leaves))


def attributes(module: nn.Module) -> dict[str, Any]:
    """Return what a module and its submodules hold, by identity, to see whether anything was written."""
    seen: dict[str, Any] = {}
    for path, sub in module.named_modules():
        for key, value in vars(sub).items():
            if isinstance(value, dict):
                seen |= {f"{path}.{key}[{k}]": id(v) for k, v in value.items()}
            else:
                seen[f"{path}.{key}"] = value if isinstance(value, bool | int | str | float) else id(value)
    return seen
