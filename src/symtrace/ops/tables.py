"""Facts about operators that torch's schemas do not state."""

from __future__ import annotations

import builtins
import math
import operator
from typing import Any

__all__ = [
    "ALIASING_NAMES",
    "CONTAINER_WRITERS",
    "FRESH_BUILTINS",
    "FRESH_MODULES",
    "IMPURE_NAMES",
    "INPLACE_OPERATORS",
    "PURE_BUILTINS",
    "PURE_CONTAINER_METHODS",
    "PURE_TORCH_NAMES",
    "RANDOM_NAMES",
    "TRAINING_SWITCHES",
]

INPLACE_OPERATORS: frozenset[Any] = frozenset(
    getattr(operator, name)
    for name in [
        "iadd",
        "iand",
        "iconcat",
        "ifloordiv",
        "ilshift",
        "imatmul",
        "imod",
        "imul",
        "ior",
        "ipow",
        "irshift",
        "isub",
        "itruediv",
        "ixor",
        "setitem",
        "delitem",
    ]
)
"""Functions of `operator` that write to their first argument."""

_PURE_OPERATORS = frozenset(
    function
    for name, function in vars(operator).items()
    if not name.startswith("_")
    and callable(function)
    and function not in INPLACE_OPERATORS
    and name not in {"call", "methodcaller", "attrgetter", "itemgetter"}
)

PURE_BUILTINS: frozenset[Any] = (
    _PURE_OPERATORS
    | frozenset(function for name, function in vars(math).items() if callable(function))
    | frozenset(
        getattr(builtins, name)
        for name in [
            "abs",
            "all",
            "any",
            "bin",
            "bool",
            "bytes",
            "callable",
            "chr",
            "complex",
            "dict",
            "divmod",
            "enumerate",
            "filter",
            "float",
            "format",
            "frozenset",
            "getattr",
            "hasattr",
            "hash",
            "hex",
            "id",
            "int",
            "isinstance",
            "issubclass",
            "iter",
            "len",
            "list",
            "map",
            "max",
            "min",
            "oct",
            "ord",
            "pow",
            "range",
            "repr",
            "reversed",
            "round",
            "set",
            "slice",
            "sorted",
            "str",
            "sum",
            "tuple",
            "type",
            "zip",
        ]
    )
)
"""Functions of `operator`, `math` and `builtins` without effects."""

FRESH_BUILTINS: frozenset[Any] = (
    _PURE_OPERATORS - {operator.getitem, operator.pos, operator.concat, operator.index}
    | frozenset(function for name, function in vars(math).items() if callable(function))
    | {abs, all, any, bool, complex, divmod, float, format, hasattr, hash, int, isinstance, len}
    | {pow, repr, round, str, sum, type}
)
"""Those of `PURE_BUILTINS` whose result shares no storage with an argument."""

IMPURE_NAMES = frozenset(
    [
        "_assert_async",
        "_assert_scalar",
        "_assert_tensor_metadata",
        "_functional_assert_async",
        "_print",
        "backward",
        "fork",
        "import_ir_module",
        "import_ir_module_from_buffer",
        "manual_seed",
        "module_load",
        "record_stream",
        "register_hook",
        "register_post_accumulate_grad_hook",
        "reinforce",
        "resize",
        "resize_as",
        "retain_grad",
        "seed",
        "set_data",
        "set_flush_denormal",
        "sym_constrain_range",
        "sym_constrain_range_for_size",
        "to_dlpack",
        "wait",
    ]
)
"""Torch functions and Tensor methods with an effect beyond their arguments."""

PURE_TORCH_NAMES = frozenset(
    [
        "_is_all_true",
        "_is_any_true",
        "Size",
        "are_deterministic_algorithms_enabled",
        "asarray",
        "atleast_1d",
        "atleast_2d",
        "atleast_3d",
        "block_diag",
        "broadcast_shapes",
        "broadcast_tensors",
        "cartesian_prod",
        "cdist",
        "chain_matmul",
        "device",
        "dsmm",
        "dtype",
        "einsum",
        "finfo",
        "from_dlpack",
        "from_numpy",
        "frombuffer",
        "get_autocast_dtype",
        "get_default_device",
        "get_default_dtype",
        "hsmm",
        "iinfo",
        "is_autocast_enabled",
        "is_grad_enabled",
        "is_inference_mode_enabled",
        "is_storage",
        "is_tensor",
        "lu",
        "meshgrid",
        "norm",
        "saddmm",
        "split",
        "spmm",
        "stft",
        "sym_float",
        "sym_int",
        "sym_ite",
        "sym_max",
        "sym_min",
        "sym_not",
        "sym_sqrt",
        "sym_sum",
        "tensordot",
        "typename",
        "unique",
        "unique_consecutive",
        "unravel_index",
    ]
)
"""Names in `torch` without a schema that are free of effects."""

RANDOM_NAMES = frozenset(
    [
        "fractional_max_pool2d",
        "fractional_max_pool2d_with_indices",
        "fractional_max_pool3d",
        "fractional_max_pool3d_with_indices",
        "gumbel_softmax",
        "lobpcg",
        "pca_lowrank",
        "svd_lowrank",
    ]
)
"""Functions that draw random numbers although no operator tag says so."""

TRAINING_SWITCHES: dict[str, tuple[str, int, Any]] = {
    "dropout": ("training", 2, True),
    "dropout1d": ("training", 2, True),
    "dropout2d": ("training", 2, True),
    "dropout3d": ("training", 2, True),
    "alpha_dropout": ("training", 2, False),
    "feature_alpha_dropout": ("training", 2, False),
    "rrelu": ("training", 3, False),
    "rrelu_": ("training", 3, False),
    "scaled_dot_product_attention": ("dropout_p", 4, 0.0),
    "multi_head_attention_forward": ("dropout_p", 9, 1.0),
}
"""Random only when this argument (keyword, position, default) is true."""

ALIASING_NAMES = frozenset(
    [
        "H",
        "T",
        "__getitem__",
        "__iter__",
        "_indices",
        "_values",
        "alpha_dropout",
        "as_subclass",
        "as_tensor",
        "asarray",
        "atleast_1d",
        "atleast_2d",
        "atleast_3d",
        "bfloat16",
        "block_diag",
        "bool",
        "broadcast_tensors",
        "byte",
        "cartesian_prod",
        "cdouble",
        "cfloat",
        "chain_matmul",
        "channel_shuffle",
        "char",
        "combinations",
        "conj_physical",
        "contiguous",
        "cpu",
        "cuda",
        "data",
        "dequantize",
        "detach",
        "double",
        "dropout",
        "dropout1d",
        "dropout2d",
        "dropout3d",
        "einsum",
        "feature_alpha_dropout",
        "feature_dropout",
        "float",
        "from_dlpack",
        "from_numpy",
        "frombuffer",
        "half",
        "histogramdd",
        "int",
        "interpolate",
        "ipu",
        "linalg_matrix_power",
        "linalg_multi_dot",
        "long",
        "mH",
        "mT",
        "matrix_power",
        "meshgrid",
        "mtia",
        "native_channel_shuffle",
        "numpy",
        "pad",
        "pin_memory",
        "pixel_shuffle",
        "pixel_unshuffle",
        "positive",
        "real",
        "resolve_conj",
        "resolve_neg",
        "rot90",
        "short",
        "smm",
        "split",
        "storage",
        "sum_to_size",
        "to",
        "to_dense",
        "to_mkldnn",
        "to_sparse",
        "type",
        "type_as",
        "unsafe_chunk",
        "unsafe_split",
        "unsafe_split_with_sizes",
        "untyped_storage",
        "upsample",
        "upsample_bilinear",
        "upsample_nearest",
        "xpu",
    ]
)
"""Operators whose result may share storage with an input although their schema does not say so."""

PURE_CONTAINER_METHODS = frozenset(
    [
        "_asdict",
        "bit_length",
        "copy",
        "count",
        "difference",
        "endswith",
        "format",
        "get",
        "index",
        "intersection",
        "is_integer",
        "items",
        "join",
        "keys",
        "lower",
        "startswith",
        "strip",
        "union",
        "upper",
        "values",
    ]
)
"""Methods of Python's containers, strings and numbers without effects."""

CONTAINER_WRITERS = frozenset(
    [
        "__next__",
        "append",
        "appendleft",
        "clear",
        "discard",
        "extend",
        "insert",
        "move_to_end",
        "pop",
        "popitem",
        "popleft",
        "remove",
        "reverse",
        "setdefault",
        "update",
    ]
)
"""Methods that write to the container they are called on."""

FRESH_MODULES: tuple[str, ...] = (
    "AdaptiveAvgPool",
    "AdaptiveMaxPool",
    "AvgPool",
    "BatchNorm",
    "Bilinear",
    "CELU",
    "Conv",
    "ELU",
    "Embedding",
    "GELU",
    "GroupNorm",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "InstanceNorm",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LocalResponseNorm",
    "LogSoftmax",
    "MaxPool",
    "Mish",
    "PReLU",
    "RMSNorm",
    "ReLU",
    "SELU",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "SyncBatchNorm",
    "Tanh",
)
"""Prefixes of `torch.nn` class names whose result never shares storage with the input."""
