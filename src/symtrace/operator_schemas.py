"""FX's spelling of `symtrace.ops`."""

from .ops import NormalizedArguments as ArgsKwargsPair
from .ops import normalize_function, normalize_module
from .ops.torch_signatures import (
    check_for_mutable_operation,
    create_type_hint,
    get_signature_for_torch_op,
    type_matches,
)
from .ops.torch_signatures import python_type as _torchscript_type_to_python_type

__all__ = [
    "ArgsKwargsPair",
    "_torchscript_type_to_python_type",
    "check_for_mutable_operation",
    "create_type_hint",
    "get_signature_for_torch_op",
    "normalize_function",
    "normalize_module",
    "type_matches",
]
