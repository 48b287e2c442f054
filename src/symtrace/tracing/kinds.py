"""What class the value of a node has, told from the operation alone."""

from __future__ import annotations

import math
import operator
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

import torch

from ..ir import Node
from ..ops import program, schemas_of

__all__ = ["Mixed", "class_matches", "kind_of", "names_tensor_type", "rests_on_dtype"]


class Mixed:
    """Stands for the class of a value that is of several, depending on the data."""


def _unknown(node: Node) -> type | None:
    return None


_INT_ATTRIBUTES = frozenset({"ndim", "itemsize", "nbytes", "output_nr"})
_INT_METHODS = frozenset({
    "dim", "element_size", "get_device", "ndimension", "nelement", "numel", "sparse_dim", "dense_dim", "storage_offset",
})  # fmt: skip
_OTHER_METHODS = {
    "tolist": list, "split": tuple, "chunk": tuple, "unbind": tuple, "tensor_split": tuple, "unsafe_chunk": tuple,
    "keys": list, "values": list, "items": list,
}  # fmt: skip
_SIZE = torch.Size  # which is another class while a program is traced
_COMPARISONS = frozenset({operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge})
_ARITHMETIC = frozenset({
    operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.pow, operator.neg, operator.pos,
    operator.abs, operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift, operator.invert,
    operator.iadd, operator.isub, operator.imul, operator.ifloordiv, operator.imod, operator.ipow,
})  # fmt: skip
_OTHER_CALLS: dict[Any, type] = {
    _SIZE: _SIZE, program.new_list: list, program.new_dict: dict,
    list: list, sorted: list, tuple: tuple, any: bool, all: bool, bool: bool,
    operator.not_: bool, operator.contains: bool, operator.is_: bool, operator.is_not: bool, float: float, sum: Mixed,
    min: Mixed, max: Mixed,
    program.sorted_by: list, program.least: Mixed, program.greatest: Mixed,
}  # fmt: skip
_TO_INT = frozenset({len, round, math.floor, math.ceil, math.trunc, int})


def kind_of(
    node: Node,
    attribute: Callable[[str], Any],
    examples: Mapping[Node, Any],
    known: Callable[[Node], type | Node | None] = _unknown,
) -> type:
    """Return the class of a node's value; a tensor where nothing else is known.

    Args:
        node: The node.
        attribute: Gives what a `get_attr` target reads.
        examples: Example values of inputs.
        known: Gives the class where more is known than the operation tells, `Mixed` where it depends on the data; or
            the node of the same value around a region.

    Cost: a walk over the operands that are numbers.
    """
    kinds: dict[Node, type] = {}
    stack = [node]
    while stack:
        current = stack[-1]
        found = known(current)
        needed = [found] if isinstance(found, Node) else _rests_on(current) if found is None else []
        missing = [one for one in needed if one not in kinds]
        if missing and current not in kinds:
            stack += missing
            continue
        stack.pop()
        if isinstance(found, Node):
            kinds[current] = kinds[found]
        else:
            kinds[current] = found or _kind_by_operation(current, attribute, examples, kinds)
    return kinds[node]


def _rests_on(node: Node) -> list[Node]:
    """Return the operands whose classes decide on that of the result."""
    if node.op != "call_function":
        return []
    if node.target is getattr or node.target is operator.getitem:
        return [arg for arg in node.args[:1] if isinstance(arg, Node)]
    if node.target in _ARITHMETIC or node.target in _COMPARISONS or node.target is operator.truediv:
        return [arg for arg in node.args if isinstance(arg, Node)]
    return []


def _kind_by_operation(
    node: Node, attribute: Callable[[str], Any], examples: Mapping[Node, Any], kinds: Mapping[Node, type]
) -> type:
    if node.op == "placeholder":
        return type(examples[node]) if node in examples else _kind_of_input(node)
    if node.op == "get_attr":
        return type(attribute(node.target))
    if node.op == "call_method":
        return _kind_of_method(node)
    if node.op == "call_function":
        return _kind_of_call(node, examples, kinds)
    return torch.Tensor


def _kind_of_input(node: Node) -> type:
    if node.target.startswith("**"):
        return dict
    if node.target.startswith("*"):
        return tuple
    annotation = node.type
    origin = typing.get_origin(annotation)
    if isinstance(origin, type):
        return origin
    return annotation if isinstance(annotation, type) else torch.Tensor


def _kind_of_method(node: Node) -> type:
    name = node.target
    if name in ("size", "stride"):
        given = len(node.args) + len(node.kwargs)
        return (_SIZE if name == "size" else tuple) if given == 1 else int
    if name in _INT_METHODS:
        return int
    if name == "item":
        return float
    if name.startswith("is_") or name in ("equal", "allclose"):
        return bool
    return _OTHER_METHODS.get(name, torch.Tensor)


def _kind_of_attribute(owner: type, name: Any) -> type:
    if name == "shape":
        return _SIZE
    if name == "dtype":
        return torch.dtype
    if name == "device":
        return torch.device
    if name == "layout":
        return torch.layout
    if name in _INT_ATTRIBUTES:
        return int
    if isinstance(name, str) and (name.startswith("is_") or name in ("requires_grad", "retains_grad")):
        return bool
    return str if owner is torch.device and name == "type" else torch.Tensor


def _kind_of_call(node: Node, examples: Mapping[Node, Any], kinds: Mapping[Node, type]) -> type:
    def of(value: Any) -> type:
        return kinds[value] if isinstance(value, Node) else type(value)

    target, args = node.target, node.args
    if target is getattr:
        return _kind_of_attribute(of(args[0]), args[1] if len(args) > 1 else None)
    if target is operator.getitem:
        return _kind_of_item(of(args[0]), args[1])
    if node in examples:
        return type(examples[node])
    if target in _TO_INT:
        return int
    if target in _OTHER_CALLS:
        return _OTHER_CALLS[target]
    if target is program.enter_mode:
        return object
    if target in _ARITHMETIC or target in _COMPARISONS or target is operator.truediv:
        return _kind_of_operator(target, [of(arg) for arg in args])
    if getattr(target, "__module__", None) == "math":
        return float
    for schema in schemas_of(target)[:1]:
        returns = schema.returns
        if len(returns) > 1:
            return tuple
        if len(returns) == 1:
            return {"int": int, "float": float, "bool": bool}.get(str(returns[0].type), torch.Tensor)
    return torch.Tensor


def _kind_of_item(kind: type, index: Any) -> type:
    if kind is _SIZE:
        return _SIZE if isinstance(index, slice) else int
    if isinstance(index, slice) and kind in (tuple, list):
        return kind
    return Mixed if kind is list or kind is Mixed else torch.Tensor


def _kind_of_operator(target: Any, operands: list[type]) -> type:
    if any(issubclass(kind, torch.Tensor) for kind in operands):
        return torch.Tensor
    if Mixed in operands:
        return Mixed
    if any(issubclass(kind, tuple | list) for kind in operands):
        return tuple if any(issubclass(kind, tuple) for kind in operands) else list
    if target in _COMPARISONS:
        return bool
    if target is operator.truediv or float in operands:
        return float
    return int


def rests_on_dtype(node: Node) -> bool:
    """Tell whether a node is a number read from a tensor, or reckoned from one: of a class that the dtype decides."""
    seen: set[Node] = set()
    stack = [node]
    while stack:
        current = stack.pop()
        if current.op == "call_method" and current.target == "item":
            return True
        is_reckoned = (
            current.op == "call_function" and getattr(current.target, "__module__", "") == "_operator"
        )
        if is_reckoned and current not in seen:
            seen.add(current)
            stack += current.all_input_nodes
    return False


def class_matches(kind: type, classes: Any) -> bool:
    """Answer `isinstance` for a value of class `kind`."""
    if type(classes) is tuple:
        return any(class_matches(kind, one) for one in classes)
    if type(classes) is types.UnionType:
        return any(class_matches(kind, one) for one in typing.get_args(classes))
    return (
        type(classes) is not types.GenericAlias
        and issubclass(type(classes), type)
        and issubclass(kind, classes)
    )


def names_tensor_type(classes: Any) -> bool:
    """Tell whether there is a class such as `torch.FloatTensor` among the classes of an `isinstance`."""
    if type(classes) is tuple:
        return any(map(names_tensor_type, classes))
    return type(classes) is type(torch.FloatTensor)
