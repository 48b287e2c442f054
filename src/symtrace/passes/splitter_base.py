"""FX's spelling of `symtrace.partition.splitter`."""

from ..partition.acc_nodes import FxNetAccNodesFinder
from ..partition.splitter import (
    SplitResult,
    _SplitterBase,
    _SplitterSettingBase,
    generate_inputs_for_submodules,
)

__all__ = [
    "FxNetAccNodesFinder",
    "SplitResult",
    "_SplitterBase",
    "_SplitterSettingBase",
    "generate_inputs_for_submodules",
]
