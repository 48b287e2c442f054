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

__all__ = ["fill_tables", "mend_tables"]


with torch.device("cpu"):
    # Has torch make the table of functions that the context acts on. Made during a capture it would hold hooks, and the
    # context would leave the functions alone from then on.
    torch.empty(0)

_LATER = ("get_testing_overrides", "_get_overridable_functions", "_get_tensor_methods")


def fill_tables() -> list[Any]:
    """Have torch make tables before any hook is in place, and return those not made yet, to be cleared afterwards.

    Those take long to make, and few programs look into them.
    """
    torch.overrides.get_ignored_functions()
    later: list[Any] = [getattr(torch.overrides, name, None) for name in _LATER]
    return [table for table in later if hasattr(table, "cache_info") and table.cache_info().currsize == 0]


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
