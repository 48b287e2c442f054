"""One statement per node."""

from __future__ import annotations

import operator
from keyword import iskeyword as _is_keyword
from typing import Any

from ..ir import Node
from ..ops.program import write_attribute
from .globals import Globals
from .literals import annotation_text, value_text

__all__ = ["attribute_path", "statement", "with_statement"]

_BINARY = {
    operator.add: "+",
    operator.and_: "&",
    operator.eq: "==",
    operator.floordiv: "//",
    operator.ge: ">=",
    operator.gt: ">",
    operator.le: "<=",
    operator.lshift: "<<",
    operator.lt: "<",
    operator.matmul: "@",
    operator.mod: "%",
    operator.mul: "*",
    operator.ne: "!=",
    operator.or_: "|",
    operator.pow: "**",
    operator.rshift: ">>",
    operator.sub: "-",
    operator.truediv: "/",
    operator.xor: "^",
}
_UNARY = {operator.invert: "~", operator.neg: "-", operator.pos: "+"}
_INPLACE = {
    operator.iadd: "+=",
    operator.iand: "&=",
    operator.ifloordiv: "//=",
    operator.ilshift: "<<=",
    operator.imatmul: "@=",
    operator.imod: "%=",
    operator.imul: "*=",
    operator.ior: "|=",
    operator.ipow: "**=",
    operator.irshift: ">>=",
    operator.isub: "-=",
    operator.itruediv: "/=",
    operator.ixor: "^=",
}


def attribute_path(root: str, target: str, names: Globals) -> str:
    """Return source text that reads a dotted path, the empty one being the module itself."""
    text = root
    for atom in target.split(".") if target else ():
        if atom.isidentifier() and not _is_keyword(atom):
            text = f"{text}.{atom}"
        else:
            quoted = (
                f'"{atom}"' if atom.isprintable() and '"' not in atom and "\\" not in atom else repr(atom)
            )
            text = f"{names.builtin('getattr')}({text}, {quoted})"
    return text


def statement(node: Node, root: str, names: Globals) -> tuple[str, bool]:
    """Return the statement for one node that is neither input nor output.

    Args:
        node: The node.
        root: Name of the module in the generated function.
        names: Globals of the function.

    Returns:
        The text, and whether it assigns the variable of the node.
    """
    variable = node._name
    if node._type is not None:
        variable = f"{variable} : {annotation_text(node._type, names)}"
    op = node._op
    if op == "call_function":
        special = _special_statement(node, variable, names)
        if special is not None:
            return special
        return f"{variable} = {_call_text(node, names)}", True
    if op == "call_method":
        receiver, *rest = node._args
        text = value_text(receiver, names)
        if type(receiver) is not Node:
            text = f"({text})"
        if node._target.isidentifier() and not _is_keyword(node._target):
            method = f"{text}.{node._target}"
        else:
            method = f"{names.builtin('getattr')}({text}, {node._target!r})"
        return f"{variable} = {method}({_arguments(rest, node._kwargs, names)})", True
    path = attribute_path(root, node._target, names)
    if op == "call_module":
        return f"{variable} = {path}({_arguments(node._args, node._kwargs, names)})", True
    return f"{variable} = {path}", True


def with_statement(node: Node, names: Globals) -> str:
    """Return the head of the block that a node enters."""
    manager, *rest = node._args
    return f"with {names.qualified(manager)}({_arguments(rest, node._kwargs, names)}):"


def _special_statement(node: Node, variable: str, names: Globals) -> tuple[str, bool] | None:
    args = node._args
    if node._kwargs:
        return None
    try:
        sign = _INPLACE.get(node._target)
    except TypeError:  # an unhashable callable
        return None
    if sign is not None and len(args) == 2 and type(args[0]) is Node:
        # A name of its own, since the operator rebinds it where the value is immutable.
        return f"{variable} = {args[0]._name};  {node._name} {sign} {value_text(args[1], names)}", True
    if node._target is write_attribute and len(args) == 3 and type(args[0]) is Node and not node._users:
        return f"{attribute_path(args[0]._name, args[1], names)} = {value_text(args[2], names)}", False
    if node._target is operator.setitem and len(args) == 3 and type(args[0]) is Node and not node._users:
        return f"{args[0]._name}[{_index_text(args[1], names)}] = {value_text(args[2], names)}", False
    return None


def _call_text(node: Node, names: Globals) -> str:
    target, args = node._target, node._args
    if not node._kwargs:
        text = _operator_text(target, args, names)
        if text is not None:
            return text
    return f"{names.qualified(target)}({_arguments(args, node._kwargs, names)})"


def _operator_text(target: Any, args: tuple[Any, ...], names: Globals) -> str | None:
    if len(args) == 2:
        try:
            sign = _BINARY.get(target)
        except TypeError:  # an unhashable callable
            return None
        if sign is not None:
            left, right = value_text(args[0], names), value_text(args[1], names)
            if sign == "**" and left.startswith("-"):
                left = f"({left})"
            return f"{left} {sign} {right}"
        if target is operator.getitem and type(args[0]) is Node:
            return f"{args[0]._name}[{_index_text(args[1], names)}]"
        if target is getattr and type(args[0]) is Node and isinstance(args[1], str):
            name = args[1]
            if name.isidentifier() and not _is_keyword(name):
                return f"{args[0]._name}.{name}"
    elif len(args) == 1:
        try:
            sign = _UNARY.get(target)
        except TypeError:  # an unhashable callable
            return None
        if sign is not None:
            return f"{sign}{value_text(args[0], names)}"
    return None


def _index_text(index: Any, names: Globals) -> str:
    """Return what stands between the brackets: slices as a person writes them."""
    if type(index) is tuple and index:
        items = [_index_item(item, names) for item in index]
        return f"{items[0]}," if len(items) == 1 else ", ".join(items)
    return _index_item(index, names)


def _index_item(item: Any, names: Globals) -> str:
    if type(item) is slice:
        start, stop, step = (
            "" if part is None else value_text(part, names) for part in (item.start, item.stop, item.step)
        )
        return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"
    return "..." if item is ... else value_text(item, names)


def _arguments(args: Any, kwargs: Any, names: Globals) -> str:
    parts = [value_text(value, names) for value in args]
    if kwargs:
        invalid = {key: value for key, value in kwargs.items() if not key.isidentifier() or _is_keyword(key)}
        parts.extend(
            f"{key} = {value_text(value, names)}" for key, value in kwargs.items() if key not in invalid
        )
        if invalid:
            parts.append(f"**{value_text(invalid, names)}")
    return ", ".join(parts)
