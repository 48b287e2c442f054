"""What other packages have told torch.fx: which functions are leaves, which have side effects.

Libraries register their leaf functions with `torch.fx.wrap` (torchvision does), and a faithful capture honours
that: importing this module hands the registry to the tracer. The registries are read anew at each capture and
never written.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ..tracing.wrapping import add_source

__all__ = ["torch_fx_side_effectful_functions", "torch_fx_wrapped_functions", "torch_fx_wrapped_methods"]


def torch_fx_wrapped_functions() -> tuple[tuple[dict[str, Any], str], ...]:
    """Return the functions that are registered with `torch.fx.wrap`, in order of registration.

    Returns:
        Pairs of the globals of a module and the name in it whose calls are to stay one node.

    >>> import torch.fx
    >>> scope = {"leaf": abs, "torch": torch}
    >>> exec("torch.fx.wrap('leaf')", scope)
    >>> any(namespace is scope and name == "leaf" for namespace, name in torch_fx_wrapped_functions())
    True
    """
    # Private: keys are (id of the globals, name), values the globals. Checked on torch 2.13 and 2.14.
    registry = getattr(sys.modules.get("torch.fx._symbolic_trace"), "_wrapped_fns_to_patch", {})
    return tuple((namespace, name) for (_, name), namespace in list(registry.items()))


def torch_fx_wrapped_methods() -> tuple[tuple[type, str], ...]:
    """Return the methods that torch.fx is told to keep as one node, as pairs of a class and a name."""
    # Private: a list of such pairs. Checked on torch 2.13 and 2.14.
    registry = getattr(sys.modules.get("torch.fx._symbolic_trace"), "_wrapped_methods_to_patch", [])
    return tuple((cls, name) for cls, name in list(registry))


def torch_fx_side_effectful_functions() -> frozenset[Callable[..., Any]]:
    """Return the functions whose calls torch.fx never removes as dead code."""
    # Private: a set, filled by `torch.fx.has_side_effect` and by torch itself. Checked on torch 2.13 and
    # 2.14.
    return frozenset(getattr(sys.modules.get("torch.fx.node"), "_side_effectful_functions", ()))


add_source(torch_fx_wrapped_functions)
