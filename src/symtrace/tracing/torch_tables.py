"""torch makes tables of functions at their first use, which must hold the functions and not the hooks on them.

The tables are private to torch (checked on 2.13 and 2.14); without one there is nothing to do.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterable
from typing import Any

import torch
import torch.overrides
import torch.utils._device  # the home of the context and of its table (torch 2.13, 2.14)

__all__ = ["fill_tables", "mend_tables"]


def fill_tables() -> list[Any]:
    """Have torch make, before any hook is in place, the tables that it acts on; return those that can wait.

    Made during a capture, the first would hold hooks, and `with torch.device(...)` would leave the functions alone
    from then on. Those that take long to make are only looked into: what of them a capture has made is to be cleared.
    """
    for module, name in _AT_ONCE:
        fill = getattr(module, name, None)
        if fill is not None:
            fill()
    later: list[Any] = [getattr(torch.overrides, name, None) for name in _LATER]
    return [table for table in later if hasattr(table, "cache_info") and table.cache_info().currsize == 0]


_AT_ONCE = (torch.utils._device, "_device_constructors"), (torch.overrides, "get_ignored_functions")
_LATER = ("get_testing_overrides", "_get_overridable_functions", "_get_tensor_methods")


def mend_tables(names: Iterable[str]) -> None:
    """Enter builtins into the table of torch's compiler if it was made while hooks stood for them.

    Args:
        names: Names of the builtins.
    """
    rules = sys.modules.get("torch._dynamo.trace_rules")
    table = getattr(rules, "_builtin_function_ids", None)
    known = getattr(table, "function_ids", None)
    if known is None:
        return
    spelled = getattr(table, "function_names", None)
    for name in names:
        known.add(id(getattr(builtins, name)))
        if spelled is not None:
            spelled.setdefault(id(getattr(builtins, name)), f"builtins.{name}")
