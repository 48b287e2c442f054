"""Gradient modes, autocast, and questions about types."""

import torch
import torch.nn.functional as F
from torch import nn

from ..program import Corpus, T

corpus = Corpus("contexts")

_MODES = "Gradient modes and autocast are recorded"
_TYPES = "Questions about a value's type get the true answer"
_ATTRIBUTES = "Assignments to attributes of tensors are recorded"


@corpus(T(3), T(3), differs=_MODES)
def no_grad(x, y):
    with torch.no_grad():
        a = x * 2
    return a * y


@corpus(T(3), differs=_MODES)
def enable_grad_inside_no_grad(x):
    with torch.no_grad():
        a = x * 2
        with torch.enable_grad():
            b = x * 3
    return a + b


@corpus(T(3), T(3), differs=_MODES)
def set_grad_enabled(x, y):
    with torch.set_grad_enabled(False):
        a = x.exp()
    return a + y


@torch.no_grad()
def _frozen(x):
    return x * x


corpus.add("no_grad_decorator", lambda x, y: _frozen(x) * y, T(3), T(3), differs=_MODES)


@corpus(T(3, 3), differs=_MODES)
def autocast_bfloat16(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = torch.mm(x, x)
    return y


@corpus(T(3, 3), differs=_MODES)
def autocast_disabled_inside(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        a = torch.mm(x, x)
        with torch.autocast("cpu", enabled=False):
            b = torch.mm(x, x)
    return a, b


@corpus(T(2, 3), differs=_MODES)
class AutocastLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        with torch.amp.autocast("cpu", dtype=torch.bfloat16):
            y = self.fc(x)
        return y.float() + x


corpus.add("is_instance", lambda x: x * 2 if isinstance(x, torch.Tensor) else x, T(3), differs=_TYPES)
corpus.add("is_tensor", lambda x: x * 2 if torch.is_tensor(x) else x, T(3), differs=_TYPES)
corpus.add("is_instance_of_several", lambda x: x + 1 if isinstance(x, (int, float)) else x * 3, T(3))
corpus.add("is_instance_of_list", lambda x: x[0] if isinstance(x, (list, tuple)) else x + 1, T(3))
corpus.add("is_none", lambda x: x if x is None else x + 1, T(3))
corpus.add(
    "hasattr_missing", lambda x: x + 1 if hasattr(x, "no_such_attribute") else x - 1, T(3), differs=_TYPES
)
corpus.add("getattr_default", lambda x: x * getattr(x, "no_such_attribute", 2), T(3), differs=_TYPES)
corpus.add("getattr_present", lambda x: getattr(x, "T") + 1, T(3, 3))
corpus.add("callable_false", lambda x: x + 1 if callable(x) else x - 1, T(3), differs=_TYPES)


@corpus(T(3), differs=_ATTRIBUTES)
def assign_data(x):
    y = x.clone()
    y.data = torch.neg(x).detach()
    return y


@corpus(T(3))
def jit_scripting_is_off(x):
    return x + 1 if torch.jit.is_scripting() else x - 1


@corpus(T(3))
def compiling_is_off(x):
    return x + 1 if torch.compiler.is_compiling() else x - 1


@corpus(T(3))
def helper_with_python_loop(x):
    def apply(value, times):
        for _ in range(times):
            value = F.relu(value - 0.1)
        return value

    return apply(x, 3)


@corpus(T(3))
def closures_and_comprehensions(x):
    scales = {name: index for index, name in enumerate("abc", start=1)}
    return sum([x * scale for scale in scales.values()], x)


@corpus(T(3))
def try_and_finally(x):
    try:
        y = x + 1
    finally:
        y = x * 2
    return y


@corpus(T(3))
def recursion(x, depth=3):
    def go(value, left):
        return value if left == 0 else go(value.relu() + left, left - 1)

    return go(x, 4)


@corpus(T(3))
def generators(x):
    def terms():
        yield x
        yield x * 2

    return sum(terms())


@corpus(T(3))
def lambda_in_lambda(x):
    return (lambda y: (lambda z: z * y)(y + 1))(x)


@corpus(T(3))
def asserts_on_constants(x):
    assert 1 + 1 == 2, "arithmetic"
    return x.relu()
