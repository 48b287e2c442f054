"""Signatures, default values, containers as arguments and as results."""

import collections
from typing import NamedTuple

import torch

from ..program import PLACE, B, Corpus, I, T

corpus = Corpus("arguments")


relu = torch.relu


class Pair(NamedTuple):
    left: torch.Tensor
    right: torch.Tensor


corpus.add("no_arguments_used", lambda x, y: x, T(2), T(2))
corpus.add("many", lambda a, b, c, d, e: a + b * c - d / e, *[T(2)] * 5)
corpus.add("default_number", lambda x, scale=2.0: x * scale, T(2), also=((T(2), 3.0),))
corpus.add("default_int", lambda x, dim=1: x.sum(dim), T(2, 3), also=((T(2, 3), 0),))
corpus.add(
    "default_string",
    lambda x, mode="sum": torch.nn.functional.mse_loss(x, x + 1, reduction=mode),
    T(2),
    also=((T(2), "mean"),),
)
corpus.add("default_bool", lambda x, keep=True: x.sum(1, keepdim=keep), T(2, 3), also=((T(2, 3), False),))
corpus.add("default_none_unused", lambda x, mask=None: x + 1, T(2))
corpus.add("default_tuple", lambda x, dims=(0, 1): x.permute(dims), T(2, 3), also=((T(2, 3), (1, 0)),))
corpus.add("default_dtype", lambda x, dtype=torch.float64: x.to(dtype), T(2), also=((T(2), torch.int64),))
corpus.add("default_infinity", lambda x, bound=float("inf"): x.clamp(max=bound), T(2))
corpus.add(
    "several_defaults", lambda x, a=1, b=2, c=3: x * a + b - c, T(2), also=((T(2), 5), (T(2), 5, 6, 7))
)
corpus.add("given_by_keyword", lambda x, scale=2.0: x * scale, T(2), kwargs={"scale": 4.0})
corpus.add("all_by_keyword", lambda x, y: x - y, kwargs={"y": T(2), "x": T(2)})

_TENSOR_DEFAULT = "Defaults of any type are kept"
_OPTIONAL = "Optional inputs that are left out"
_KEYWORD = "Keyword-only parameters keep their star"
corpus.add(
    "default_tensor",
    lambda x, bias=torch.ones(2): x + bias,
    T(2),
    also=((T(2), T(2)),),
    differs=_TENSOR_DEFAULT,
)
corpus.add(
    "default_device", lambda x, device=torch.device("cpu"): x.to(device), T(2), differs=_TENSOR_DEFAULT
)


@corpus(T(2), differs=_OPTIONAL)
def optional_left_out(x, mask=None):
    if mask is not None:
        x = x * mask
    return x


@corpus(T(2), differs=_KEYWORD)
def keyword_only_default(x, *, scale=2.0):
    return x * scale


@corpus(T(2), kwargs={"scale": 3.0}, differs=_KEYWORD)
def keyword_only_required(x, *, scale):
    return x * scale


@corpus(T(2), kwargs={"b": 3.0}, differs=_KEYWORD)
def keyword_only_mixed(x, y=1.0, *, a=2.0, b):
    return x * a + b - y


@corpus(T(2), T(2), differs=_KEYWORD)
def positional_only(x, y, /):
    return x + y


@corpus(T(2), T(2))
def varargs_indexed(x, *rest):
    return x + rest[0]


@corpus(T(2), kwargs={"bias": T(2)})
def varkw_indexed(x, **extra):
    return x + extra["bias"]


@corpus(T(2), T(2), kwargs={"bias": T(2)})
def varargs_and_varkw(*xs, **extra):
    return xs[0] + xs[1] + extra["bias"]


@corpus(T(2), differs=_KEYWORD)
def keyword_only_with_varkw(x, *, a=1.0, **extra):
    return x * a


@corpus(T(2), T(2), differs=_KEYWORD)
def varargs_then_keyword(x, *rest, scale=2.0):
    return x * scale + rest[0]


@corpus(T(2), T(2))
def annotated(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x + y


@corpus(T(2))
def annotated_with_default(x: torch.Tensor, scale: float = 2.0) -> torch.Tensor:
    return x * scale


@corpus(T(2), T(2))
def annotated_optional(x: torch.Tensor, mask: torch.Tensor | None = None):
    return x * mask


@corpus(T(2))
def annotated_result_tuple(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x + 1, x - 1


@corpus([T(2), T(2)])
def annotated_list(xs: list[torch.Tensor]):
    return xs[0] + xs[1]


@corpus({"a": T(2)})
def annotated_dict(d: dict[str, torch.Tensor]) -> torch.Tensor:
    return d["a"] * 2


@corpus(T(2))
def annotated_by_string(x: "torch.Tensor") -> "torch.Tensor":
    return x.relu()


corpus.add("list_input_indexed", lambda xs: xs[0] * xs[1], [T(2), T(2)])
corpus.add("tuple_input_indexed", lambda xs: xs[0] - xs[1], (T(2), T(2)))
corpus.add("dict_input_indexed", lambda d: d["a"] + d["b"], {"a": T(2), "b": T(2)})
corpus.add("nested_input_indexed", lambda d: d["a"][0] + d["b"]["c"], {"a": [T(2)], "b": {"c": T(2)}})
corpus.add("namedtuple_input_field", lambda p: p.left * p.right, Pair(T(2), T(2)))

corpus.add("returns_tuple", lambda x: (x, x + 1), T(2))
corpus.add("returns_list", lambda x: [x, x + 1], T(2))
corpus.add("returns_dict", lambda x: {"a": x, "b": x + 1}, T(2))
corpus.add("returns_nested", lambda x: {"a": [x, (x + 1, {"b": x * 2})], "c": None}, T(2))
corpus.add("returns_constants_too", lambda x: (x, 1, "text", None, 2.5), T(2))
corpus.add("returns_empty_tuple", lambda x: (), T(2))
corpus.add("returns_same_twice", lambda x: (x, x), T(2))
corpus.add("returns_slice_of_list", lambda x: [x, x + 1, x + 2][1:], T(2))
corpus.add("returns_int_keys", lambda x: {0: x, 1: x + 1}, T(2))

_CONTAINER = "Results keep their own type"
corpus.add("returns_namedtuple", lambda x: Pair(x, x + 1), T(2))
corpus.add("returns_ordered_dict", lambda x: collections.OrderedDict(a=x, b=x + 1), T(2), differs=_CONTAINER)
corpus.add("returns_size", lambda x: torch.Size([2, 3]), T(2), differs=_CONTAINER)


@corpus(T(4, 2))
def unpack_split(x):
    a, b = x.split(2)
    return a * b


@corpus(T(2, 4))
def unpack_chunk_three(x):
    a, b, c, d = x.chunk(4, dim=1)
    return a + b + c + d


@corpus(T(3, 2))
def unpack_max(x):
    values, indices = torch.max(x, dim=1)
    return values, indices


@corpus(T(2, 3))
def unpack_tensor(x):
    first, second = x
    return first - second


@corpus((T(2), T(2)))
def unpack_input(pair):
    left, right = pair
    return left + right


@corpus(T(2))
def containers_inside(x):
    parts = [x, x + 1]
    parts.append(x + 2)
    table = {"sum": torch.stack(parts).sum(0)}
    return table["sum"]


@corpus(T(2))
def dict_argument(x):
    return helper_of_dict({"a": x, "b": [x, 1]})


def helper_of_dict(d):
    return torch.cat([d["a"], *d["b"][:1]])


corpus.add("slice_argument", lambda x: x[slice(0, 2)], T(3))
corpus.add("range_inside", lambda x: [x + i for i in range(3)], T(2))

_FIXED = "Values fixed by `concrete_args` are guarded"
corpus.add("concrete_number", lambda x, n: x * n, T(2), 3, differs=_FIXED, concrete_args={"n": 3})
corpus.add(
    "concrete_bool",
    lambda x, flip: -x if flip else x,
    T(2),
    True,
    differs=_FIXED,
    concrete_args={"flip": True},
)
corpus.add(
    "concrete_none",
    lambda x, mask: x if mask is None else x * mask,
    T(2),
    None,
    differs=_FIXED,
    concrete_args={"mask": None},
)
corpus.add(
    "concrete_string",
    lambda x, mode: x.relu() if mode == "relu" else x,
    T(2),
    "relu",
    differs=_FIXED,
    concrete_args={"mode": "relu"},
)
corpus.add(
    "concrete_default",
    lambda x, flip=False: -x if flip else x,
    T(2),
    differs=_FIXED,
    concrete_args={"flip": False},
)
corpus.add("concrete_list", lambda xs: xs[0] + xs[1], [T(2), T(2)], concrete_args={"xs": [PLACE, PLACE]})
corpus.add(
    "concrete_tuple",
    lambda x, xs: x + xs[0] * xs[1],
    T(2),
    (T(2), T(2)),
    concrete_args={"xs": (PLACE, PLACE)},
)
corpus.add(
    "concrete_dict",
    lambda d: d["a"] - d["b"],
    {"a": T(2), "b": T(2)},
    concrete_args={"d": {"a": PLACE, "b": PLACE}},
)
corpus.add(
    "concrete_nested",
    lambda d: d["a"][0] + d["b"]["c"],
    {"a": [T(2)], "b": {"c": T(2)}},
    concrete_args={"d": {"a": [PLACE], "b": {"c": PLACE}}},
)
corpus.add("concrete_list_of_one", lambda xs: xs[0].relu(), [T(2)], concrete_args={"xs": [PLACE]})
corpus.add(
    "concrete_list_mixed",
    lambda xs: xs[0] * xs[1],
    [T(2), 3],
    differs=_FIXED,
    concrete_args={"xs": [PLACE, 3]},
)
corpus.add("concrete_dict_out", lambda d: {"s": d["a"] + 1}, {"a": T(2)}, concrete_args={"d": {"a": PLACE}})
corpus.add(
    "concrete_iterated", lambda xs: sum(x * 2 for x in xs), [T(2), T(2)], concrete_args={"xs": [PLACE, PLACE]}
)
corpus.add(
    "concrete_two_structures",
    lambda xs, d: xs[0] + d["k"],
    [T(2)],
    {"k": T(2)},
    concrete_args={"xs": [PLACE], "d": {"k": PLACE}},
)

# Names of parameters that mean something to Python or to generated code
_NAMES = "No parameter hides a name of the generated code"
for _parameter in (
    "input",
    "max",
    "list",
    "type",
    "id",
    "len",
    "range",
    "print",
    "sum",
    "dict",
    "slice",
    "getattr",
    "None_",
    "output",
    "placeholder",
    "add",
    "relu",
    "x_1",
    "_x",
    "tensor",
    "fx",
    "operator",
):
    _scope: dict = {"torch": torch}
    exec(f"def f({_parameter}):\n    return torch.relu({_parameter}) + 1", _scope)
    corpus.add(f"parameter_named_{_parameter}", _scope["f"], T(2))


@corpus(T(2), T(2), differs=_NAMES)
def parameter_named_torch(x, torch):
    return relu(x) + torch


@corpus(T(2), B(2), differs=_NAMES)
def parameter_named_nan(x, nan):
    return x.masked_fill(nan, float("nan"))


@corpus(T(2), T(2), differs=_NAMES)
def parameter_named_inf(x, inf):
    return x.clamp(max=float("inf")) + inf


@corpus(T(2), T(2), differs=_NAMES)
def parameter_named_device(x, device):
    return x.to(torch.device("cpu")) + device


@corpus(T(2), T(2))
def numbered_names(add, add_1):
    return add + add_1 + add


@corpus(T(3), I(2))
def index_by_input(x, i):
    return x[i]
