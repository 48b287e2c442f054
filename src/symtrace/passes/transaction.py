"""All or nothing: a pass that fails leaves the module as it found it."""

from __future__ import annotations

from typing import Any

from torch import nn

from ..ir import Checkpoint
from ..runtime import Graph, GraphModule

__all__ = ["ModuleCheckpoint", "guarded"]

_TABLES = ("_parameters", "_buffers", "_modules", "_non_persistent_buffers_set")
_COMPILED = frozenset({"_compiled", "_unsubscribe", "_source"})


class ModuleCheckpoint:
    """A module as it stands now: its graph, and what is registered in it and in the modules below.

    The contents of tensors are not kept: a pass replaces tensors, it does not write to them.

    Args:
        module: Module to come back to; without a graph, only its tables are kept.

    Cost: linear in nodes and modules.
    """

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        graph = module.graph if isinstance(module, GraphModule) else None
        self.graph: Graph | None = graph
        self.nodes = None if graph is None else Checkpoint(graph)
        self._states = [(part, _state(part)) for part in module.modules()]

    def graph_differs(self) -> bool:
        """Return whether the graph computes something else now."""
        module = self.module
        if not isinstance(module, GraphModule) or self.nodes is None:
            return False
        return module.graph is not self.graph or self.nodes.differs()

    def module_differs(self) -> bool:
        """Return whether anything else is registered now, in the module or below."""
        parts = list(self.module.modules())
        if len(parts) != len(self._states):
            return True
        return any(
            part is not known
            or any(part.__dict__.get(name) != state.get(name) for name in ("_modules",))
            or not _same_tensors(part, state)
            for part, (known, state) in zip(parts, self._states, strict=True)
        )

    def restore(self) -> None:
        """Make the module what it was."""
        module = self.module
        if isinstance(module, GraphModule):
            module._forget()
        for part, state in self._states:
            part.__dict__.clear()
            part.__dict__.update(_copied(state))
        if self.nodes is not None and self.graph is not None:
            self.nodes.restore()
            self.graph.owning_module = module


def _state(part: nn.Module) -> dict[str, Any]:
    return _copied({key: value for key, value in part.__dict__.items() if key not in _COMPILED})


def _copied(state: dict[str, Any]) -> dict[str, Any]:
    own = dict(state)
    for name in _TABLES:
        if name in own:
            own[name] = own[name].copy()
    if isinstance(own.get("meta"), dict):
        own["meta"] = dict(own["meta"])
    return own


def _same_tensors(part: nn.Module, state: dict[str, Any]) -> bool:
    for name in ("_parameters", "_buffers"):
        mine, known = part.__dict__.get(name) or {}, state.get(name) or {}
        if mine.keys() != known.keys() or any(mine[key] is not known[key] for key in known):
            return False
    return True


def guarded(function: Any, module: nn.Module) -> Any:
    """Call a function of a module; when it fails, the module is as it was."""
    before = ModuleCheckpoint(module)
    try:
        return function(module)
    except BaseException:
        before.restore()
        raise
