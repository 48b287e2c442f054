"""What a captured module does with a call that breaks an assumption."""

from __future__ import annotations

from typing import Any

from torch import nn

from ..errors import GuardError
from ..runtime import Graph, GraphModule
from ..runtime.compiled import Compiled, compile_source
from ..runtime.rollback import Rollback
from .options import CaptureOptions, make_tracer

__all__ = ["POLICIES", "CaptureAgain", "RunOriginal"]


def _original(module: GraphModule) -> nn.Module:
    """Return an object of the original's class that has the very attributes of `module`."""
    original: Any = module._original_class()
    stand_in: nn.Module = original.__new__(original)
    object.__setattr__(stand_in, "__dict__", module.__dict__)
    return stand_in


class RunOriginal:
    """Runs the original program, on the state of the captured module.

    Args:
        root: What was captured.
        options: How.
    """

    def __init__(self, root: Any, options: CaptureOptions) -> None:
        self._function = None if isinstance(root, nn.Module) else root

    def __call__(self, module: GraphModule, args: Any, kwargs: Any) -> Any:
        """Answer a call that a guard has refused."""
        if self._function is not None:
            return self._function(*args, **kwargs)
        original: Any = _original(module)
        return type(original).forward(original, *args, **kwargs)


class CaptureAgain:
    """Captures the original again, with the arguments of the refused call as examples, and keeps all graphs.

    Args:
        root: What was captured.
        options: How, and how it is captured again.

    Attributes:
        variants: What was captured since, the latest used first.
    """

    def __init__(self, root: Any, options: CaptureOptions) -> None:
        self._options = options
        self._function = None if isinstance(root, nn.Module) else root
        self.variants: list[tuple[Graph, Compiled]] = []

    def __reduce__(self) -> Any:
        # A copy captures for itself: what was compiled belongs to one module.
        return _capture_again, (self._function, self._options)

    def __call__(self, module: GraphModule, args: Any, kwargs: Any) -> Any:
        """Answer a call that a guard has refused."""
        for variant in list(self.variants):
            before = Rollback(module, (args, kwargs))
            try:
                result = variant[1].function(module, *args, **kwargs)
            except GuardError:
                before.undo()
                continue
            self.variants.remove(variant)
            self.variants.insert(0, variant)
            return result
        tracer = make_tracer(self._options, has_examples=True)
        graph = tracer.trace(self._function or _original(module), None, *args, **kwargs)
        module.hold_interned(graph)
        compiled = compile_source(graph.python_code("self"), type(module).__name__)
        self.variants.insert(0, (graph, compiled))
        return compiled.function(module, *args, **kwargs)


def _capture_again(function: Any, options: CaptureOptions) -> CaptureAgain:
    return CaptureAgain(function if function is not None else nn.Module(), options)


POLICIES: dict[str, Any] = {"raise": None, "original": RunOriginal, "recapture": CaptureAgain}
"""What `on_guard_failure` can be."""
