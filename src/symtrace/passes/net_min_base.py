"""FX's spelling of `symtrace.partition.minimizer`."""

from ..partition.minimizer import (
    FxNetMinimizerBadModuleError,
    FxNetMinimizerResultMismatchError,
    FxNetMinimizerRunFuncError,
    _MinimizerBase,
    _MinimizerSettingBase,
)

__all__ = [
    "FxNetMinimizerBadModuleError",
    "FxNetMinimizerResultMismatchError",
    "FxNetMinimizerRunFuncError",
    "_MinimizerBase",
    "_MinimizerSettingBase",
]
