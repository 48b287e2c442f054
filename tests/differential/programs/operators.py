"""Python operators on traced values."""

import math
import operator

import torch

from ..program import B, Corpus, I, P, T

corpus = Corpus("operators")

_BINARY = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "pow": operator.pow,
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "gt": operator.gt,
    "le": operator.le,
    "ge": operator.ge,
}


def _tensors(op):
    return lambda x, y: op(x, y)


def _number(op):
    return lambda x: op(x, 2)


def _reflected(op):
    return lambda x: op(2.5, x)


for _name, _op in _BINARY.items():
    corpus.add(f"{_name}_tensors", _tensors(_op), P(2, 3), P(2, 3), also=((P(4, 3), P(4, 3)),))
    corpus.add(f"{_name}_number", _number(_op), P(3), also=((P(5),),))
    corpus.add(f"{_name}_reflected", _reflected(_op), P(3), also=((P(5),),))

corpus.add("add_spelled", lambda x, y: x + y, T(2), T(2))
corpus.add("chain", lambda x, y: (x + y) * (x - y) / (y * y + 1.0) - x, T(3), P(3))
corpus.add("constant_left_and_right", lambda x: 1 - x + 2 * x - x * 3 + 4 / (x + 9.5), P(3))
corpus.add("rsub_float", lambda x: 0.5 - x, T(3))
corpus.add("rpow", lambda x: 2**x, T(3))
corpus.add("rfloordiv", lambda x: 7 // x, P(3))
corpus.add("rmod", lambda x: 7 % x, P(3))
corpus.add("rtruediv", lambda x: 1 / x, P(3))
corpus.add("matmul", lambda x, y: x @ y, T(2, 3), T(3, 4))
corpus.add("neg", lambda x: -x, T(3))
corpus.add("pos", lambda x: +x, T(3))
corpus.add("invert", lambda x: ~x, B(3))
corpus.add("abs", lambda x: abs(x), T(3))
corpus.add("and", lambda x, y: x & y, B(4), B(4))
corpus.add("or", lambda x, y: x | y, B(4), B(4))
corpus.add("xor", lambda x, y: x ^ y, B(4), B(4))
corpus.add("lshift", lambda x: x << 1, I(4))
corpus.add("rshift", lambda x: x >> 1, I(4))
corpus.add("and_number", lambda x: x & 1, I(4))
corpus.add("rand_number", lambda x: 1 & x, I(4))
corpus.add("ror_number", lambda x: 1 | x, I(4))
corpus.add("rxor_number", lambda x: 1 ^ x, I(4))
corpus.add("rlshift", lambda x: 1 << x, I(4))
corpus.add("rrshift", lambda x: 16 >> x, I(4))
corpus.add("comparison_result_used", lambda x: (x > 0) * x, T(4))
corpus.add("masks_combined", lambda x: ((x > -0.5) & (x < 0.5)) | (x == 1), T(4))
corpus.add("operator_module", lambda x, y: operator.add(operator.mul(x, y), operator.neg(y)), T(3), T(3))
corpus.add("operator_matmul", lambda x, y: operator.matmul(x, y), T(2, 3), T(3, 2))
corpus.add("operator_getitem", lambda x: operator.getitem(x, 0), T(3, 2))
corpus.add("operator_abs", lambda x: operator.abs(x), T(3))
corpus.add("same_value_twice", lambda x: x + x, T(3))
corpus.add("repeated_names", lambda x: x + 1 + 2 + 3 + 4, T(3))
corpus.add("infinity", lambda x: x + math.inf, T(3))
corpus.add("minus_infinity", lambda x: x * -math.inf, P(3))
corpus.add("not_a_number", lambda x: x + math.nan, T(3))
corpus.add("large_and_small_numbers", lambda x: x * 1e30 + 1e-30 - 123456789012345, T(3))
corpus.add("complex_number", lambda x: x * 2j, T(3))
corpus.add("bool_number", lambda x: x + True, T(3))
corpus.add("negative_number", lambda x: x + -3, T(3))
corpus.add("tuple_of_results", lambda x: (x + 1, x - 1), T(3))
corpus.add("unused_result", lambda x: [x + 1, x * 2][1], T(3))
corpus.add("identity", lambda x: x, T(3))
corpus.add("first_of_two", lambda x, y: x, T(3), T(3))
corpus.add("constant_output", lambda x: 3, T(3))
corpus.add("none_output", lambda x: None, T(3))

_RECORDED = "In-place operators are recorded in place"


@corpus(T(3), differs=_RECORDED)
def iadd(x):
    y = x.clone()
    y += 1
    return y, x


@corpus(T(3), differs=_RECORDED)
def iadd_to_input(x):
    x += 1
    return x


@corpus(T(3), T(3), differs=_RECORDED)
def isub_alias(x, y):
    z = x * 1
    w = z
    z -= y
    return w + z


@corpus(T(3), differs=_RECORDED)
def imul(x):
    y = x + 0
    y *= 3
    y /= 2
    return y


@corpus(P(3), differs=_RECORDED)
def ipow_ifloordiv_imod(x):
    y = x + 0
    y **= 2
    y //= 0.3
    y %= 2
    return y


@corpus(B(3), B(3), differs=_RECORDED)
def iand_ior_ixor(x, y):
    a = x.clone()
    a &= y
    a |= x
    a ^= y
    return a


@corpus(I(3), differs=_RECORDED)
def ishifts(x):
    a = x.clone()
    a <<= 2
    a >>= 1
    return a


@corpus(T(4, 3), differs=_RECORDED)
def iadd_through_a_view(x):
    y = x.clone()
    row = y[0]
    row += 10
    return y


@corpus(T(3), differs=_RECORDED)
def iadd_function(x):
    y = x.clone()
    z = operator.iadd(y, 1)
    return y + z


@corpus(T(3))
def augmented_on_a_python_number(x):
    scale = 1
    scale += 2
    return x * scale


@corpus(T(2, 3))
def loop_over_a_constant(x):
    for k in range(4):
        x = x * k + 1
    return x


_DEEP = True


@corpus(T(2, 3))
def python_branch_on_a_constant(x):
    if _DEEP and not isinstance(_DEEP, int):
        return x
    return torch.relu(x)
