"""torch's own compiler keeps a table of builtin functions, which must hold the builtins and not the hooks on them."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterable

__all__ = ["mend_tables"]


def mend_tables(names: Iterable[str]) -> None:
    """Enter builtins into the compiler's table if it was made while hooks stood for them.

    The table is private to torch (checked on 2.13 and 2.14); without it there is nothing to do.

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
