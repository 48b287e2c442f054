"""Passes: one a file. They are loaded when they are first asked for."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .base import PassBase, PassResult
    from .core import Context, Pass
    from .errors import PassError
    from .features import extract_features, feature_names
    from .manager import PassManager
    from .pipeline import History, Pipeline, Step, parse_pipeline
    from .quantize import quantize_dynamic, quantize_weights
    from .registry import available_passes, find_pass, register_pass
    from .standard import optimize
    from .transformation import GraphModuleTransformation

_HOME = {
    "Context": "core",
    "GraphModuleTransformation": "transformation",
    "History": "pipeline",
    "Pass": "core",
    "PassBase": "base",
    "PassError": "errors",
    "PassManager": "manager",
    "PassResult": "base",
    "Pipeline": "pipeline",
    "Step": "pipeline",
    "available_passes": "registry",
    "extract_features": "features",
    "feature_names": "features",
    "find_pass": "registry",
    "optimize": "standard",
    "parse_pipeline": "pipeline",
    "quantize_dynamic": "quantize",
    "quantize_weights": "quantize",
    "register_pass": "registry",
}

_MODULES = frozenset({
    "annotate_getitem_nodes", "base", "const_fold", "contract", "core", "cse", "dce", "decompose",
    "dialect", "dropout", "errors", "fake_tensor_prop", "features", "fold_constants", "functionalize",
    "fuse_conv_bn", "fuse_conv_scale", "graph_drawer", "graph_manipulation", "identity", "infra", "inline",
    "lifting", "lower_control_flow", "manager", "merge_linear", "merge_matmul", "net_min_base", "normalize",
    "operator_support", "param_fetch", "pipeline", "quantize", "registry", "reinplace", "shape_prop",
    "source_partitions", "spellings", "split_module", "split_utils", "splitter_base", "tools_common",
    "transaction", "transformation", "utils",
})  # fmt: skip

__all__ = [
    "Context",
    "GraphModuleTransformation",
    "History",
    "Pass",
    "PassBase",
    "PassError",
    "PassManager",
    "PassResult",
    "Pipeline",
    "Step",
    "available_passes",
    "extract_features",
    "feature_names",
    "find_pass",
    "optimize",
    "parse_pipeline",
    "quantize_dynamic",
    "quantize_weights",
    "register_pass",
    *sorted(_MODULES),
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__})
