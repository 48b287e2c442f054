"""Which values are known to be tensors."""

from __future__ import annotations

import operator
import re
from functools import lru_cache
from typing import Any

import torch

from ..ir import Node
from ..ops import signatures_of

__all__ = ["computes_number", "is_tensor", "is_tensor_method", "is_view_of_self"]

_ARITHMETIC = frozenset({
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.matmul, operator.neg, operator.pos, operator.abs, operator.lt, operator.le, operator.gt, operator.ge,
    operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ior, operator.iand, operator.ipow,
})  # fmt: skip
"""Operators that give a tensor if an operand is one."""

_TENSOR = re.compile(r"-> (torch\.)?Tensor(\([\w|]+!?\))?$")

_ELSEWHERE = frozenset().union(*map(dir, (list, dict, set, str, bytes, tuple, int, float, complex)))
"""Methods that other values than tensors have too."""


def is_tensor_method(name: str) -> bool:
    """Return whether of what a program handles only tensors have a method of this name."""
    return hasattr(torch.Tensor, name) and name not in _ELSEWHERE


def is_tensor(value: Any) -> bool:
    """Return whether a value is known to be one tensor, since an operator of torch has made it."""
    for _ in range(32):  # along a chain of arithmetic, as far as is worth it
        if not isinstance(value, Node):
            return False
        if value.op != "call_function" or value.target not in _ARITHMETIC:
            break
        if hasattr(value.meta.get("tensor_meta"), "dtype"):
            return True
        value = next((used for used in value.args if isinstance(used, Node)), None)
    if not isinstance(value, Node):
        return False
    if hasattr(value.meta.get("tensor_meta"), "dtype"):
        return True
    if value.op == "call_method":
        name = str(value.target)
        if not is_tensor_method(name):
            return False
        return name.endswith("_") or _method_gives_tensor(name)
    return value.op == "call_function" and _gives_tensor(value.target)


@lru_cache(maxsize=1024)
def _method_gives_tensor(name: str) -> bool:
    if hasattr(torch, name):
        return _gives_tensor(getattr(torch, name))
    # A method that is no function of torch, such as `new_zeros`; modules have some of them too.
    return not hasattr(torch.nn.Module, name) and _all_give_tensor(name)


@lru_cache(maxsize=1024)
def is_view_of_self(name: str) -> bool:
    """Return whether the value of a tensor's method may share storage with no other operand than the tensor.

    Args:
        name: A name, such as `expand_as`.
    """
    if not is_tensor_method(name) or not _all_give_tensor(name):
        return False
    heads = [signature.text.partition("->")[0] for signature in signatures_of(name)]
    return all(head.count("Tensor(") <= 1 and "Tensor(" not in head.partition(",")[2] for head in heads)


_COUNTS = frozenset(
    {"dim", "numel", "ndimension", "nelement", "item", "element_size", "storage_offset", "get_device"}
)


def computes_number(node: Node) -> bool:
    """Return whether a node is arithmetic of Python's on what are known to be plain numbers, such as sizes."""
    if node.op != "call_function" or node.target not in _ARITHMETIC:
        return False
    stack: list[Any] = list(node.args)
    for _ in range(64):
        if not stack:
            return True
        value = stack.pop()
        if isinstance(value, Node):
            if value.op == "call_function" and value.target in _ARITHMETIC:
                stack += value.args
            elif not _is_number(value):
                return False
        elif not isinstance(value, int | float):
            return False
    return False


def _is_number(node: Node) -> bool:
    if node.op == "call_method":
        return node.target in _COUNTS or (
            node.target in ("size", "stride") and len(node.args) + len(node.kwargs) > 1
        )
    if node.op != "call_function":
        return False
    if node.target is getattr:
        return bool(node.args[1] == "ndim")
    if node.target is operator.getitem and type(node.args[1]) is int:
        owner = node.args[0]
        if not isinstance(owner, Node):
            return False
        is_shape = owner.target is getattr and owner.args[1] == "shape"
        return is_shape or (owner.op == "call_method" and owner.target == "size" and len(owner.args) == 1)
    return node.target in (len, int, float, round)


def _gives_tensor(function: Any) -> bool:
    module = getattr(function, "__module__", None) or ""  # None for `apply` of an autograd function
    if not module.startswith("torch") and type(function) is not type(torch.neg):
        return False
    return _all_give_tensor(function)


def _all_give_tensor(function: Any) -> bool:
    # Overloads without a tensor are TorchScript's; called from Python, a function of torch refuses plain numbers.
    texts = [signature.text for signature in signatures_of(function) if "Tensor" in signature.text]
    return bool(texts) and all(_TENSOR.search(text) for text in texts)
