"""Passes: one a file. They are loaded when they are first asked for."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = [
    "base",
    "const_fold",
    "cse",
    "dialect",
    "dropout",
    "fuse_conv_bn",
    "graph_drawer",
    "graph_manipulation",
    "infra",
    "manager",
    "merge_matmul",
    "normalize",
    "operator_support",
    "param_fetch",
    "shape_prop",
    "source_partitions",
    "split_module",
    "split_utils",
    "tools_common",
    "utils",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
