"""Functions that stay one node: `wrap`, `autowrap_functions`, `autowrap_modules`, and what is not wrapped."""

import math
import sys
import types
from math import sqrt

import torch
import torch.fx

import symtrace

from ..program import Corpus, T

corpus = Corpus("leaves")


def sign_of_sum(x):
    return x if x.sum() > 0 else -x


def with_options(x, *, scale, bias=0.0):
    return x * scale + bias if bool(x.sum() > -1e9) else x


def of_lists(xs, table):
    return xs[0] + table["a"]


def two_results(x):
    return x + 1, x - 1


def not_wrapped(x):
    return x.relu() + 1


for _name in ("sign_of_sum", "with_options", "of_lists", "two_results", "sqrt", "len"):
    torch.fx.wrap(_name)
    symtrace.wrap(_name)


@torch.fx.wrap
def wrapped_as_decorator(x):
    return x * 3 if x.sum() > 0 else x


symtrace.wrap("wrapped_as_decorator")

corpus.add("wrapped", lambda x: sign_of_sum(x) + 1, T(3))
corpus.add("wrapped_decorator", lambda x: wrapped_as_decorator(x) - 1, T(3))
corpus.add("wrapped_keywords", lambda x: with_options(x, scale=2.0), T(3))
corpus.add("wrapped_keyword_traced", lambda x, y: with_options(x, scale=y, bias=1.0), T(3), T(3))
corpus.add("wrapped_containers", lambda x: of_lists([x, 1], {"a": x}), T(3))
corpus.add("wrapped_two_results", lambda x: two_results(x)[1], T(3))
corpus.add("wrapped_on_constants", lambda x: x * sqrt(4.0), T(3))
corpus.add("wrapped_on_size", lambda x: x / sqrt(x.size(0)), T(3), also=((T(5),),))
corpus.add("wrapped_len", lambda x: x * len(x), T(3), also=((T(5),),))
corpus.add("wrapped_len_of_list", lambda x: x * len([1, 2]), T(3))
corpus.add("wrapped_twice", lambda x: sign_of_sum(sign_of_sum(x) * -1), T(3))
corpus.add("not_wrapped", lambda x: not_wrapped(x), T(3))
corpus.add("math_function", lambda x: x * math.sqrt(x.size(0)), T(4), also=((T(9),),))
corpus.add("math_floor", lambda x: x[: math.floor(x.size(0) / 2)], T(4), also=((T(9),),))
corpus.add("math_pow_log", lambda x: x * math.pow(x.size(0), 2) + math.log(x.size(0)), T(4), also=((T(9),),))
corpus.add("math_on_constants", lambda x: x * math.sqrt(2), T(4))
corpus.add(
    "autowrap_functions", lambda x: sign_of_sum(x), T(3), tracer={"autowrap_functions": (sign_of_sum,)}
)
corpus.add(
    "autowrap_function_by_value",
    lambda x: not_wrapped(x) * 2,
    T(3),
    tracer={"autowrap_functions": (not_wrapped,)},
)

_helpers = types.ModuleType("differential_helpers")
exec("def branchy(x):\n    return x + 1 if x.sum() > 0 else x - 1\n", _helpers.__dict__)
corpus.add(
    "autowrap_module", lambda x: _helpers.branchy(x), T(3), tracer={"autowrap_modules": (math, _helpers)}
)


class UsesWrapped(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(3, 3)

    def forward(self, x):
        return sign_of_sum(self.fc(x)).relu()


corpus.add("wrapped_in_module", UsesWrapped, T(2, 3))


class Straight(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 3


corpus.add(
    "autograd_function", lambda x: Straight.apply(x) * 2, T(3), differs="Autograd functions are one node"
)
corpus.add(
    "autograd_function_twice",
    lambda x: Straight.apply(Straight.apply(x) + x),
    T(3),
    differs="Autograd functions are one node",
)
assert sys.modules[__name__]
