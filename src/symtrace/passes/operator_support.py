"""Which nodes a backend supports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import nn

from .._base.qualified import qualified_name as general_name
from ..ir import Node

__all__ = [
    "OpSupports",
    "OperatorSupport",
    "OperatorSupportBase",
    "any_chain",
    "chain",
    "create_op_support",
    "node_target",
    "qualified_name",
]

IsNodeSupported = Callable[[Mapping[str, nn.Module], Node], bool]
SupportedArgumentDTypes = tuple[Sequence[Sequence[torch.dtype]], dict[str, Sequence[torch.dtype]]] | None
SupportDict = Mapping[str, SupportedArgumentDTypes]

CALLABLE_NODE_OPS = {"call_module", "call_function", "call_method"}


def qualified_name(target: Any) -> str:
    """Return the full name of a function or a class as FX spells it, such as `"_operator.add"` or `"len"`."""
    if isinstance(target, str):
        return target
    if type(target).__module__ == "torch._ops":
        return f"torch.ops.{str(target).removeprefix('torch.ops.')}"
    name = getattr(target, "__name__", None) or type(target).__name__
    module = getattr(target, "__module__", None)
    if module == "builtins":
        return str(name)
    if isinstance(target, type):
        return f"{module}.{target.__qualname__}"
    return f"{module}.{name}" if module else general_name(target)


def node_target(submodules: Mapping[str, nn.Module], node: Node) -> str:
    """Return the name by which support for a node is looked up.

    Args:
        submodules: Modules by their paths.
        node: A node that calls something.

    Returns:
        The name of the method, of the function with its module, or of the class of the module.
    """
    if node.op not in CALLABLE_NODE_OPS:
        raise ValueError(
            f"expected a node that calls something ({', '.join(sorted(CALLABLE_NODE_OPS))}), got {node.op}"
        )
    if node.op == "call_method":
        return str(node.target)
    if node.op == "call_module":
        module = submodules[node.target]
        called = getattr(module, "_base_class_origin", type(module))
        return qualified_name(called)
    return qualified_name(node.target)


class OperatorSupportBase:
    """Tells which nodes are supported."""

    def is_node_supported(self, submodules: Mapping[str, nn.Module], node: Node) -> bool:
        """Return whether a node is supported.

        Args:
            submodules: Modules by their paths: `dict(gm.named_modules())`.
            node: Node to decide on.
        """
        raise NotImplementedError(f"{type(self).__name__} has to define is_node_supported")


class OperatorSupport(OperatorSupportBase):
    """Supports the functions, methods and modules in a table, for the dtypes that it lists.

    Args:
        support_dict: Maps names as of `node_target` to None (any dtype), or to a pair: for each positional
        input the
            dtypes that it may have (None for any), and the same for keyword inputs by name.
    """

    _support_dict: SupportDict = {}

    def __init__(self, support_dict: SupportDict | None = None) -> None:
        if support_dict is not None:
            self._support_dict = support_dict

    def is_node_supported(self, submodules: Mapping[str, nn.Module], node: Node) -> bool:
        """Return whether a node is in the table and its inputs have supported dtypes."""
        if node.op not in CALLABLE_NODE_OPS:
            return True
        target = node_target(submodules, node)
        if target not in self._support_dict:
            return False
        dtypes = self._support_dict[target]
        if dtypes is None:
            return True
        by_place, by_name = dtypes
        for place, supported in enumerate(by_place):
            if supported and (len(node.args) <= place or not _has_dtype(node.args[place], supported)):
                return False
        return all(
            not supported or (name in node.kwargs and _has_dtype(node.kwargs[name], supported))
            for name, supported in by_name.items()
        )


def _dtype(value: Any) -> torch.dtype | None:
    if not isinstance(value, Node):
        return None
    found = value.meta.get("tensor_meta")
    if found is None:
        found = value.meta.get("val")
    dtype = getattr(found, "dtype", None)
    return dtype if isinstance(dtype, torch.dtype) else None


def _has_dtype(value: Any, supported: Sequence[torch.dtype]) -> bool:
    return isinstance(value, Node) and _dtype(value) in supported


class _FromFunction(OperatorSupportBase):
    def __init__(self, decide: IsNodeSupported) -> None:
        self.decide = decide

    def is_node_supported(self, submodules: Mapping[str, nn.Module], node: Node) -> bool:
        return self.decide(submodules, node)


def create_op_support(is_node_supported: IsNodeSupported) -> OperatorSupportBase:
    """Return support that a function decides.

    Args:
        is_node_supported: Called like `OperatorSupportBase.is_node_supported`.
    """
    return _FromFunction(is_node_supported)


def chain(*op_support: OperatorSupportBase) -> OperatorSupportBase:
    """Return support for the nodes that all of `op_support` support."""
    return create_op_support(
        lambda modules, node: all(s.is_node_supported(modules, node) for s in op_support)
    )


def any_chain(*op_support: OperatorSupportBase) -> OperatorSupportBase:
    """Return support for the nodes that one of `op_support` supports."""
    return create_op_support(
        lambda modules, node: any(s.is_node_supported(modules, node) for s in op_support)
    )


class OpSupports:
    """Ready-made support, to be combined with `chain`."""

    @classmethod
    def decline_if_input_dtype(cls, dtype: torch.dtype) -> OperatorSupportBase:
        """Return support for nodes that have no input of a dtype."""
        return create_op_support(
            lambda modules, node: all(_dtype(used) != dtype for used in node.all_input_nodes)
        )

    @classmethod
    def decline_if_node_in_names(cls, disallow_set: set[str]) -> OperatorSupportBase:
        """Return support for nodes whose name is not in a set."""
        return create_op_support(lambda modules, node: node.name not in disallow_set)
