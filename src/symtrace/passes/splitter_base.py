"""FX's spelling of `symtrace.partition.splitter`."""

from ..partition.splitter import (
    SplitResult,
    _SplitterBase,
    _SplitterSettingBase,
    generate_inputs_for_submodules,
)

__all__ = ["SplitResult", "_SplitterBase", "_SplitterSettingBase", "generate_inputs_for_submodules"]
